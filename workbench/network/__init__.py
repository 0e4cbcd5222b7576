"""The shared query network as an immutable value: nodes, identity, traversal, projection."""
