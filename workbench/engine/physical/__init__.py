"""Physical plans: how each local tree is evaluated, without rows."""
