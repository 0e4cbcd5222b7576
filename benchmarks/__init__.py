"""What measures the project: peers, live rates, costs, the gate. ``python -m benchmarks NAME`` runs one in a clone."""
