"""Values with parts: arrays, structs and bytes."""
