"""Files of rows: CSV, JSON lines, and files at URLs."""
