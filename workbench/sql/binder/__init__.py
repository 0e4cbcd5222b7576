"""Syntax tree to logical query."""
