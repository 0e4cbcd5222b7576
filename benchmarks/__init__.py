"""What measures the project: peers, costs, stores, the gate. ``python -m benchmarks NAME`` runs one in a clone."""
