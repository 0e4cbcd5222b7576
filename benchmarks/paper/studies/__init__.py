"""What the experiments measure, by chapter or paper: counts, and seconds of a processor where time is meant."""
