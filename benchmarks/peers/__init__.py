"""What the workbench is compared with: DuckDB, Spark, Flink, Deephaven, Pathway, chDB, code by hand."""
