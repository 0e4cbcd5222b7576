"""A fast start: Spark is started early, and its classes are archived."""
