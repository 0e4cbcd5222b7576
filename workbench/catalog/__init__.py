"""The system catalog in SQLite: the network and the session as relations, and an index for sharing (T3.6)."""
