"""Sharing: ordered passes fold a new query into a draft of the network (T6, T7)."""
