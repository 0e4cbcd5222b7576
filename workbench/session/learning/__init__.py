"""Learning from batches: how good estimates are, and whether another network would be cheaper."""
