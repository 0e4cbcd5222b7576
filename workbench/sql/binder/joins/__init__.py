"""FROM, and the joins of all kinds in it."""
