"""Generators of the example streams FED, MED, prices and visits."""
