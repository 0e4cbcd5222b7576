"""The gate: what a folder stores passes it before it acts, that is before it is loaded, connected to, read or sent to.

Who wrote a folder is known by signatures (``signing``): of functions, of the targets of sinks, of the sources of
streams. What this user gave acts. What another user wrote acts only where the analyst trusts the folder, and never
with anything of this machine: a variable of the environment, a file with a key, a password that libpq finds. These are
named by who gives an address here, so ``add_sink`` or ``attach`` is to give it again.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

from workbench.errors import StreamError
from workbench.session.directory.signing import signature
from workbench.streams.addresses.address import kept_address, shown_address

NOT_YOURS = "it was not added by you, or was changed since"
NO_TRUST = "the session was opened without trust"


class Gate:
    """Which of the addresses in a folder may be followed.

    Args:
        session: gives the identity of the session, which the signature of a sink has: so a sink that its owner signed
            sends nothing from another folder.

    Attributes:
        trust: as ``Session.open`` was told: ``None`` lets act what this user gave, ``True`` more, ``False`` nothing.
    """

    def __init__(self, session: Callable[[], str | None] = lambda: None) -> None:
        self._session = session
        self.trust: bool | None = None

    def signed_sink(self, name: str, query: str, target: str) -> str | None:
        """This user's signature of a sink; ``None`` where no key can be kept."""
        return _signed("sink", self._session() or "", name, query, target)

    def signed_source(self, stream: str, source: str) -> str | None:
        """This user's signature of the source of a stream; ``None`` where no key can be kept."""
        return _signed("source", stream, source)

    def why_no_sink(self, name: str, query: str, target: str, signed: str | None) -> str:
        """Why the target of a sink is not to be used; "" when it may be."""
        return self._why_not(
            f"its target {shown_address(target)}", target, signed, self.signed_sink(name, query, target)
        )

    def why_no_source(self, stream: str, source: str, signed: str | None) -> str:
        """Why the source of a stream is not to be read; "" when it may be."""
        return self._why_not("source", source, signed, self.signed_source(stream, source))

    def _why_not(self, what: str, text: str, stored: str | None, own: str | None) -> str:
        is_own = stored is not None and own is not None and hmac.compare_digest(_bytes(stored), own.encode())
        if reason := why_not_trusted(self.trust, is_own):
            return f"its {what} {shown_address(text)} is not used: {reason}"
        if not is_own and (taken := of_this_machine(text)):
            named = f"its {what} {shown_address(text)} is not used"
            return f"{named}: it takes something of this machine ({taken}), which no folder may name"
        return ""


def why_not_trusted(trust: bool | None, is_own: bool) -> str:
    """Why something of a folder may not act; "" when it may.

    Args:
        trust: as ``Session.open`` was told.
        is_own: whether this user signed it.
    """
    if trust or (trust is None and is_own):
        return ""
    return NO_TRUST if trust is False else NOT_YOURS


def of_this_machine(text: str) -> str:
    """The secrets or files of this machine that a target or source takes, in words; "" for a path."""
    try:
        return kept_address(text).of_this_machine if "://" in text else ""
    except StreamError:
        return ""  # it is refused where it is used


def _signed(*parts: str) -> str | None:
    return signature(*map(_bytes, parts), new_key=True)


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
