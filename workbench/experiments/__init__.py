"""Experiments of the thesis (T10), of PSoup and of our own, with competitors, query sets and sample streams."""
