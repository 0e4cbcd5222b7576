"""What a session learns from its batches: how good estimates are, and whether its network should be another one."""
