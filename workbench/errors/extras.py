"""Packages beside this one: those that only an extra installs, and another one that is imported by the same name."""

from __future__ import annotations

import importlib.metadata
from importlib import import_module
from typing import Any

from workbench.errors import StreamError


def optional_module(name: str, extra: str, needed: str, *parts: str) -> Any:
    """A module, with some modules inside it.

    Args:
        name: of the module.
        extra: of the workbench, which installs it.
        needed: what needs which package, for the message.
        parts: names of modules inside it that are used.

    Raises:
        StreamError: it is not installed.

    Example:
        >>> optional_module("json", "kafka", "topics need json", "decoder").decoder.JSONDecoder().decode("[1]")
        [1]
    """
    try:
        for part in parts:
            import_module(f"{name}.{part}")
        return import_module(name)
    except ImportError as error:
        hint = f"pip install 'argus-workbench[{extra}]'"
        raise StreamError(f"{needed}, which is not installed", hint=hint) from error


def other_project() -> str | None:
    """What to do about PyPI's project ``workbench``, which has a package of the same name; ``None`` if it is not there.

    Example:
        >>> other_project() is None
        True
    """
    try:
        version = importlib.metadata.version("workbench")
    except importlib.metadata.PackageNotFoundError:
        return None
    remedy = "pip uninstall workbench argus-workbench, then pip install argus-workbench"
    return f"another project called workbench ({version}) is installed, whose files mix with these: {remedy}"
