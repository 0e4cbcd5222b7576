"""The directory of a session: commits, opening again, damage, signatures."""
