"""Recognizes what was pasted with a query: prompts of shells, marks of code blocks, Python, other languages.

They are looked at where a text cannot be read, so nothing is refused that can be.
"""

from __future__ import annotations

import re

from workbench.errors import SqlError
from workbench.sql.syntax.source_text import SourceText

_QUERY = r"\s*(?:SELECT|WITH|FROM|CREATE|VALUES|--)"
_QUOTE = r"""[frbu]*(?:\"{3}|'{3}|["'])"""
_VERBS = (
    "where|filter|summari[sz]e|project|extend|mutate|take|limit|head|top|order|sort|arrange|count|join|select|distinct"
    "|group_?by|stats|fields|aggregate|query|agg|loc|iloc|merge|value_counts|sort_values|describe|withColumn"
)
_FENCE = "these are the marks of a block of code"
_OF_SHELL = "this is of the shell of another system"
_CLAUSES = "write SELECT … FROM {t}, with WHERE for filters and GROUP BY for groups"
_FORMS = (
    (r"\s*(?P<at>```|~~~)", _FENCE, "leave them out, at the beginning and at the end"),
    (rf"\s*(?P<at>(?:\w[\w.@:/-]*(?: ?\([\w-]+\))? ?[=-]?[#>$]|>>>|[>$]|D|In \[\d+\]:)){_QUERY}",
     "this is the prompt of a shell", "leave {at} out, in each line"),
    (rf"\s*(?P<at>(?:\w+ *(?:: *str *)?= *)?(?:[\w.]+\( *)?{_QUOTE}){_QUERY}", "this is Python",
     "the SQL stands alone in a cell: leave {at} out, and what closes it at the end"),
    (rf"\s*(?P<at>\w+(?: query)? ?:|sql|here(?: is|'s)\b.*|sure\b.*){_QUERY}", "this is no part of the query",
     "leave {at} out"),
    (rf"\s*(?P<at>1[.:)]?) {_QUERY}", "numbers of lines are no part of the query", "leave them out"),
    (rf"\s*(?P<t>[A-Za-z_]\w*)\s*(?P<at>\|>?|%>%)\s*(?:{_VERBS})\b", "rows are not piped", _CLAUSES),
    (rf"\s*(?P<t>[A-Za-z_]\w*)\s*(?P<at>\.)\s*(?:{_VERBS})\s*[(\[]", "methods are not chained", _CLAUSES),
    (r"\s*(?P<at>%%?(?:sql|argus)\b)", "a line of the notebook is no part of the query",
     "leave {at} out: %%argus NAME is the first line of the cell"),
    (r"\s*(?P<at>import \w+|from [\w.]+ import\b|def \w+ *\(|print *\()", "this is Python",
     "a cell of %%argus has SQL alone"),
    (r"[\s\S]*?(?P<at>```|~~~)\s*\Z", _FENCE, "leave them out"),
    (r"[\s\S]*[;\n]\s*(?P<at>GO|/|\\g\w*)\s*;?\s*\Z", _OF_SHELL, "leave {at} out"),
    (r"[\s\S]*(?P<at>\\g)\s*;?\s*\Z", _OF_SHELL, "leave {at} out"),
)  # fmt: skip
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), message, hint) for pattern, message, hint in _FORMS]


def pasted(source: SourceText) -> SqlError | None:
    """The error for what surrounds the SQL of a text that cannot be read; ``None`` where nothing is recognized.

    Example:
        >>> print(pasted(SourceText("mysql> SELECT a FROM t;")))
        syntax error: this is the prompt of a shell
          mysql> SELECT a FROM t;
          ^^^^^^
        hint: leave mysql> out, in each line
    """
    for pattern, message, hint in _PATTERNS:
        if found := pattern.match(source.sql):
            parts = {name: " ".join(part.split()) for name, part in found.groupdict().items()}
            return SqlError(f"syntax error: {message}", **source.span(*found.span("at")), hint=hint.format(**parts))
    return None
