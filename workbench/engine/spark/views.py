"""Relations and changes under names, so that an operator is one SQL text.

Building a Spark plan call by call costs a round trip to the JVM for every column and every operator, thousands a
batch; one text is one call. A name stands for the same thing throughout, and is bound again only when what it stands
for was replaced.
"""

from __future__ import annotations

import threading
import uuid
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession


class Views:
    """Temporary views of one engine, named apart from those of others on the same Spark."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._prefix = f"argus_{uuid.uuid4().hex[:8]}"
        self._bound: dict[str, object] = {}
        # Trees that run at a time may ask for the same parent's rows.
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def name(self, role: str, owner: object, rows: Callable[[], DataFrame]) -> str:
        """The view of a role, bound to ``rows()`` unless it is already bound to the same ``owner``."""
        with self._locks[role]:
            return f"{self._prefix}_{role}" if self._bound.get(role) is owner else self.bind(role, rows(), owner)

    def bind(self, role: str, rows: DataFrame, owner: object = None) -> str:
        """The view of a role, bound to ``rows`` whatever it was bound to; texts planned before keep what they had."""
        name = f"{self._prefix}_{role}"
        rows.createOrReplaceTempView(name)
        self._bound[role] = owner or rows
        return name

    def forget(self, keep: Callable[[str], bool] = lambda role: False) -> None:
        """Drop the views whose role is not to be kept, and with them the rows their plans hold."""
        for role in [role for role in self._bound if not keep(role)]:
            del self._bound[role]
            with suppress(Py4JError, OSError):  # Spark may have died, and its views with it
                self._spark.catalog.dropTempView(f"{self._prefix}_{role}")
