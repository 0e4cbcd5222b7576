"""Arrays in SQL text, in spark: their functions, lambdas, and where no array may stand."""
