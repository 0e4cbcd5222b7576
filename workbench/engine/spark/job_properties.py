"""What travels with a job of Spark to each of its tasks: local properties, which are the job's alone.

Spark's channel brings them, which is authenticated where Spark is, so no task can read those of another job.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

from pyspark import SparkContext, TaskContext

STEPS, INPUT, SHARED = "spark.argus.steps", "spark.argus.input", "spark.argus.shared"
"""The properties: which steps each task runs; the inputs of operators; the folder that workers have through a store.

Spark brings to its tasks also the settings of a Spark session that begin with its name.
"""
DESCRIPTION = "spark.job.description"
"""What Spark's pages say of a job."""
_NAMED = 4
"""Operators, and queries of each, that Spark's pages name."""

NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})

_HERE = threading.local()
"""``text``: the inputs of the job that this thread runs by itself."""


@contextmanager
def with_properties(context: SparkContext, properties: Mapping[str, str]) -> Iterator[None]:
    """Give the jobs that this thread starts meanwhile some properties.

    Args:
        context: of the Spark that runs them.
        properties: by name; one that is "" is as if it were not there.
    """
    properties = {name: text for name, text in properties.items() if text}
    for name, text in properties.items():
        context.setLocalProperty(name, text)
    try:
        yield
    finally:
        for name in properties:
            context.setLocalProperty(name, None)  # type: ignore[arg-type]  # None removes it


def job_property(name: str) -> str:
    """A property of the job that this task belongs to; "" where there is none, as outside of a task."""
    context = TaskContext.get()
    return "" if context is None else context.getLocalProperty(name) or ""


def input_text() -> str:
    """The inputs of the operators of this task's job; "" where the driver runs a step that is not a job's."""
    return getattr(_HERE, "text", "") or job_property(INPUT)


@contextmanager
def inputs_here(text: str) -> Iterator[None]:
    """Let this thread run a job of which Spark knows nothing, with the inputs of its operators."""
    _HERE.text = text
    try:
        yield
    finally:
        del _HERE.text


def first_texts(texts: Sequence[str], between: str) -> str:
    """The first of some texts, and how many others there are.

    Example:
        >>> first_texts(["a", "b", "c", "d", "e", "f"], ", "), first_texts(["a", "b"], "; ")
        ('a, b, c, d and 2 more', 'a; b')
    """
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return between.join(texts[:_NAMED]) + more
