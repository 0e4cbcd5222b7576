"""How time grows with queries, batches, history and cores."""
