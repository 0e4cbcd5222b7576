"""PARSE_URL in Spark: the parts of an address as ``java.net.URI`` reads it (RFC 2396); NULL of what is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from workbench.arrow.python_values import over_columns
from workbench.engine.physical.stored.kernels.kernel import Kernel, constant_text
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import Kind

_MARKS = r"A-Za-z0-9\-_.!~*'()"
_BLANKS = "\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_ELSE = rf"%[0-9A-Fa-f]{{2}}|[^\x00-\xa0{_BLANKS}]"
"""Two digits behind a sign, and what is beyond ASCII and no blank."""


def _signs(more: str) -> re.Pattern[str]:
    return re.compile(rf"(?:[{_MARKS}{more}]|{_ELSE})*")


_OF_PARTS, _OF_PATH = _signs(r";/?:@&=+$,\[\]"), _signs(":@&=+$,;/")
_OF_USER, _OF_NAMES, _OF_SERVER = _signs(";:&=+$,"), _signs("$,;:@&=+"), _signs(r";:&=+$,@\[\]")
_OF_SERVER_WITH_SCOPE = re.compile(rf"(?:[{_MARKS};:&=+$,@\[\]%]|[^\x00-\xa0{_BLANKS}])*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+\-.]*")
_WRONG_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SERVER = re.compile(r"(?:(?P<user>[^@/?#]*)@)?(?P<host>\[[^\]]*\]|[^:\[]*)(?::(?P<port>[0-9]*))?")
_NAME = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)*(?P<last>[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)\.?"
)
_BYTES = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)")
_GROUPS = re.compile(r"[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4})*")
_SCOPE = re.compile(r"[A-Za-z0-9_.]+")
_BYTES_OF_ADDRESS, _MOST_BYTE, _MOST_PORT = 16, 255, 2**31 - 1
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")


class _NoAddressError(ValueError):
    """A text is no address."""


@dataclass(frozen=True)
class _Address:
    """The parts of an address, as they are written; a missing part is ``None``."""

    scheme: str | None = None
    authority: str | None = None
    user: str | None = None
    host: str | None = None
    path: str | None = None
    query: str | None = None
    fragment: str | None = None

    @property
    def file(self) -> str | None:
        """The path and the query."""
        return self.path if self.query is None else f"{self.path}?{self.query}"


_PARTS: dict[str, Callable[[_Address], str | None]] = {
    "HOST": lambda address: address.host,
    "PATH": lambda address: address.path,
    "QUERY": lambda address: address.query,
    "REF": lambda address: address.fragment,
    "PROTOCOL": lambda address: address.scheme,
    "FILE": lambda address: address.file,
    "AUTHORITY": lambda address: address.authority,
    "USERINFO": lambda address: address.user,
}


def _read(text: str) -> _Address:
    """The parts of a text.

    Raises:
        _NoAddressError: it is no address.
    """
    rest, has_fragment, fragment = text.partition("#")
    scheme, colon, behind = _split_scheme(rest)
    parts = {"scheme": scheme, "fragment": _checked(_OF_PARTS, fragment) if has_fragment else None}
    if not colon:
        return _Address(**parts, **_hierarchical(rest, bool(has_fragment)))
    if behind.startswith("/"):
        return _Address(**parts, **_hierarchical(behind, bool(has_fragment)))
    if not behind:
        raise _NoAddressError
    _checked(_OF_PARTS, behind)
    return _Address(**parts)


def _split_scheme(text: str) -> tuple[str | None, bool, str]:
    """Split an address at the first colon that comes before any slash and question mark."""
    found = re.search("[/?:]", text)
    if found is None or found[0] != ":":
        return None, False, text
    return _checked(_SCHEME, text[: found.start()]), True, text[found.end() :]


def _checked(signs: re.Pattern[str], text: str) -> str:
    if signs.fullmatch(text) is None:
        raise _NoAddressError
    return text


def _hierarchical(text: str, has_fragment: bool) -> dict[str, str | None]:
    parts: dict[str, str | None] = {}
    if text.startswith("//"):
        end = re.compile("[/?]|$").search(text, 2)
        assert end is not None
        authority, text = text[2 : end.start()], text[end.start() :]
        if authority:
            parts |= _authority(authority)
        elif not text and not has_fragment:
            raise _NoAddressError
    path, mark, query = text.partition("?")
    parts["path"] = _checked(_OF_PATH, path)
    if mark:
        parts["query"] = _checked(_OF_PARTS, query)
    return parts


def _authority(text: str) -> dict[str, str | None]:
    """A server, or a name without a host."""
    in_brackets = text.find("]") > 0
    is_server = (_OF_SERVER_WITH_SCOPE if in_brackets else _OF_SERVER).fullmatch(text) is not None
    is_name = _OF_NAMES.fullmatch(text) is not None
    if not in_brackets and _WRONG_ESCAPE.search(text):
        raise _NoAddressError
    server = _server(text) if is_server else None
    if server is None and not is_name:
        raise _NoAddressError
    return {"authority": text, **(server or {})}


def _server(text: str) -> dict[str, str | None] | None:
    found = _SERVER.fullmatch(text)
    if found is None:
        return None
    user, host, port = found["user"], found["host"], found["port"]
    if (user is not None and _OF_USER.fullmatch(user) is None) or (port and int(port) > _MOST_PORT):
        return None
    is_host = _is_host_of_groups(host[1:-1]) if host.startswith("[") else _is_host(host)
    return {"user": user, "host": host} if is_host else None


def _is_host(host: str) -> bool:
    if _is_host_of_bytes(host):
        return True
    found = _NAME.fullmatch(host)
    return found is not None and (found.start("last") == 0 or not found["last"][0].isdigit())


def _is_host_of_bytes(host: str) -> bool:
    found = _BYTES.fullmatch(host)
    return found is not None and all(int(byte) <= _MOST_BYTE for byte in found.groups())


def _is_host_of_groups(host: str) -> bool:
    """Eight groups of digits, of which the last two may be four bytes, and some may be left out; then a scope."""
    host, mark, scope = host.partition("%")
    if mark and _SCOPE.fullmatch(scope) is None:
        return False
    left, shortened, right = host.partition("::")
    if not shortened:
        return _size_of_groups(left) == _BYTES_OF_ADDRESS
    sizes = [0 if not side else _size_of_groups(side, at == 1) for at, side in enumerate((left, right))]
    return -1 not in sizes and sum(sizes) < _BYTES_OF_ADDRESS


def _size_of_groups(text: str, has_bytes: bool = True) -> int:
    """The number of bytes of groups of digits; -1 where it is not one."""
    groups, _, last = text.rpartition(":")
    if has_bytes and _is_host_of_bytes(last):
        size = 4
        if not groups:
            return size
    else:
        groups, size = text, 0
    return -1 if _GROUPS.fullmatch(groups) is None else size + 2 * (groups.count(":") + 1)


def part_of_address(text: str, part: str, key: str | None = None) -> str | None:
    """PARSE_URL: a part of an address, or the value of a key of its query.

    Example:
        >>> part_of_address("https://a.example:80/b?c=1&d=2#e", "HOST")
        'a.example'
        >>> part_of_address("https://a.example/b?c=1&d=2", "QUERY", "d")
        '2'
    """
    try:
        address = _read(text)
    except _NoAddressError:
        return None
    if key is None:
        return _PARTS[part](address)
    if part != "QUERY" or address.query is None:
        return None
    found = re.search(rf"(?:&|^){key}=([^&]*)", address.query)
    return found[1] if found else None


def _parse_url(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    part, key = constant_text(call, 1) or "", constant_text(call, 2)
    return over_columns(lambda text: part_of_address(text, part, key), True, arguments[:1], pa.string())


def _is_read(call: Call) -> bool:
    """Whether part and key are constants, and the key, which is a pattern, has no special characters."""
    plain = len(call.arguments) < 3 or _PLAIN_KEY.fullmatch(constant_text(call, 2) or "") is not None
    return constant_text(call, 1) in _PARTS and plain and call.arguments[0].type.kind is Kind.STRING


ADDRESS_KERNELS = {"try_parse_url": Kernel(_parse_url, _is_read)}
"""By the name of the function."""
