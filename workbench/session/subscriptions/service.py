"""The ports at which a session's answers are served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from workbench.errors import EnvironmentProblem, SessionError
from workbench.session.subscriptions.events import Subscriptions
from workbench.session.subscriptions.pages import QUERIES_PATH, AnswerPages
from workbench.web.listening import LOOPBACK, Endpoint, listen


@dataclass(frozen=True)
class ServedAnswers:
    """Ports that answers are read from, until it is closed.

    Attributes:
        url: of the list of queries, over HTTP.
        flight_url: for clients of Arrow Flight; ``None`` where that was not asked for.
    """

    url: str
    flight_url: str | None
    _subscriptions: Subscriptions
    _endpoint: Endpoint
    _flights: Any

    def close(self) -> None:
        """Serve no more."""
        if self in self._subscriptions.ports:
            self._subscriptions.ports.remove(self)
        self._endpoint.close()
        if self._flights is not None:
            self._flights.shutdown()


def serve_answers(
    subscriptions: Subscriptions,
    port: int = 0,
    host: str = LOOPBACK,
    token: str | None = None,
    flight: int | None = None,
) -> ServedAnswers:
    """Serve answers; arguments and errors as ``Session.serve``."""
    endpoint = listen(AnswerPages(subscriptions), QUERIES_PATH, port, host, token)
    flights = None
    try:
        if flight is not None:
            flights = _flights(subscriptions, host, flight, token)
    except BaseException:
        endpoint.close()
        raise
    served = ServedAnswers(endpoint.url, None if flights is None else flights.url, subscriptions, endpoint, flights)
    subscriptions.ports.append(served)
    return served


def _flights(subscriptions: Subscriptions, host: str, port: int, token: str | None) -> Any:
    try:
        from workbench.session.subscriptions.flight import AnswerFlights  # some builds of pyarrow have none

        return AnswerFlights(subscriptions, host, port, token)
    except ImportError:
        raise EnvironmentProblem("this pyarrow has no Flight", hint="pip install pyarrow") from None
    except (pa.ArrowException, OSError) as problem:
        message = f"nothing can listen at port {port} for Arrow Flight: {problem}"
        raise SessionError(message, hint="0 takes a port that is free") from problem
