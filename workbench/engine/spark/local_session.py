"""A quiet local Spark, set up for small jobs in quick succession.

Batches are small and many, so latency matters more than throughput: adaptive execution (which splits a query into
several jobs) is off, and there are as many shuffle partitions as cores. ANSI mode is off because a shared operator
evaluates predicates on rows only other queries let in; expressions are written so that they are total.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.pandas.functions import arrow_udf

from workbench.arrow.python_values import call_in_python
from workbench.arrow.types import to_shown
from workbench.engine.spark.class_archive import archive_options, recording
from workbench.engine.spark.failures import INHERITED, forget_dead_spark
from workbench.engine.spark.java import use_java
from workbench.errors import EnvironmentProblem
from workbench.files.mapped import remove_at_exit
from workbench.limits import LIMITS
from workbench.sql.functions.calls import FUNCTIONS
from workbench.sql.functions.declaration import IN_PYTHON

RECORDS_PER_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
SQL_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # Else a name such as ${env:HOME} in a folder would be read from the environment.
    "spark.sql.variable.substitute": "false",
    RECORDS_PER_BATCH: str(LIMITS.rows_sent_together),
    # With any other limit Spark measures the whole batch after every row: a fifth of the time of a large join.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    "spark.sql.parquet.compression.codec": "zstd",
    # Spark describes every plan for its web page, which costs a small job noticeably; the short form is enough.
    "spark.sql.ui.explainMode": "simple",
}
"""Settings that the engine's SQL relies on; they are set in any Spark that it is given."""

START_SETTINGS = {
    # No page of its own, which would listen on every address of the machine; the panel shows what a session does.
    "spark.ui.enabled": "false",
    # Who connects to Spark's ports must know a secret, which a local Spark makes at random and keeps.
    "spark.authenticate": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.locality.wait": "0s",
    "spark.python.daemon.module": "workbench.engine.spark.worker_daemon",
    # A task that an interrupt has cancelled leaves its core as soon as it is seen not to end by itself.
    "spark.python.task.killTimeout": "200ms",
    # A task that fills the heap fails, and lets go of it. By default Spark ends the JVM, and with it every session.
    "spark.executor.killOnFatalError.depth": "0",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Over TCP every task waits 40 ms for its Python worker: small writes, acknowledged late.
    "spark.python.unix.domain.socket.enabled": "true",
    # A network of a hundred operators has many hundreds of generated classes. Spark keeps 100, and compiles the rest
    # again in every batch.
    "spark.sql.codegen.cache.maxEntries": "3000",
}

JVM_OPTIONS = (
    "-Dlog4j2.disable.jmx=true",
    # Spark generates classes for every plan, and a batch is many small jobs. The optimizing compiler (C2) took half of
    # two cores for minutes, for code that hardly ever runs.
    "-XX:TieredStopAtLevel=1",
    # Without C2 the JVM keeps less room for code, 48 MB; when that is full, it stops compiling.
    "-XX:ReservedCodeCacheSize=256m",
    # Spark follows an expression by calls inside one another, twenty and more for each operator: the highest that is
    # not refused (sql/syntax/limits.py) takes more stack than the 1 MB there would be. What is not used is free.
    "-Xss64m",
)
"""Options of the JVM, without the places of its log settings and its archive of classes."""

_STARTING = threading.Lock()
"""Held while Spark is started: of two JVMs that start at the same time, PySpark would lose one."""

_size: tuple[int, str] | None = None
"""Cores and memory of the Spark that was started last, for the one that takes its place when it dies."""


def local_spark(
    app_name: str = "argus", cores: int | None = None, memory: str | None = None, record: Path | None = None
) -> SparkSession:
    """Start (or find) a Spark in this process; where its JVM has died, another one is started.

    Any thread may call it. One that calls while another one starts Spark waits for that.

    Args:
        app_name: what Spark calls the application.
        cores: worker threads, all of the machine's when ``None``; as many as before where the JVM has died.
        memory: the JVM's heap, 3 GB when ``None``; as much as before where the JVM has died.
        record: a file for the archive of all classes that the JVM will have loaded when it ends; without one, the JVM
            uses the archive there is.

    Raises:
        EnvironmentProblem: Java is missing or Spark did not start, or this process was forked from one with a Spark.
    """
    refuse_inherited()
    global _size
    with _STARTING:
        if not forget_dead_spark() or _size is None:
            _size = os.cpu_count() or 2, "3g"
        if SparkContext._active_spark_context is None:
            _size = cores or _size[0], memory or _size[1]
            _start(app_name, *_size, record)
        spark = SparkSession.builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
    return spark


def refuse_inherited() -> None:
    """Check that this process was not forked from one with a Spark, which it could not use.

    Raises:
        EnvironmentProblem: it was.
    """
    if INHERITED.spark:
        hint = "start the process anew: with subprocess, or with multiprocessing.get_context('spawn')"
        raise EnvironmentProblem("this process was forked from one that has a Spark, and cannot use it", hint=hint)


def local_cores() -> int:
    """The cores of the local Spark that runs, or that would be started."""
    return _size[0] if _size is not None else os.cpu_count() or 2


def _start(app_name: str, threads: int, memory: str, record: Path | None) -> None:
    java = use_java()
    # Without this, workers run whatever python3 is first on PATH; PySpark reads it from the environment alone.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    log_settings = resources.files("workbench.engine.spark") / "log4j2.properties"
    builder = SparkSession.builder.master(f"local[{threads}]").appName(app_name)
    for key, value in START_SETTINGS.items():
        builder = builder.config(key, value)
    archive = archive_options(java) if record is None else recording(record)
    options = " ".join([f"-Dlog4j2.configurationFile=file:{log_settings}", *JVM_OPTIONS, *archive])
    builder = builder.config("spark.python.unix.domain.socket.dir", socket_folder())
    builder = builder.config("spark.driver.memory", memory).config("spark.driver.extraJavaOptions", options)
    try:
        with _quiet_launch():
            _make_class_cache(builder.getOrCreate())
    except Exception as problem:  # py4j and the gateway raise many kinds; all mean the same to the analyst
        raise EnvironmentProblem(
            f"Spark did not start: {problem}", hint="run `%argus doctor`; Spark 4.3 needs Java 17 or newer"
        ) from problem


def _make_class_cache(spark: SparkSession) -> None:
    """Make Spark's cache of generated classes, as large as ``START_SETTINGS`` says.

    Spark makes it when it first generates a class, and asks the session of the thread that does. The threads in which
    operators are planned have none, so the cache had room for 100 classes, whatever was set.
    """
    jvm: Any = spark.sparkContext._jvm
    jvm.org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator.compileTime()


@cache
def socket_folder() -> str:
    """A folder of this process for the sockets between Spark and its Python workers; no other user may enter it."""
    folder = tempfile.mkdtemp(prefix="argus-spark-")
    remove_at_exit(folder)
    return folder


def engine_session(spark: SparkSession) -> SparkSession:
    """A Spark session for one engine: on the same Spark, with separate settings, temporary views and functions."""
    own = _with_settings(spark.newSession(), spark.sparkContext.defaultParallelism)
    # Python workers are kept by their environment. Spark sets this for plans alone; with it, RDDs have the same ones.
    # A new dictionary, as the thread that starts the first workers may be reading the old one.
    context = spark.sparkContext
    context.environment = {**context.environment, "SPARK_SIMPLIFIED_TRACEBACK": "1"}
    # PySpark prints every failed query to the cell as JSON, beside raising it.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    return own


def connect_session(spark: SparkSession) -> SparkSession:
    """A session of Spark Connect with the settings of ``engine_session``."""
    return _with_settings(spark.newSession())


def _with_settings(own: SparkSession, cores: int | None = None) -> SparkSession:
    for key, value in SQL_SETTINGS.items():
        own.conf.set(key, value)
    if cores is not None:
        own.conf.set("spark.sql.shuffle.partitions", str(max(1, cores)))
    for returned in {f.returns.spark: f.returns for f in FUNCTIONS.values() if f.python and f.returns}.values():
        in_python = arrow_udf(_in_python(to_shown(returned)), returned.spark)  # type: ignore[call-overload]
        own.udf.register(IN_PYTHON + returned.spark, in_python)
    return own


def _in_python(type_: pa.DataType) -> Callable[..., pa.Array]:
    """The functions of Python that give a type, over the name of the one that is asked and its arguments."""

    def of_rows(names: pa.Array, *columns: pa.Array) -> pa.Array:
        return call_in_python(names, columns, type_)

    return of_rows


@contextmanager
def _quiet_launch() -> Iterator[None]:
    """Give the JVM a file for its standard error as it starts: it inherits ours, and notebooks show that in cells."""
    sys.stderr.flush()
    ours = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(ours, 2)
            os.close(ours)
