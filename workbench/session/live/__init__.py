"""Live sources of a session, and running for as long as they bring rows."""
