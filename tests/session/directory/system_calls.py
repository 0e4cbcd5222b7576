"""A process whose system calls that write are numbered as they are made, so that one can be chosen for a fault.

The kernel asks us before each such call of the process and of all that it starts: a filter of seccomp says which, and a
descriptor brings the questions. So neither a compiler nor a tracer is needed, and nothing is left to chance.
Source: seccomp_unotify(2).
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import select
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

CALLS = {
    "write": 1, "pwrite64": 18, "writev": 20, "sendfile": 40, "sendto": 44, "sendmsg": 46, "fsync": 74, "fdatasync": 75,
    "truncate": 76, "ftruncate": 77, "rename": 82, "mkdir": 83, "rmdir": 84, "link": 86, "unlink": 87, "symlink": 88,
    "openat": 257, "mkdirat": 258, "unlinkat": 263, "renameat": 264, "linkat": 265, "symlinkat": 266, "fallocate": 285,
    "pwritev": 296, "sendmmsg": 307, "renameat2": 316, "copy_file_range": 326, "pwritev2": 328,
}  # fmt: skip
"""Those of x86-64 that write; ``openat`` counts where it may make a file or empty one."""
_NAMES = {number: name for name, number in CALLS.items()}
_SENDS = {"sendto", "sendmsg", "sendmmsg"}
_BY_PATH = {"rename": 0, "mkdir": 0, "rmdir": 0, "link": 1, "unlink": 0, "symlink": 1, "truncate": 0}
_AT = {"openat": 0, "mkdirat": 0, "unlinkat": 0, "renameat": 2, "renameat2": 2, "linkat": 2, "symlinkat": 1}
_FREES = {"unlink", "unlinkat", "rmdir", "truncate", "ftruncate"}
_MAKES = os.O_CREAT | os.O_TRUNC

_SECCOMP, _FILTER, _LISTENER, _NO_NEW_PRIVILEGES = 317, 1, 8, 38
_ALLOW, _ASK, _GO_ON = 0x7FFF0000, 0x7FC00000, 1
_RECEIVE, _ANSWER, _QUESTION = 0xC0502100, 0xC0182101, "QIIiIQ6Q"
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_LIBC = ctypes.CDLL(None, use_errno=True)

CAN_WATCH = platform.machine() == "x86_64" and platform.system() == "Linux"


class Fault(Enum):
    """What happens at the chosen call."""

    KILL = "kill -9"
    """The process and all that it has started are killed before the call."""
    STOP = "SIGSTOP"
    """The process is stopped before the call, and goes on after a while."""
    FULL = "full disk"
    """The call, and all after it that take room, say that the disk is full, until there is room again."""


class Watched:
    """A process whose writing calls are numbered.

    Args:
        command: starts it.
        folder: calls on files below it count.
        ports: calls that send to these ports of TCP count, and those of the process itself to sockets of the machine.

    Attributes:
        process: that was started; its standard streams are pipes.
        calls: the names of those that were counted since ``arm``.
        hit: whether the fault has come.
    """

    def __init__(self, command: Sequence[str], folder: Path, ports: Sequence[int] = ()) -> None:
        self._folder, self._ports = str(folder), set(ports)
        self.calls: list[str] = []
        self.hit = False
        self._at, self._fault, self._full = 0, Fault.STOP, False
        self._sockets: dict[str, bool] = {}
        self._groups: dict[int, int] = {}
        self._refused: OSError | None = None
        self._begun, self._started = threading.Event(), threading.Event()
        threading.Thread(target=self._start, args=[command], daemon=True).start()
        self._begun.wait()
        if self._refused is not None:
            raise self._refused
        threading.Thread(target=self._answer_all, daemon=True).start()
        self._started.wait()

    process: subprocess.Popen[str]

    def arm(self, at: int, fault: Fault) -> None:
        """Count from 1 on, and let a fault happen at a call; at none for 0."""
        self.calls, self.hit, self._full = [], False, False
        self._at, self._fault = at, fault

    def disarm(self) -> None:
        """No fault from now on."""
        self._at, self._full = 0, False

    def _start(self, command: Sequence[str]) -> None:
        """In a thread whose filter the process inherits; nothing here may write before the answers begin."""
        program = _program()
        held = ctypes.create_string_buffer(program)
        described = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(held)))
        _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        self._listener = _LIBC.syscall(_SECCOMP, _FILTER, _LISTENER, described)
        if self._listener < 0:
            self._refused = OSError(ctypes.get_errno(), "no system calls can be watched here")
        self._begun.set()
        if self._refused is None:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
            )
            self._started.set()

    def _answer_all(self) -> None:
        questions = select.poll()
        questions.register(self._listener)
        while not questions.poll()[0][1] & select.POLLHUP:
            asked = bytearray(struct.calcsize(_QUESTION))
            try:
                fcntl.ioctl(self._listener, _RECEIVE, asked)
            except OSError:  # who asked was killed just now
                continue
            id_, thread, _, number, _, _, *arguments = struct.unpack(_QUESTION, asked)
            error = self._decide(thread, _NAMES[number], arguments)
            answer = bytearray(struct.pack("QqiI", id_, 0, -error, 0 if error else _GO_ON))
            try:
                fcntl.ioctl(self._listener, _ANSWER, answer)
            except OSError:
                continue
        os.close(self._listener)

    def _decide(self, thread: int, call: str, arguments: Sequence[int]) -> int:
        """The error that a call gets; 0 when it is made."""
        if not (self._at or self._full) or not self._counts(thread, call, arguments):
            return 0
        self.calls.append(call)
        if len(self.calls) == self._at:
            self.hit = True
            match self._fault:
                case Fault.KILL:
                    os.killpg(self.process.pid, signal.SIGKILL)
                case Fault.STOP:
                    self.process.send_signal(signal.SIGSTOP)
                    threading.Thread(target=self._let_go_on, daemon=True).start()
                case Fault.FULL:
                    self._full = True
        return errno.ENOSPC if self._full and call not in _SENDS | _FREES else 0

    def _let_go_on(self) -> None:
        time.sleep(0.3)
        self.process.send_signal(signal.SIGCONT)

    def _counts(self, thread: int, call: str, arguments: Sequence[int]) -> bool:
        try:
            if call in _BY_PATH:
                return self._text(thread, arguments[_BY_PATH[call]]).startswith(self._folder)
            if call in _AT:
                return self._path_at(thread, *arguments[_AT[call] : _AT[call] + 2]).startswith(self._folder)
            opened = os.readlink(f"/proc/{thread}/fd/{arguments[0]}")
            if opened.startswith("socket:"):
                return self._is_counted(thread, opened)
            return opened.startswith(self._folder)
        except OSError:  # it ended meanwhile
            return False

    def _path_at(self, thread: int, folder: int, address: int) -> str:
        path = self._text(thread, address)
        is_open = not path.startswith("/") and ctypes.c_int(folder).value >= 0
        return f"{os.readlink(f'/proc/{thread}/fd/{folder}')}/{path}" if is_open else path

    def _text(self, thread: int, address: int) -> str:
        with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            return memory.read(4096).split(b"\0")[0].decode()

    def _is_counted(self, thread: int, opened: str) -> bool:
        """Whether a socket leads to what counts."""
        if opened not in self._sockets:
            number = opened[len("socket:[") : -1]
            lines = [line.split() for line in Path(f"/proc/{thread}/net/tcp").read_text().splitlines()[1:]]
            remote = next((int(line[2].split(":")[1], 16) for line in lines if line[9] == number), None)
            local = any(number in line.split() for line in Path(f"/proc/{thread}/net/unix").read_text().splitlines())
            self._sockets[opened] = remote in self._ports or (local and self._group(thread) == self.process.pid)
        return self._sockets[opened]

    def _group(self, thread: int) -> int:
        if thread not in self._groups:
            status = Path(f"/proc/{thread}/status").read_text()
            self._groups[thread] = int(next(line for line in status.splitlines() if line.startswith("Tgid")).split()[1])
        return self._groups[thread]


def _program() -> bytes:
    """The filter: asks about the calls, and about ``openat`` where it makes or empties a file."""
    others = [number for name, number in CALLS.items() if name != "openat"]
    last = len(others) + 4  # the place of the instruction before the one that asks
    steps = [(_LOAD, 0, 0, 0)]
    steps += [(_EQUAL, last - place, 0, number) for place, number in enumerate(others, 1)]
    steps += [(_EQUAL, 0, 2, CALLS["openat"]), (_LOAD, 0, 0, 16 + 8 * 2), (_ANY_BIT, 1, 0, _MAKES)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ASK)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
