"""What puts the rows of a query in order: ORDER BY, LIMIT, and functions over ordered rows."""
