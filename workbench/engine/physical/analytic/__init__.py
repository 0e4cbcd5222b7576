"""Analytic functions as plans see them: what of a partition their values follow from."""
