"""Estimates of answers that lack rows, from the sample that was taken of them."""
