"""The program of a user function's process, and the frames through which it talks to Spark's worker.

A frame is its length (8 bytes) and its bytes. The worker sends rows as Arrow streams. The process answers with

- empty frames while it goes on, one for every ``CALLS`` calls, so that the worker can tell slow from stuck;
- then a frame that begins with ``=``, the first problem of a call if there was one, and one more with the values, which
  calls failed, and how long all of them took;
- or a frame that begins with ``!``: why it cannot go on (``!`` alone: it is out of memory).
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import os
import pickle
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.engine.spark.user_functions.returned_values import WrongValueError, converter_to, shortened
from workbench.files.mapped import MAPPED
from workbench.sql.algebra.types import DataType

CALLS = 1_000
"""Calls that the time limit of a function is for: a batch may be of any size."""
SECONDS = b"seconds"
"""Where an answer says how long its calls took."""
GOING_ON = b""
OUT_OF_MEMORY = b"!"

_MEGABYTE = 1 << 20
_NO_THREADS = {"use_threads": False}  # the threads of Arrow are not there after a fork
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


def serve(connection: socket.socket, pickled: bytes, returns: DataType, memory: int) -> None:
    """Load the function, then answer until there are no more requests.

    Args:
        connection: to Spark's worker.
        pickled: the function, as cloudpickle's bytes.
        returns: the type of its values.
        memory: in megabytes, what the process may take beside what it starts with.
    """
    connection, process = _isolate(connection), os.getpid()
    MAPPED.forget_all()  # else the disk keeps the rows of removed files for as long as this process lives
    _limit(memory)

    def answer(data: bytes) -> None:
        if os.getpid() != process:  # the function has forked, and only one of the two may answer
            os._exit(0)
        send_frame(connection, data)

    try:
        function = pickle.loads(pickled)
    except BaseException as raised:  # whatever a module raises when it is imported
        answer(f"!cannot be loaded: it {_problem(raised)}".encode())
        return
    answer(GOING_ON)
    convert = converter_to(returns)
    while True:
        rows = from_bytes(receive_frame(connection))
        try:
            begun = time.perf_counter()
            values, failed, problem = _values(function, convert, rows, lambda: answer(GOING_ON))
            seconds = {SECONDS: str(time.perf_counter() - begun)}
            columns = {"value": pa.array(values, to_arrow(returns)), "failed": pa.array(failed, pa.bool_())}
            answered = to_bytes(pa.RecordBatch.from_pydict(columns).replace_schema_metadata(seconds))
        except MemoryError:
            answer(OUT_OF_MEMORY)
            return
        except Exception as raised:  # such as more text than one batch of Arrow holds
            answer(f"!gave values that cannot be kept: {shortened(str(raised))}".encode())
            return
        answer(f"={problem}".encode())
        answer(answered)


def to_bytes(rows: pa.RecordBatch) -> bytes:
    """Rows as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(**_NO_THREADS)) as stream:
        stream.write_batch(rows)
    return sink.getvalue()


def from_bytes(data: bytes) -> pa.RecordBatch:
    """The rows of an Arrow stream."""
    return pa.ipc.open_stream(data, options=pa.ipc.IpcReadOptions(**_NO_THREADS)).read_next_batch()


def send_frame(connection: socket.socket, data: bytes) -> None:
    """Send one frame."""
    connection.sendall(len(data).to_bytes(8))
    connection.sendall(data)


def receive_frame(connection: socket.socket) -> bytes:
    """The next frame.

    Raises:
        EOFError: the other side has ended.
    """
    return _exactly(connection, int.from_bytes(_exactly(connection, 8)))


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray(size)
    rest = memoryview(data)
    while rest:
        received = connection.recv_into(rest)
        if not received:
            raise EOFError
        rest = rest[received:]
    return bytes(data)


def _isolate(connection: socket.socket) -> socket.socket:
    """Drop everything of Spark's worker: its files, its console and its objects. Printed text is lost."""
    faulthandler.disable()  # it would write to a file of the worker
    gc.freeze()  # an object of the worker that is collected would close a file of ours
    kept = 3
    os.dup2(connection.detach(), kept)
    for fd in map(int, os.listdir("/dev/fd")):
        if fd > kept:
            with suppress(OSError):  # the list itself is read from one
                os.close(fd)
    nothing = os.open(os.devnull, os.O_RDWR)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(nothing, mode, closefd=False) for mode in "rww")
    for console in (0, 1, 2):
        os.dup2(nothing, console)
    return socket.socket(fileno=kept)


def _limit(memory: int) -> None:
    """Limit the process's memory, leave no core dumps, and end it with Spark's worker, but not with Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        with open("/proc/self/statm") as pages:
            started_with = int(pages.read().split()[5]) * resource.getpagesize()
        most = started_with + memory * _MEGABYTE
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _values(
    function: Callable[..., Any], convert: Callable[[Any], Any], rows: pa.RecordBatch, going_on: Callable[[], None]
) -> tuple[list[Any], list[bool], str]:
    """The values of all calls, which of them failed, and the first problem of one; their values are ``None``."""
    values: list[Any] = []
    failed: list[bool] = []
    problem = ""
    for start in range(0, rows.num_rows, CALLS):
        called, arguments = _arguments(function, rows.slice(start, CALLS))
        for row in arguments:
            try:
                values.append(convert(called(*row)))
                failed.append(False)
            except MemoryError:
                raise
            except BaseException as raised:  # SystemExit and KeyboardInterrupt are a function's own here
                values.append(None)
                failed.append(True)
                problem = problem or _problem(raised)
        going_on()
    return values, failed, problem


@dataclass(frozen=True)
class _Unknown:
    """An argument that Python cannot hold."""

    problem: str


def _arguments(
    function: Callable[..., Any], rows: pa.RecordBatch
) -> tuple[Callable[..., Any], Iterable[tuple[Any, ...]]]:
    """The function to call, and its arguments. Rows of bytes are calls without arguments (``NO_ARGUMENTS``)."""
    if rows.schema.types == [pa.binary()]:
        return function, [()] * rows.num_rows
    try:
        return function, zip(*(column.to_pylist() for column in rows.columns), strict=True)
    except (ValueError, OverflowError):  # a date beyond the year 9999, which SQL can compute

        def checked(*row: Any) -> Any:
            if unknown := next((value for value in row if isinstance(value, _Unknown)), None):
                raise WrongValueError(f"an argument cannot be given to Python: {unknown.problem}")
            return function(*row)

        return checked, zip(*([_known(value) for value in column] for column in rows.columns), strict=True)


def _known(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError) as problem:
        return _Unknown(shortened(str(problem)))


def _problem(raised: BaseException) -> str:
    """What a call did instead of giving a value, in words that follow the function's name."""
    try:
        if isinstance(raised, WrongValueError):
            return f"failed: {raised}"
        return shortened(f"raised {type(raised).__name__}: {raised}")
    except BaseException:  # the text of an exception may be anything, and raise anything
        return shortened(f"raised {type(raised).__name__}, whose text cannot be read")
