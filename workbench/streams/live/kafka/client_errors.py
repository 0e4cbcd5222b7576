"""Errors that Kafka's client logs: its exceptions often say no more than that the time is over."""

from __future__ import annotations

from typing import Any

from workbench.errors import StreamError

_WAIT = "check the address and the broker; a stream that was added asks again"
_REJECTED = "check the user and the password in the address ($NAME is the environment's), then attach it again"


class ClientErrors:
    """Remembers why the client cannot go on; its ``remember`` is the client's ``error_cb``.

    A rejected password is remembered above all: what follows, such as a connection that was closed, says less.
    """

    def __init__(self) -> None:
        self._said, self._rejected = "", False

    def remember(self, error: Any) -> None:
        """Keep an error that the client calls back with."""
        rejected = error.name() == "_AUTHENTICATION"
        if error.name() != "_ALL_BROKERS_DOWN" and (rejected or not self._rejected):
            self._said, self._rejected = error.str(), rejected

    def forget(self) -> None:
        """An answer came."""
        self._said, self._rejected = "", False

    def unreachable(self, where: str, raised: Any) -> StreamError:
        """The error that an analyst sees.

        Args:
            where: which topic of which broker.
            raised: the client's exception.
        """
        hint = _REJECTED if self._rejected else _WAIT
        return StreamError(f"{where} cannot be reached: {self._said or raised.args[0].str()}", hint=hint)
