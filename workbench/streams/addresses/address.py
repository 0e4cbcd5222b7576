"""Addresses: ``scheme://user:$PASSWORD@host:port/path?option=value``.

An address is kept with the session and shown, so no secret may stand in it: a value ``$NAME`` is a variable of the
environment, read whenever a connection is opened. What an address may say is in ``kinds``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from workbench.errors import StreamError, nearest
from workbench.errors.secrets import HIDDEN, remember_secret
from workbench.streams.addresses.kinds import HTTP, KINDS, AddressKind

_VARIABLE = re.compile(r"\$[A-Za-z_]\w*", re.ASCII)
_CONNECTION_STRING = re.compile(r"(.*/)?\s*\w+\s*=\s*\S+(\s+\w+\s*=\s*\S+)+\s*")
_PLAIN = re.compile(r"[\w./:-]*", re.ASCII)
_HOSTS = re.compile(r"([\w.%-]*|\[[0-9A-Fa-f:.]+\])(:\d*)?(,([\w.%-]*|\[[0-9A-Fa-f:.]+\])(:\d*)?)*")
_SIGNS = "$*"
_HINT = (
    "it is like scheme://user:$PASSWORD@host:port/path?option=value, each option once; in a value %23 stands for #, "
    "%26 for &, %2F for /, %3F for ?, %40 for @"
)


@dataclass(frozen=True)
class Address:
    """An address whose options are all known.

    Attributes:
        kind, scheme: of it.
        user, password: as they are written; "" where there is none.
        hosts: ``host:port``, several with commas.
        path: with its slash, as it is written.
        options: names and values as they are written.
    """

    kind: AddressKind
    scheme: str
    user: str
    password: str
    hosts: str
    path: str
    options: Mapping[str, str]

    @property
    def secrets(self) -> tuple[str, ...]:
        """Its secrets that should be variables of the environment."""
        return tuple(part.name for part in self._parts() if part.is_secret and part.value and not part.is_variable)

    @property
    def of_this_machine(self) -> str:
        """The secrets or files that it takes of the machine where it is followed, in words; "" without any."""
        taken = [f"{part.name}={part.value}" if part.is_local else part.value for part in self._parts()
                 if part.is_local or part.is_variable]  # fmt: skip
        return ", ".join(filter(None, [*taken, self.kind.implied]))

    def with_environment(self) -> Address:
        """The address with the values of variables; those of secrets are never shown from now on.

        Raises:
            StreamError: a variable is not set.
        """
        found = self._with(_Part.from_environment)
        for written, part in zip(self._parts(), found._parts(), strict=True):
            if written.is_secret:
                remember_secret(part.value, found.user)
        return found

    def without_secrets(self) -> Address:
        """The address as it may be kept and shown."""
        return self._with(lambda part: HIDDEN if part.is_secret and part.value and not part.is_variable else part.value)

    def text(self, *without: str, user: bool = True) -> str:
        """The address.

        Args:
            without: options that are left out.
            user: whether it names the user and the password.
        """
        written = {name: value for name, value in self.options.items() if name not in without}
        who = quote(self.user, safe=_SIGNS) + (f":{quote(self.password, safe=_SIGNS)}" if self.password else "")
        where = f"{who}@{self.hosts}" if who and user else self.hosts
        more = f"?{urlencode(written, safe=_SIGNS + '/,:', quote_via=quote)}" if written else ""
        return f"{self.scheme}://{where}{self.path}{more}"

    def _parts(self) -> Iterator[_Part]:
        yield _Part("the user", self.user, self.kind.user_is_secret and not self.password)
        yield _Part("the password", self.password, True)
        for part in self.path.split("/"):
            yield _Part("a part of the path", part, bool(_VARIABLE.fullmatch(part)))
        for name, value in self.options.items():
            local = name in self.kind.local or (name == "host" and value.startswith("/"))
            yield _Part(name, value, not local and name not in self.kind.harmless, local)

    def _with(self, value_of: Callable[[_Part], str]) -> Address:
        """The address with other values of its parts."""
        user, password, *others = map(value_of, self._parts())
        steps = self.path.split("/")
        path = "/".join(old if old == new else quote(new, safe="") for old, new in zip(steps, others, strict=False))
        options = dict(zip(self.options, others[len(steps) :], strict=True))
        return replace(self, user=user, password=password, path=path, options=options)


@dataclass(frozen=True)
class _Part:
    """A part of an address, and whether it is a secret or names something of this machine."""

    name: str
    value: str
    is_secret: bool
    is_local: bool = False

    @property
    def is_variable(self) -> bool:
        return _VARIABLE.fullmatch(self.value) is not None

    def from_environment(self) -> str:
        if not self.is_variable:
            return self.value
        if (found := os.environ.get(self.value[1:])) is None:
            message = f"{self.name}: the environment has no variable {self.value[1:]}"
            raise StreamError(message, hint="set it, and try again")
        return found


def parse_address(text: str) -> Address:
    """The parts of an address, which may still have secrets.

    Raises:
        StreamError: it is no address, or has an option that its kind has not. No message repeats what may be secret.

    Example:
        >>> parse_address("kafka://localhost:9092/trades?key=id&fetch.min.bytes=1").options
        {'key': 'id', 'fetch.min.bytes': '1'}
    """
    scheme = text.partition("://")[0].lower()
    if (kind := KINDS.get(scheme)) is None:
        raise StreamError(f"{scheme}:// is no address that is known", hint=f"there are {', '.join(KINDS)}")
    try:
        parts = urlsplit(text)
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:  # its text repeats what it was given
        raise StreamError(f"the address {scheme}://… cannot be read", hint=_HINT) from None
    who, _, hosts = parts.netloc.rpartition("@")
    user, _, password = who.partition(":")
    options = dict(pairs)
    if not _HOSTS.fullmatch(hosts) or "@" in parts.path or "#" in text or len(options) < len(pairs):
        raise StreamError(f"the address {scheme}://… cannot be read", hint=_HINT)
    if who and not kind.user:
        raise StreamError(
            f"{scheme}:// has no user", hint="leave it out: options say who connects, where there are any"
        )
    _check_options(scheme, kind, options)
    return Address(kind, scheme, unquote(user), unquote(password), hosts, parts.path, options)


def kept_address(text: str) -> Address:
    """The parts of an address that may be kept and shown.

    Raises:
        StreamError: as ``parse_address``, or a secret stands in it.
    """
    address = parse_address(text)
    if secrets := address.secrets:
        places = {"the password": f"{address.scheme}://user:$NAME@host", "the user": f"{address.scheme}://$NAME@host"}
        written = places.get(secrets[0], f"{secrets[0]}=$NAME")
        hint = f"{written} takes it from the environment whenever a connection is opened"
        if address.kind.implied:
            hint = f"leave it out: libpq takes it from PGPASSWORD or ~/.pgpass; or {hint}"
        raise StreamError(f"{secrets[0]} would be kept with the session and shown", hint=hint)
    return address


def usable_url(url: str) -> str:
    """A URL that is read once and not kept, with the values of variables; what is secret in it is not shown.

    Raises:
        StreamError: a variable is not set, or the URL of a web server cannot be read.
    """
    if KINDS.get(url.partition("://")[0].lower()) is HTTP and "$" in url:
        return parse_address(url).with_environment().text()
    place, _, options = url.partition("?")
    user, _, password = place.partition("://")[2].rpartition("@")[0].partition(":")
    for value in (password, *(option.partition("=")[2] for option in options.split("&"))):
        remember_secret(unquote(value), unquote(user))
    return url


def check_no_connection_string(text: str) -> None:
    """Refuse a connection string, which would be taken for a path, kept and shown.

    Raises:
        StreamError: it is one.
    """
    if _CONNECTION_STRING.fullmatch(text):
        hint = "write an address, as in postgresql://user:$PASSWORD@host/database?table=fees"
        raise StreamError("a connection string (host=… user=…) is no path", hint=hint)


def shown_address(text: str) -> str:
    """An address, or a path, without secrets.

    Example:
        >>> shown_address("https://me:pw@host/fees.csv?sig=abc"), shown_address("in/*.csv")
        ('https://me:***@host/fees.csv?sig=***', 'in/*.csv')
    """
    if "://" not in text:
        return text
    try:
        address = parse_address(text)
        return address.without_secrets().text() if address.secrets else text
    except StreamError:
        scheme, _, rest = text.partition("://")
        place, _, options = rest.partition("?")
        *who, where = place.rsplit("@", 1)
        return f"{scheme}://{f'{HIDDEN}@' * len(who)}{where}{f'?{HIDDEN}' if options else ''}"


def _check_options(scheme: str, kind: AddressKind, options: Mapping[str, str]) -> None:
    known = kind.harmless | kind.local | kind.secret
    for name, value in options.items():
        if name not in known and not kind.free:
            hint = nearest(name, known) or "it is on no list of options that load nothing and run nothing"
            raise StreamError(f"{scheme}:// has no option {name}", hint=hint)
        if "://" in value and name in kind.harmless and not _PLAIN.fullmatch(value):
            raise StreamError(f"{name} is an address with a user or options", hint="leave them out")
        if name.startswith("sasl.kerberos.") and not _PLAIN.fullmatch(value.replace("@", "")):  # a shell reads it
            raise StreamError(f"{name} has signs that no name of Kerberos has", hint="letters, digits and . / @ : -")
