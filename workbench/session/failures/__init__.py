"""Isolation: what stops one query and nothing else."""
