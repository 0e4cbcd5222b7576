"""What a step of a task hands to a later step of the same task, which may run in another Python process.

Between two steps Spark may evaluate expressions: it then runs each in a Python worker of its own, on the same machine.
What is no row, such as the names of written files, goes by a file of that machine, in a folder that Spark removes with
the executor. It is found by its name: no folder is listed, and none of another machine is read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from workbench.engine.spark.arrow_tasks import task_attempt
from workbench.files.shared import folder_of_executor

_KEPT: OrderedDict[str, bytes] = OrderedDict()
"""What this process has handed over to itself."""

_MOST_KEPT = 64
"""The most that is kept: a later step soon asks for its own, unless the task has failed."""

_LOCK = threading.Lock()
"""Threads of the driver run tasks side by side."""


def hand_over(name: str, data: bytes, apart: bool) -> None:
    """Hand something to a later step of this task.

    Args:
        name: by which the later step asks for it.
        data: what it is.
        apart: whether the later step runs in another process.
    """
    name = _of_task(name)
    if apart:
        _file(name).write_bytes(data)
        return
    with _LOCK:
        _KEPT[name] = data
        while len(_KEPT) > _MOST_KEPT:
            _KEPT.popitem(last=False)


def handed_over(name: str) -> bytes:
    """The value that an earlier step of this task has handed over, once.

    Raises:
        FileNotFoundError: no step has.
    """
    name = _of_task(name)
    with _LOCK:
        data = _KEPT.pop(name, None)
    if data is not None:
        return data
    file = _file(name)
    data = file.read_bytes()
    file.unlink()
    return data


def _of_task(name: str) -> str:
    return f"{name}-{task_attempt()}"


def _file(name: str) -> Path:
    return Path(folder_of_executor(), f"argus-{name}")
