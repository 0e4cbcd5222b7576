"""Operators that keep a state for each group: aggregates, DISTINCT and set operators."""
