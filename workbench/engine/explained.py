"""What Spark raises, as errors of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from workbench.errors import EngineError


@contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn what Spark raises while ``doing`` something into an error of ours; the whole of it stays its cause.

    What fails inside a broadcast comes as a bare exception of the gateway.

    Raises:
        EngineError: with the first line of what Spark says.
    """
    try:
        yield
    except (PySparkException, Py4JError) as problem:
        first = str(problem).strip().splitlines()[0][:300]
        raise EngineError(f"Spark could not {doing}: {first}", hint="`%argus last-error` shows all of it") from problem
