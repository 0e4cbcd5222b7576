"""Answers and their changes for other programs, which ask a port for them or stay subscribed (TelegraphCQ 4.3)."""
