"""Date formats: Oracle's and strftime's to the Java patterns that expressions carry."""

from __future__ import annotations

import re

_ORACLE = {"YYYY": "yyyy", "YY": "yy", "MM": "MM", "DDD": "DDD", "DD": "dd", "HH24": "HH", "HH12": "hh", "MI": "mm",
           "SS": "ss", "AM": "a", "PM": "a"}  # fmt: skip
_STRFTIME = {"Y": "yyyy", "y": "yy", "m": "MM", "-m": "M", "d": "dd", "-d": "d", "H": "HH", "-H": "H", "I": "hh",
             "M": "mm", "S": "ss", "f": "SSSSSS", "b": "MMM", "B": "MMMM", "a": "EEE", "A": "EEEE", "p": "a",
             "j": "DDD"}  # fmt: skip

_RESERVED = "{}[]#"
"""Characters with a meaning of their own in Java."""


def from_oracle(format_: str) -> str:
    """The Java pattern of an Oracle format model of digits, such as YYYYMMDD or HH24:MI:SS.

    Raises:
        ValueError: an element is not one of digits (names of months and days depend on the database's language).

    Example:
        >>> from_oracle("YYYY-MM-DD HH24:MI:SS")
        'yyyy-MM-dd HH:mm:ss'
    """
    parts = re.findall(r'"[^"]*"|YYYY|YY|MM|DDD|DD|HH24|HH12|MI|SS|AM|PM|[A-Za-z]+\d*|.', format_.upper(), re.S)
    result = []
    for part in parts:
        if part in _ORACLE:
            result.append(_ORACLE[part])
        elif part.startswith('"'):
            raise ValueError(f"quoted text in the date format {format_}")
        elif part[0].isalpha() or part in _RESERVED:
            raise ValueError(f"the element {part} of the date format {format_}")
        else:
            result.append("''" if part == "'" else part)
    return "".join(result)


def from_strftime(format_: str) -> str:
    """The Java pattern of a strftime format, as sqlglot keeps formats of other dialects.

    Raises:
        ValueError: a directive has no Java letter, or a letter stands for itself: most are elements that the parser
            does not know.

    Example:
        >>> from_strftime("%Y%mstrict%dstrict")
        'yyyyMMdd'
    """
    result = []
    for directive, other in re.findall(r"%(-?[A-Za-z])(?:strict)?|([^%])", format_, re.S):
        if other.isalpha() or (other and other in f"{_RESERVED}'\""):
            raise ValueError(f"the character {other} in a date format")
        if other:
            result.append(other)
        elif directive in _STRFTIME:
            result.append(_STRFTIME[directive])
        else:
            raise ValueError(f"the date format element %{directive}")
    return "".join(result)
