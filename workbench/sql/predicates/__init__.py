"""Predicates: normal and canonical forms, sets of values, implication (T6)."""
