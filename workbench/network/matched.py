"""Values of matches of MATCH_RECOGNIZE as SQL for analysts."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.sql.algebra.patterns import MatchPattern, Navigation


def matched_sql(pattern: MatchPattern, value: Navigation, arguments: Sequence[str]) -> str:
    """A value of a match, as its MEASURES have it.

    Args:
        pattern: what matches.
        value: what of the match it is.
        arguments: of the call, as SQL.
    """
    match value.found:
        case "state":
            return f"MATCH_RECOGNIZE({', '.join(pattern.variables)})"
        case "number" | "classifier":
            return {"number": "MATCH_NUMBER()", "classifier": "CLASSIFIER()"}[value.found]
    read = arguments[value.argument] if value.argument >= 0 else "*"
    of = [pattern.variables[number] for number in value.variables]
    named = f"{of[0]}.{read}" if len(of) == 1 else read
    return f"{value.found.upper()}({named}{f', {value.offset}' if value.offset else ''})"
