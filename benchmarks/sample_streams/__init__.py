"""Rows of the benchmarks: TPC-H, Nexmark, payments, the flights from New York."""
