"""What is cheapest: inference, estimates, join order, conditional materialization (T5)."""
