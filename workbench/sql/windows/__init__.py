"""Windows over event time: bounds, monotonicity, overlapping windows."""
