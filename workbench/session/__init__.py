"""A session: what a notebook holds, its state, its steps, and its directory."""
