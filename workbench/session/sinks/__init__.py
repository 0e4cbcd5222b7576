"""Sinks: where changes of answers go, each at its own pace."""
