"""What measures the project: peers, costs, large batches, stores, the gate. ``python -m benchmarks NAME`` runs one in a clone."""
