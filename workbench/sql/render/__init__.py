"""Expressions as Spark SQL text that never raises."""
