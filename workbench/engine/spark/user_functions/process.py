"""The process of a user function, seen from Spark's worker: it cannot stop the worker, nor a batch.

A function may raise, leave its process, crash it, block it, or fill its memory. So Spark's worker forks a process for
it, sends it rows, and waits for values no longer than a limit. Whatever the worker gets instead of values becomes a
``FunctionEnded`` that says so in words. ``child`` has what the process does, and the protocol.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from dataclasses import dataclass

import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.engine.spark.user_functions.attempt import Attempt, true_mask
from workbench.engine.spark.user_functions.child import (
    CALLS,
    GOING_ON,
    OUT_OF_MEMORY,
    SECONDS,
    from_bytes,
    receive_frame,
    send_frame,
    serve,
    to_bytes,
)
from workbench.engine.spark.user_functions.returned_values import short_repr
from workbench.errors import SessionError
from workbench.sql.algebra.types import DataType

LOADING = 60.0
"""Seconds a function may take to be loaded, with the modules that it imports."""
ENDING = 1.0
"""Seconds after which a process is ended that has closed its socket, but goes on."""
_MOST = 1_000_000
"""The largest limit, in seconds or megabytes; a larger number would be no limit."""

_NO_ANSWER = "disturbed its process: what came from it is no answer"


@dataclass(frozen=True)
class FunctionLimits:
    """The time and the memory that a function may take.

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
            if isinstance(value, bool) or not isinstance(value, int | type_) or not 0 < value <= _MOST:
                hint = f"give a number above 0, at most {_MOST:,}" + " without a fraction" * (type_ is int)
                raise SessionError(f"{name} cannot be {short_repr(value)}", hint=hint)


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

    def __init__(self, pickled: bytes, returns: DataType, limits: FunctionLimits) -> None:
        self._type = to_arrow(returns)
        self._limits = limits
        self._socket, theirs = socket.socketpair()
        self._pid = os.fork()
        if not self._pid:
            try:
                serve(theirs, pickled, returns, limits.memory)
            finally:
                os._exit(0)
        theirs.close()
        self._receive(LOADING, f"took longer than {LOADING:g} s to be loaded")

    def call(self, rows: pa.RecordBatch) -> Attempt:
        """Call the function for some rows of arguments.

        Raises:
            FunctionEnded: the process ended, or had to be ended.
        """
        seconds = self._limits.seconds
        late = f"took longer than {seconds:g} s, the limit for {CALLS:,} calls"
        self._send(to_bytes(rows), seconds, late)
        while (answer := self._receive(seconds, late)) == GOING_ON:
            pass
        values = self._receive(seconds, late)
        try:
            answered = from_bytes(values)
            answered.validate()
            if answered.schema.types != [self._type, pa.bool_()] or answered.num_rows != rows.num_rows:
                raise ValueError(f"{answered.num_rows} values of type {answered.schema.types}")
            column, failed = answered.columns
            seconds_taken = float((answered.schema.metadata or {})[SECONDS])
            return Attempt(column, true_mask(failed), answer[1:].decode(), rows.num_rows, seconds_taken)
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
            send_frame(self._socket, data)
        except OSError as problem:
            raise self._ended(problem, late) from problem

    def _receive(self, seconds: float, late: str) -> bytes:
        try:
            self._socket.settimeout(seconds)
            answer = receive_frame(self._socket)
        except (OSError, EOFError) as problem:
            raise self._ended(problem, late) from problem
        except (MemoryError, OverflowError) as problem:  # the length of a frame is invalid
            self.end()
            raise FunctionEnded(_NO_ANSWER) from problem
        if answer == OUT_OF_MEMORY:
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
