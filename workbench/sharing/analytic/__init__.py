"""Analytic nodes in the network: found or created, and bounded by what their readers require."""
