"""Streams and tables whose rows are changed: what a source says, and which rows that takes back."""
