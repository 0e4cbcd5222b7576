"""An analyst's function in a process of its own, so that nothing it does can stop Spark's worker, or a batch.

A function may raise, leave its process, crash it, block it, or fill its memory. Here it may: Spark's worker forks a
process for it, sends it rows and waits for values, but no longer than a limit. Whatever the worker gets instead of
values is the function's problem, in words (``FunctionEnded``).

What goes over the socket is frames, each its length and its bytes. The worker sends rows in Arrow's stream format. The
process answers with empty frames while it goes on, one for every ``CALLS`` calls, so that the worker can tell slow from
stuck; then with a frame that begins with ``=``, the first problem of a call if there was one, and one more with the
values; or with a frame that begins with ``!``, why it cannot go on.
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

from workbench.engine.spark.fitting import Unfit, fitting_to, short, shown
from workbench.errors import SessionError
from workbench.files.mapped import MAPPED
from workbench.sql.algebra.types import DataType
from workbench.streams.arrow_types import to_arrow

CALLS = 1_000
"""The time limit of a function is for so many calls: a batch may be of any size."""
LOADING = 60.0
"""Seconds a function may take to be loaded, with the modules that it imports."""
ENDING = 1.0
"""Seconds after which a process is ended that has closed its socket, but goes on."""
MEGABYTE = 1 << 20
MOST = 1_000_000
"""Of seconds, and of megabytes; more is no limit."""

_SERIAL = {"use_threads": False}  # the threads of Arrow are not there after a fork
_GOING_ON = b""
_OUT_OF_MEMORY = b"!"
_NO_ANSWER = "disturbed its process: what came from it is no answer"
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


@dataclass(frozen=True)
class Limits:
    """What a function may take.

    Attributes:
        seconds: for 1,000 calls one after the other.
        memory: in megabytes, besides what its process starts with. Systems other than Linux do not limit it.

    Raises:
        SessionError: a limit is no number, or out of range.
    """

    seconds: float = 10.0
    memory: int = 1024

    def __post_init__(self) -> None:
        numbers = {"seconds": (self.seconds, float), "memory": (self.memory, int)}
        for name, (value, type_) in numbers.items():
            if isinstance(value, bool) or not isinstance(value, int | type_) or not 0 < value <= MOST:
                hint = f"give a number above 0, at most {MOST:,}" + " without a fraction" * (type_ is int)
                raise SessionError(f"{name} cannot be {shown(value)}", hint=hint)


class FunctionEnded(Exception):
    """A function's process ended, or had to be ended; the text says why, after the function's name.

    Args:
        problem: the text.
        late: whether it took longer than it may.
    """

    def __init__(self, problem: str, late: bool = False) -> None:
        super().__init__(problem)
        self.late = late


class FunctionProcess:
    """A process that calls one function.

    Args:
        pickled: the function, as cloudpickle's bytes. They are loaded in the process, since that runs code as well.
        returns: the type of its values.
        limits: what it may take.

    Raises:
        FunctionEnded: the function cannot be loaded.
    """

    def __init__(self, pickled: bytes, returns: DataType, limits: Limits) -> None:
        self._type = to_arrow(returns)
        self._limits = limits
        self._socket, theirs = socket.socketpair()
        self._pid = os.fork()
        if not self._pid:
            try:
                _serve(theirs, pickled, returns, limits)
            finally:
                os._exit(0)
        theirs.close()
        self._receive(LOADING, f"took longer than {LOADING:g} s to be loaded")

    def call(self, rows: pa.RecordBatch) -> tuple[pa.Array, str]:
        """The values for some rows of arguments, and the first problem of a call, whose value is NULL; empty if none.

        Raises:
            FunctionEnded: the process ended, or had to be ended.
        """
        seconds = self._limits.seconds
        late = f"took longer than {seconds:g} s, the limit for {CALLS:,} calls"
        self._send(_to_bytes(rows), seconds, late)
        while (answer := self._receive(seconds, late)) == _GOING_ON:
            pass
        values = self._receive(seconds, late)
        try:
            column = _from_bytes(values).column(0)
            column.validate()
            if (column.type, len(column)) != (self._type, rows.num_rows):
                raise ValueError(f"{len(column)} values of type {column.type}")
            return column, answer[1:].decode()
        except Exception as problem:  # the function has written into the socket
            self.end()
            raise FunctionEnded(_NO_ANSWER) from problem

    def end(self, patience: float = 0.0) -> int:
        """End the process if it does not end by itself; its exit code, or minus the signal that ended it."""
        self._socket.close()
        until = time.monotonic() + patience
        while time.monotonic() < until:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.001)
        os.kill(self._pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def _send(self, data: bytes, seconds: float, late: str) -> None:
        try:
            self._socket.settimeout(seconds)
            _send(self._socket, data)
        except OSError as problem:
            raise self._ended(problem, late) from problem

    def _receive(self, seconds: float, late: str) -> bytes:
        try:
            self._socket.settimeout(seconds)
            answer = _receive(self._socket)
        except (OSError, EOFError) as problem:
            raise self._ended(problem, late) from problem
        except (MemoryError, OverflowError) as problem:  # the length of a frame is none
            self.end()
            raise FunctionEnded(_NO_ANSWER) from problem
        if answer == _OUT_OF_MEMORY:
            self.end()
            raise FunctionEnded(f"ran out of memory: it may take {self._limits.memory:,} MB")
        if answer.startswith(b"!"):
            self.end()
            raise FunctionEnded(answer[1:].decode(errors="replace"))
        return answer

    def _ended(self, problem: Exception, late: str) -> FunctionEnded:
        if isinstance(problem, TimeoutError):
            self.end()
            return FunctionEnded(late, late=True)
        code = self.end(ENDING)
        signals = {number.value: number.name for number in signal.Signals}
        how = f"with exit code {code}" if code >= 0 else f"by {signals.get(-code, f'signal {-code}')}"
        return FunctionEnded(f"ended its process {how}")


def _serve(connection: socket.socket, pickled: bytes, returns: DataType, limits: Limits) -> None:
    """What the process does: load the function and answer until nobody asks any more."""
    connection, process = _alone(connection), os.getpid()
    MAPPED.forget_all()  # else the disk keeps the rows of files that are removed for as long as this process lives
    _limit(limits)

    def answer(data: bytes) -> None:
        if os.getpid() != process:  # the function has forked, and only one of the two may answer
            os._exit(0)
        _send(connection, data)

    try:
        function = pickle.loads(pickled)
    except BaseException as raised:  # whatever a module raises when it is imported
        answer(f"!cannot be loaded: it {_problem(raised)}".encode())
        return
    answer(_GOING_ON)
    fit = fitting_to(returns)
    while True:
        rows = _from_bytes(_receive(connection))
        try:
            values, problem = _values(function, fit, rows, lambda: answer(_GOING_ON))
            column = _to_bytes(pa.record_batch([pa.array(values, to_arrow(returns))], ["value"]))
        except MemoryError:
            answer(_OUT_OF_MEMORY)
            return
        except Exception as raised:  # such as more text than one batch of Arrow holds
            answer(f"!gave values that cannot be kept: {short(str(raised))}".encode())
            return
        answer(f"={problem}".encode())
        answer(column)


def _alone(connection: socket.socket) -> socket.socket:
    """Let go of all that belongs to Spark's worker: its files, its console, its objects. What is printed is lost."""
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


def _limit(limits: Limits) -> None:
    """Limit the process's memory, leave no core dumps, and end it with Spark's worker, but not with Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        with open("/proc/self/statm") as pages:
            started_with = int(pages.read().split()[5]) * resource.getpagesize()
        most = started_with + limits.memory * MEGABYTE
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _values(
    function: Callable[..., Any], fit: Callable[[Any], Any], rows: pa.RecordBatch, going_on: Callable[[], None]
) -> tuple[list[Any], str]:
    values: list[Any] = []
    problem = ""
    for start in range(0, rows.num_rows, CALLS):
        called, arguments = _arguments(function, rows.slice(start, CALLS))
        for row in arguments:
            try:
                values.append(fit(called(*row)))
            except MemoryError:
                raise
            except BaseException as raised:  # SystemExit and KeyboardInterrupt are a function's own here
                values.append(None)
                problem = problem or _problem(raised)
        going_on()
    return values, problem


@dataclass(frozen=True)
class _Unknown:
    """An argument that Python cannot hold."""

    problem: str


def _arguments(
    function: Callable[..., Any], rows: pa.RecordBatch
) -> tuple[Callable[..., Any], Iterable[tuple[Any, ...]]]:
    """What to call, and with what. Rows of bytes stand for calls without arguments (``NO_ARGUMENTS``)."""
    if rows.schema.types == [pa.binary()]:
        return function, [()] * rows.num_rows
    try:
        return function, zip(*(column.to_pylist() for column in rows.columns), strict=True)
    except (ValueError, OverflowError):  # a date beyond the year 9999, which SQL can compute

        def checked(*row: Any) -> Any:
            if unknown := next((value for value in row if isinstance(value, _Unknown)), None):
                raise Unfit(f"an argument cannot be given to Python: {unknown.problem}")
            return function(*row)

        return checked, zip(*([_known(value) for value in column] for column in rows.columns), strict=True)


def _known(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError) as problem:
        return _Unknown(short(str(problem)))


def _problem(raised: BaseException) -> str:
    """What a call did instead of giving a value, in words that follow the function's name."""
    try:
        if isinstance(raised, Unfit):
            return f"failed: {raised}"
        return short(f"raised {type(raised).__name__}: {raised}")
    except BaseException:  # the text of an exception may be anything, and raise anything
        return short(f"raised {type(raised).__name__}, whose text cannot be read")


def _to_bytes(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(**_SERIAL)) as stream:
        stream.write_batch(rows)
    return sink.getvalue()


def _from_bytes(data: bytes) -> pa.RecordBatch:
    return pa.ipc.open_stream(data, options=pa.ipc.IpcReadOptions(**_SERIAL)).read_next_batch()


def _send(connection: socket.socket, data: bytes) -> None:
    connection.sendall(len(data).to_bytes(8))
    connection.sendall(data)


def _receive(connection: socket.socket) -> bytes:
    return _exactly(connection, int.from_bytes(_exactly(connection, 8)))


def _exactly(connection: socket.socket, size: int) -> bytes:
    """So many bytes.

    Raises:
        EOFError: the other side has ended.
    """
    data = bytearray(size)
    rest = memoryview(data)
    while rest:
        got = connection.recv_into(rest)
        if not got:
            raise EOFError
        rest = rest[got:]
    return bytes(data)
