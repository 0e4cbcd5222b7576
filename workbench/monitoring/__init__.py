"""Watching a session from outside: metrics for Prometheus, and a log with a line of JSON for each batch."""
