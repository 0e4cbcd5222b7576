"""Verification of answers: a query's own text, evaluated once by Spark SQL over all stored rows.

Nothing of the engine takes part but the answer that it keeps: rows come from the logs of the streams, and Spark has a
session of its own.
"""
