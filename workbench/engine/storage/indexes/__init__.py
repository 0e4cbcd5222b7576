"""Indexes of segments: rows by key, by time, and by rank within a group."""
