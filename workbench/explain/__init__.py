"""Captions, drawings and texts that show an analyst the network and its sharing decisions."""
