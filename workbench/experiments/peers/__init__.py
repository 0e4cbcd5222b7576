"""What the workbench is compared with: DuckDB, Spark, Flink, code by hand."""
