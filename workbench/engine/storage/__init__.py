"""Storage: segments, relations, indexes, changelogs, retention."""
