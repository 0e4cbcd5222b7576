"""Sessions that survive: the folder of a session, its commits, and going on from the last one (design 5)."""
