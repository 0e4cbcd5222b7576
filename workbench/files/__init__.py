"""The lowest package: how files are written, forced to the disk, and mapped into memory."""
