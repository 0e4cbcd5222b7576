"""Secrets are not shown: values that an address took from the environment, and what foreign texts say of passwords.

Every message of an error passes through ``hide_secrets``, and so does whatever a driver, a client or a server said.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from urllib.parse import quote, quote_plus

HIDDEN = "***"
_SHORTEST = 4
"""Characters of a value that is looked for; a shorter one stands in too many words."""
KNOWN_SECRETS: set[str] = set()
"""In all ways in which texts write them."""

_USER_INFO = re.compile(r"""(://[^\s/@:'"]*):(?!\$\w+@)[^\s'"]{1,200}@""")
_WORDS = "password|passwd|pwd|passphrase|secret|token|credential|api_?key|signature"
_NAMED = re.compile(rf"""(?i)((?:{_WORDS})[\w.-]{{0,40}}=)(?![$*…=])('[^']*'|"[^"]*"|[^\s&;,)'"]+)""")


def remember_secret(value: str, user: str = "") -> None:
    """Let no text that is shown have this value from now on, in any of the ways in which texts write it.

    Args:
        value: the secret.
        user: who has it as a password; the header of a request has both in base64.
    """
    if len(value) >= _SHORTEST:
        spelled = quote(value), quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1], repr(value)[1:-1]
        KNOWN_SECRETS.update((value, *spelled))
        KNOWN_SECRETS.add(b64encode(f"{user}:{value}".encode()).decode())


def hide_secrets(text: str) -> str:
    """A text in which known secrets, and parts that look like secrets, are hidden.

    Example:
        >>> hide_secrets("no route to http://me:pw@host/?token=abc, password='x y'")
        'no route to http://me:***@host/?token=***, password=***'
        >>> hide_secrets("write password=$NAME, as in http://me:$NAME@host/")
        'write password=$NAME, as in http://me:$NAME@host/'
    """
    for value in sorted(KNOWN_SECRETS, key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    return _NAMED.sub(rf"\1{HIDDEN}", _USER_INFO.sub(rf"\1:{HIDDEN}@", text))


def without_secrets(error: BaseException) -> BaseException | None:
    """The cause of an error that is shown; ``None`` where its own text, which a traceback has, shows a secret."""
    told: BaseException | None = error
    while told is not None:
        if (text := str(told)) != hide_secrets(text):
            return None
        told = told.__cause__ or told.__context__
    return error
