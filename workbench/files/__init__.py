"""Files that are written as a whole or not at all, their checksums, and those mapped into memory."""
