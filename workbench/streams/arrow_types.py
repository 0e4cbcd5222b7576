"""The place of ``workbench.arrow.types`` in version 0.2, for programs that were written for it."""

from workbench.arrow.types import to_data_type

__all__ = ["to_data_type"]
