"""Types, expressions, functions and the logical query: data that all later stages share."""
