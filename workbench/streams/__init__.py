"""Streams of records: sources, the log each is copied to, its replay, and generators of the example streams."""
