"""SQL text to a logical query: syntax, types, binding, predicates, windows, and Spark SQL text."""
