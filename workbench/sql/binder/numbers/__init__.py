"""Numbers of SQL text: the types that results have in its dialect."""
