"""How the text of a file is encoded, found out from its beginning, and its lines in UTF-8."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Iterator
from io import TextIOWrapper

from workbench.errors import StreamError
from workbench.streams.files.opening import SourceFile

UTF_8, UTF_16, WINDOWS = "utf-8", "utf-16", "cp1252"
_LOOKED_AT = 1 << 20
_SIGNS = "€£§°µ²³½¼¾®©™·•–—…’¿¡×÷ \u00a0"
"""Signs beyond ASCII that stand in texts by themselves."""
_QUOTES = "„‚‹›“”‘«»"
"""Those that stand before or after a word: within one they are letters of another encoding."""


def encoding_of(data: bytes) -> str:
    """The encoding of a text: UTF-8, also where a few of its lines are damaged, unless all says that it is another."""
    if utf_16 := utf_16_of(data):
        return utf_16
    try:
        data.decode()
        return UTF_8
    except UnicodeDecodeError:
        pass
    high = [line for line in data.split(b"\n") if not line.isascii()]
    try:
        texts = [line.decode(WINDOWS) for line in high]
    except UnicodeDecodeError:
        return UTF_8
    return WINDOWS if not any(map(_is_utf_8, high)) and all(map(_is_likely, texts)) else UTF_8


def utf_16_of(data: bytes) -> str:
    """UTF-16 where a text is in it; of one without a mark every other byte is mostly 0."""
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return UTF_16
    even, odd = (data[start:_LOOKED_AT:2].count(0) * 2 / max(len(data[:_LOOKED_AT]), 1) for start in (0, 1))
    if max(even, odd) < 0.5 or min(even, odd) > 0.05:
        return ""
    return f"{UTF_16}-le" if odd > even else f"{UTF_16}-be"


def _is_utf_8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_likely(text: str) -> bool:
    """Whether letters beyond ASCII are inside words, as in a text that is read in the right encoding."""
    return all(
        sign in _SIGNS
        or (sign in _QUOTES and not (text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalpha()))
        or (sign.isalpha() and any(near.isascii() and near.isalpha() for near in text[max(0, at - 1) : at + 2]))
        for at, sign in enumerate(text)
        if not sign.isascii()
    )


def lines_of(file: SourceFile, encoding: str, longest: int) -> Iterator[bytes]:
    """The lines of a file in UTF-8, of one that is too long its beginning. One that is no text is no UTF-8 either.

    Args:
        file: open, at its beginning.
        encoding: of it.
        longest: bytes of a line.

    Raises:
        StreamError: it is damaged.
    """
    try:
        if encoding == UTF_8:
            yield from _lines(file.readline, longest)
        else:
            text = TextIOWrapper(file, encoding, errors="surrogatepass", newline="\n")
            yield from _lines(lambda most: text.readline(most).encode(errors="surrogatepass"), longest)
    except (EOFError, OSError, zlib.error, UnicodeError) as error:
        raise StreamError(f"the lines cannot be read: {error}", hint="copy or write the file again") from error


def _lines(read: Callable[[int], bytes], longest: int) -> Iterator[bytes]:
    while line := read(longest):
        yield line
        while len(line) >= longest and not line.endswith(b"\n"):
            line = read(longest)
