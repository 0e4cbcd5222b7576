"""A session for agents: a few read-only tools over the Model Context Protocol, which the analyst switches on."""
