"""Live sources: rows that are not there yet when a stream is added, read with the offsets that they came from."""
