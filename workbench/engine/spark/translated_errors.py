"""What Spark raises, as errors of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from workbench.errors import EngineError

_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded")
_TOO_HIGH = re.compile(r"StackOverflowError|TOO_COMPLEX")
_MORE_STACK = "write it in parts, or start Spark with -Xss64m in extraJavaOptions, of the driver and of the executors"
_MAKE_ROOM = "nothing was lost: make room on the disk of the session's folder and try again"


@contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn what Spark raises while ``doing`` something into an error of ours; the whole of it stays its cause.

    What fails inside a broadcast comes as a bare exception of the gateway.

    Raises:
        EngineError: with the first line of what Spark says, or what is wrong with a file.
    """
    try:
        yield
    except (OSError, pa.ArrowException) as problem:
        raise EngineError(f"could not {doing}: {problem}", hint=_hint(problem)) from problem
    except (PySparkException, Py4JError) as problem:
        if full := _NO_SPACE.search(str(problem)):
            raise EngineError(f"could not {doing}: {full[0]}", hint=_MAKE_ROOM) from problem
        if _TOO_HIGH.search(str(problem)):
            what = f"could not {doing}: an expression is too high for the stack of this Spark"
            raise EngineError(what, hint=_MORE_STACK) from problem
        first = str(problem).strip().splitlines()[0][:300]
        raise EngineError(f"Spark could not {doing}: {first}", hint="`%argus last-error` shows all of it") from problem


def _hint(problem: Exception) -> str:
    return _MAKE_ROOM if _NO_SPACE.search(str(problem)) else "`%argus last-error` shows all of it"
