"""Functions that an analyst adds to SQL: each runs in a process of its own, away from Spark's workers."""
