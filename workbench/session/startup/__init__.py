"""What makes the first minute of a session short: Spark started early, and classes archived."""
