"""Intervals in SQL text and differences of times."""
