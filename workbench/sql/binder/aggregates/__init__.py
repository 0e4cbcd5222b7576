"""Aggregates in SQL text: the statistics that they need, and expressions over groups."""
