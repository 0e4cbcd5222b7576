"""Spark: sessions, clusters, cached plans, tasks, user functions, translated errors."""
