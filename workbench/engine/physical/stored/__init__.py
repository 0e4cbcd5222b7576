"""Kernels over the stored columns of rows, evaluated without Spark."""
