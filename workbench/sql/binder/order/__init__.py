"""Ordered rows of a query: ORDER BY, LIMIT, and functions over ordered rows."""
