"""What a new query shares, and how the network takes it in: ordered passes over a draft of the network (T6, T7)."""
