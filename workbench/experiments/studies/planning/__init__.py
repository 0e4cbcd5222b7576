"""What planning alone tells: no row is read, and Spark is not started."""
