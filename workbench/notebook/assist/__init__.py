"""Help while a cell is typed: completion, and hints on what stands at the cursor."""
