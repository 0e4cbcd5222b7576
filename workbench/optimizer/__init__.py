"""The optimizer: inference, estimates, join order, conditional materialization (T5)."""
