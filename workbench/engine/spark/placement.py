"""Where tasks run: one of a number on the executor that had it in the batch before, which has fetched what it reads.

Who has what is told by rendezvous hashing: a thing is of the owner whose name makes the greatest hash beside its
number. So when an owner comes or goes, its things change hands, and few others. All have about as many.

Source: Thaler, Ravishankar, Using name-based mappings to increase hit rates (IEEE/ACM Transactions on Networking 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from pyspark import RDD, SparkContext
from pyspark.serializers import CPickleSerializer
from pyspark.sql import SparkSession

ANYWHERE = ""
"""The place of a task that may run on any executor."""


@lru_cache(maxsize=256)
def owners_by_rendezvous(things: int, owners: tuple[str, ...]) -> tuple[int, ...]:
    """Whose each of some things is: the positions of the owners, by their names.

    Example:
        >>> sorted(owners_by_rendezvous(4, ("a", "b")))
        [0, 0, 1, 1]
    """
    number, (each, left) = [0] * len(owners), divmod(things, len(owners))
    chosen = []
    for thing in range(things):
        # Among those who have room; of the things that are left over, each owner gets one.
        free = [at for at, own in enumerate(number) if own < each + bool(left)]
        at = max(free, key=lambda at: blake2b(f"{thing} {owners[at]}".encode(), digest_size=8).digest())
        left -= number[at] == each
        number[at] += 1
        chosen.append(at)
    return tuple(chosen)


class Executors:
    """The executors of a cluster, as Spark names places; none where a task would wait for the place that it prefers.

    Args:
        spark: a Spark session, of a cluster or local.
    """

    def __init__(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        waits = spark.conf.get("spark.locality.wait", "3s") not in ("0", "0s")
        self._has_none = waits or (context.master or "local").startswith("local")
        self._java: Any = context._jsc.sc()
        self._known, self._places = "", tuple[str, ...]()

    def places(self) -> tuple[str, ...]:
        """Those that there are now. To list them takes as many calls of the JVM, so the names are compared before."""
        if self._has_none:
            return ()
        names = self._java.getExecutorIds().mkString(" ")
        if names != self._known:
            self._places = self._listed()
            # The list may be late, and is asked for again then.
            self._known = names if len(self._places) == len(names.split()) else ""
        return self._places

    def _listed(self) -> tuple[str, ...]:
        known = self._java.statusStore().executorList(True)
        there = [(each.id(), each.hostPort().rpartition(":")[0]) for each in map(known.apply, range(known.size()))]
        return tuple(sorted(f"executor_{host}_{name}" for name, host in there if name != "driver"))


def placed_numbers(context: SparkContext, first: int, places: Sequence[str]) -> RDD[int]:
    """Numbers from ``first`` on, each a task of its own, which prefers its place."""
    java: Any = context._jsc
    jvm: Any = context._jvm
    serializer = CPickleSerializer()
    pairs = [
        jvm.scala.Tuple2(serializer.dumps(number), jvm.PythonUtils.toSeq([place] if place else []))
        for number, place in enumerate(places, first)
    ]
    of_any = getattr(getattr(jvm.scala.reflect, "ClassTag$"), "MODULE$").AnyRef()
    numbers = java.sc().makeRDD(jvm.PythonUtils.toSeq(pairs), of_any)
    return RDD(numbers.toJavaRDD(), context, serializer)
