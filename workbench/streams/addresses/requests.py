"""Requests to the web servers that addresses name, without redirects.

A redirect would make a GET without rows of a POST, or give rows and secrets to another server.
"""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from http.client import HTTPResponse
from urllib.parse import urljoin, urlsplit, urlunsplit

from workbench.errors import SessionError
from workbench.streams.addresses.address import Address

_OF_SESSIONS = re.compile(r"^(poll|lookup)\+")
"""Begins the scheme of an address that is asked by a session."""


def send(
    given: Address, *without: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, timeout: float
) -> HTTPResponse:
    """Send a request, a POST where it has a body, and return the answer, which the caller closes.

    Args:
        given: the address, whose variables are read now; its user and password become Basic authentication.
        without: options of it that are none of the server's.
        body, headers: of the request.
        timeout: seconds that the server has for each step.

    Raises:
        StreamError: a variable is not set.
        SessionError: the answer is a redirect.
        HTTPError: the answer is no success; the caller closes it.
        OSError: the server cannot be reached.
    """
    address, headers = given.with_environment(), {**(headers or {})}
    if address.user:
        headers["Authorization"] = f"Basic {b64encode(f'{address.user}:{address.password}'.encode()).decode()}"
    url = _OF_SESSIONS.sub("", address.text(*without, user=False))
    request = urllib.request.Request(url, body, headers, method="GET" if body is None else "POST")
    try:
        answer: HTTPResponse = _opener().open(request, timeout=timeout)
        return answer
    except urllib.error.HTTPError as refusal:
        if 300 <= refusal.code < 400 and not (refusal.code == 304 and body is None):
            with refusal:
                there = urlsplit(urljoin(_OF_SESSIONS.sub("", given.text()), refusal.headers.get("Location", "")))
            to = urlunsplit((there.scheme, there.netloc.rpartition("@")[2], there.path, "", ""))
            hint = f"only the address that was given is followed; give {to} if it is the right one"
            raise SessionError(f"the answer is {refusal.code}, a redirect to {to}", hint=hint) from None
        raise


def _opener() -> urllib.request.OpenerDirector:
    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler, urllib.request.HTTPHandler, urllib.request.HTTPSHandler,
                    urllib.request.HTTPDefaultErrorHandler, urllib.request.HTTPErrorProcessor):  # fmt: skip
        opener.add_handler(handler())
    return opener
