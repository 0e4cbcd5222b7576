"""Values of SQL as Arrow has them: types, what is stored as text, and answers as pandas."""
