"""Studies of re-planning between batches: what it brings, what it costs, and how far it undoes a bad order."""
