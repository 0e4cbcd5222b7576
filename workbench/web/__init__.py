"""What listens for other programs."""
