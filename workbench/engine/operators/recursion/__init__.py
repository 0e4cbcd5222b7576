"""Recursive queries, evaluated to a fixpoint."""
