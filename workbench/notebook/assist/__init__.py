"""Help while a cell is typed: completion, and hints on the word at the cursor."""
