"""The system catalog in SQLite: the network and the session as relations, and the index that sharing searches (T3.6)."""
