"""Streams of records: their schemas and deterministic generators of the example streams."""
