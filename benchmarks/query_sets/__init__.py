"""Queries of the benchmarks: TPC-H and Nexmark, an analyst's day, views by threshold."""
