"""Experiments of the papers and on replayed streams, with their query sets and the generators of sample streams."""
