"""What is computed of the stored columns of rows without Spark."""
