"""Operators: how the rows of a local tree change when its inputs change."""
