"""Text to syntax tree: dialects, window clauses, places in the text."""
