"""Syntax of other languages and of spreadsheets, and how it is written here.

The parser stumbles over a word; the words around it say what was meant. Each slip is a pattern of the text in which
``‸`` stands before that word, and a hint with the parts that the pattern names; a name in capitals is put in capitals.
The part ``at`` is the word that the error points at, where it is another one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

TIME_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR")
"""Units of lengths of time."""
_AROUND = 40
"""Words before and after the one that the parser stumbles over, among which a slip is looked for."""
_BACKTICKS = 'names stand in double quotes in this dialect: "name"; in backticks in spark and bigquery'
_STRAIGHT = "a text stands in straight quotes: 'a'"
_POINT = "a number has a point before its fraction and nothing between thousands: 1000.50"
_EXISTS = "a query stands in its parentheses: EXISTS (SELECT 1 FROM {t} WHERE …)"
_NO_SIGN = "a number has no sign of a currency: write {n}"
_SLIPS = (
    # The first rows.
    (r"SELECT TOP ?\(? ?‸?(?P<n>\d+) ?\)? ?‸?PERCENT\b",
     "leave TOP out; QUALIFY PERCENT_RANK() OVER (ORDER BY …) < {n} / 100.0 at the end keeps that share"),
    (r"SELECT (?P<word>TOP|FIRST(?! ?\()) ?\(? ?‸?(?P<n>\d+)", "leave {WORD} out, and write LIMIT {n} at the end"),
    (r"(?:\bWINDOW (?=\w+ ?\()|\[ ?(?=\w+ \d))(?P<at>TUMBLING|HOPPING|SESSION|SIZE|RANGE|ROWS)\b.*‸",
     "windows are groups here: write GROUP BY TUMBLE(t, INTERVAL '1' HOUR)"),
    (r"(?P<at>\$)‸?(?: ?‸?\{)? ?__\w+ ?‸?",
     "a macro of Grafana: write what it stands for, as t > now() - INTERVAL '1' HOUR"),
    (r"^(?!SELECT\b|WITH\b|CREATE\b)\w+ ‸?SELECT\b", "a query begins with SELECT"),
    (r"‸TOP (?P<n>\d+)$", "write LIMIT {n}"),
    (r"‸WITH TIES\b", "QUALIFY RANK() OVER (ORDER BY …) <= 3 keeps ties; FETCH FIRST 3 ROWS WITH TIES does"),
    (r"\bAS \w+ ?‸(?:\||AND\b)", "a comma stands between columns"),
    (r"‸\| ?(?:\w+)", "there are no pipes here: conditions stand in WHERE, the first rows has LIMIT"),
    # Numbers and lengths of time.
    (r"\d,‸\d", _POINT),
    (r"(?P<n>\d+)‸[€£¥$]", _NO_SIGN),
    (r"‸[€£¥] ?(?P<n>[\d.]+)", _NO_SIGN),
    (r"\$‸(?P<n>[\d.]+)", _NO_SIGN),
    (rf"\b(?P<f>LAG|LEAD) ?\( ?(?P<x>[\w.]+) ?, ?(?P<n>\d+) ‸(?:{'|'.join(TIME_UNITS)})S?\b",
     "{F} goes by rows: write {F}({x}, {n}); a length of time stands in RANGE BETWEEN INTERVAL"),
    *((rf"\bDATE_?{name} ?\( ?(?P<t>\w+(?: ?\(\))?) ?, ?(?P<n>\d+) ?‸(?P<unit>{'|'.join(TIME_UNITS)})S?\b",
       f"write {{t}} {sign} INTERVAL '{{n}}' {{UNIT}}") for name, sign in (("ADD", "+"), ("SUB", "-"))),
    (rf"(?P<n>\d+) ?‸(?P<unit>{'|'.join(TIME_UNITS)})S?\b", "write INTERVAL '{n}' {UNIT}"),
    (rf"(?P<n>\d+) (?P<unit>{'|'.join(TIME_UNITS)})S? ‸", "write INTERVAL '{n}' {UNIT}"),
    (r"(?P<n>[\d.]+) ?(?:% ?‸|‸%)", "% is the remainder of a division: {n} percent is {n} / 100"),
    *((rf"\b(?P<n>\d+)‸?{letter}\b", f"a length of time is INTERVAL '{{n}}' {unit}, and ago is NOW() - INTERVAL")
      for letter, unit in {"s": "SECOND", "m": "MINUTE", "h": "HOUR", "d": "DAY", "w": "WEEK"}.items()),
    (r"‸# ?(?P<day>\d{4}-\d\d?-\d\d?) ?#", "a date stands in quotes: '{day}'"),
    (rf"\bIN (?:THE )?LAST ‸(?P<n>\d+) (?P<unit>{'|'.join(TIME_UNITS)})S?\b",
     "write t > now() - INTERVAL '{n}' {UNIT}"),
    (rf"\b(?P<t>\w+) (?:(?:IN|IS) )?(?:THE )?‸?(?:LAST|PAST|PREVIOUS|THIS) ‸?(?P<unit>{'|'.join(TIME_UNITS)})\b",
     "write t > NOW() - INTERVAL '1' {UNIT}"),
    (r"(?P<hour>\d\d?) ?‸: ?(?P<minute>\d\d)\b", "a time of day stands in quotes: '{hour}:{minute}'"),
    (rf"\bEVERY ‸(?P<n>\d+) (?P<unit>{'|'.join(TIME_UNITS)})S?\b", "write TUMBLE(t, INTERVAL '{n}' {UNIT})"),
    (r"\bPER ‸(?P<group>\w+)", "write GROUP BY {group}"),
    (r"(?<!GROUP)(?<!ORDER)(?<!PARTITION)(?<!SORT) BY ‸(?P<group>\w+)", "write GROUP BY {group} at the end"),
    (r"\bSELECT STREAM \* ?‸", "leave STREAM out"),
    (r"(?P<length>'[^']*') ‸ago\b", "write NOW() - INTERVAL {length}"),
    (r"\bAT ‸'|‸AT '", "write AT TIME ZONE 'Europe/Berlin', in spark CONVERT_TIMEZONE('UTC', 'Europe/Berlin', t)"),
    (r"\bSKIP ‸(?P<n>\d+)", "write OFFSET {n} at the end"),
    (r"AT ‸TIMEZONE", "as in t AT TIME ZONE 'Europe/Berlin'"),
    (r"%‸s\b", "in Python write the value into the text, f'… > {{value}}'; in a cell :name is that of a variable"),
    # Signs of programming languages, and those that word processors put in the place of others.
    (r"&& ?‸|‸&&", "write AND"),
    (r"‸=>", "write >= for at least"),
    (r"[–—]\S* ?‸|‸[^ ]*[–—]", "this is a dash: minus is -"),
    (r"−\S* ?‸|‸[^ ]*−", "this is another minus: write -"),
    (r"≤\S* ?‸|‸[^ ]*≤", "write <="),
    (r"≥\S* ?‸|‸[^ ]*≥", "write >="),
    (r"≠\S* ?‸|‸[^ ]*≠", "write <>"),
    (r"[‘’“”]\S* ?‸|‸[^ ]*[‘’“”]", _STRAIGHT),
    (r"‸#|/‸/|‸//", "a comment begins with --"),
    (r"[=<>(,] ?(?:‸ ?)?(?P<text>(?:/ ?‸?\w+ ?‸?)+)", "a text stands in quotes: '{text}'"),
    (r"\bOVER ?\((?:[^‸]*\bORDER BY [^‸()]*| ?(?:LAST|PREVIOUS|PAST) )‸(?:LAST|PREVIOUS|PAST|PRIOR|\d)",
     "a frame is as in ORDER BY t ROWS BETWEEN 6 PRECEDING AND CURRENT ROW"),
    (r"==‸=|‸===?|‸:=", "write = for equal"),
    (r"(?<![<>!])(?P<at>=) ?<[^‸]{0,20}‸", "there is no sign =<: write <= for at most"),
    (r"‸(?P<sign>EQ|NEQ?|GTE?|GE|LTE?|LE)\b", "write = for equal, <> for not equal, < for less, > for more"),
    (r"‸(?:EQUALS?|IS EQUAL(?: TO)?)\b", "write = for equal"),
    (r"!‸>|‸!>", "write <= for at most"),
    (r"!‸<|‸!<", "write >= for at least"),
    (r"\bEND ‸ELSE\b", "ELSE stands before END, which ends CASE"),
    (r"(?P<sign>[<>]) ‸=|(?P<at>[<>]) = [^‸]{0,20}‸", "write {sign}= in one"),
    (r"(?P<at>=) > ?[^‸]{0,20}‸", "write >= for at least"),
    (r"< ‸>", "write <> in one, for not equal"),
    (r"\bELSE ‸IF\b", "another condition is another WHEN: CASE WHEN … THEN … WHEN … THEN … ELSE … END"),
    (r"\? [^‸]*‸:|‸\?|(?:'[^']*'|\w) ‸?IF (?!\().*\bELSE\b", "write CASE WHEN … THEN … ELSE … END"),
    (r"\bORDER BY [^‸()]*‸(?:NULLS?|FIRST|LAST)\b", "write NULLS FIRST or NULLS LAST"),
    (r"\bIF (?! ?\()[^‸]*‸.*\bTHEN\b", "IF … THEN is no expression: write CASE WHEN … THEN … ELSE … END"),
    (r"\bIS ‸?(?P<sign>[<>=!]+)|‸IS ?(?P<sign_>[<>=!]+)", "leave IS out: it stands before NULL, TRUE and FALSE"),
    *((rf"\b{most} ?\( ?(?P<x>[\w.]+) ?\) (?:‸AT|AT ‸) ?(?P<t>[\w.]+)",
       f"{most}_BY({{t}}, {{x}}) is {{t}} of the row with that {{x}}; in postgres "
       f"(ARRAY_AGG({{t}} ORDER BY {{x}}{order}))[1] is") for most, order in (("MAX", " DESC"), ("MIN", ""))),
    # Names and queries.
    (r"\{ ?‸?\{ ?‸?(?:REF|SOURCE) ?‸?\( ?(?:'[^']*', ?)?'(?P<t>[^']*)' ?\)",
     "a template of dbt: write the name alone, {t}"),
    (r"\{ ?‸?\{ ?‸?\w*|\{ ?‸?% ?‸?\w*", "a template of another tool: write what it stands for"),
    (r"\b(?:FROM|JOIN|AS) ‸\[ ?(?P<name>\w+) ?\]", "names stand in no brackets: write {name}"),
    (r"\b(?P<at>EMIT) ‸(?:CHANGES|FINAL)\b", "leave it out: every answer follows its rows"),
    (r"^CREATE (?:OR REPLACE )?VIEW ‸AS\b", "a view has a name: CREATE VIEW v AS SELECT …"),
    (r"^(?P<name>\S+) AS ‸SELECT\b", "%%argus {name} names a query, and CREATE VIEW {name} AS SELECT … a view"),
    (r"\) ?(?P<name>\w+) AS ?\( ?‸", "is a comma missing before {name}?"),
    (r"(?P<op>UNION|INTERSECT|EXCEPT|MINUS)( ALL| DISTINCT)? ‸(?P<t>(?!ALL$|DISTINCT$)\w+)$",
     "{OP} stands between two queries: {OP} SELECT * FROM {t}"),
    (r"\bMINUS ‸SELECT\b|‸MINUS SELECT\b", "write EXCEPT"),
    (r"\bKEEP ‸\(", "MAX_BY(x, t) takes x at the greatest t, MIN_BY(x, t) at the least"),
    (r"SELECT ‸UNIQUE (?!,)", "write DISTINCT"),
    (r"‸(?P<word>FROM|JOIN)$", "name a stream, table or query after {WORD}"),
    (r"\bAS OF ‸", "an answer is over all rows so far; query.result(batch=3) is that after a batch"),
    (r"\bWATERMARK\b.*‸", "--lateness '5 minutes' of %argus stream says how late its rows may be"),
    (r"FROM \w+(?: \w+)? ‸WITH \w+ AS\b", "WITH stands before SELECT"),
    (r"\bWITH (?:RECURSIVE )?(?P<name>\w+) ‸SELECT\b", "write WITH {name} AS (SELECT …)"),
    (r"`‸|‸`", _BACKTICKS),
    (r"\b\w+(?:‸:|:‸)\w+|\b\w+:\w+‸", "a field of a struct is behind a dot: s.x; of JSON, functions have it"),
    (r"\) (?P<one>(?!SELECT\b)\w+) ‸(?P<two>\w+) ?(?:,|FROM\b)", "a name is one word: AS {one}_{two}"),
    (r"\bAS (?P<one>\w+) ‸?(?P<two>\w+) ‸?(?P<three>\w+) ?(?:,|FROM\b)", "a name is one word: AS {one}_{two}_{three}"),
    (r"\bAS (?P<one>\w+) ‸(?P<two>\w+) ?(?:,|FROM\b)",
     "a name is one word: AS {one}_{two}; or is a comma missing before {two}?"),
    # Clauses of other systems.
    (r"(?:‸|(?=\w+ ‸))PREWHERE\b.*\bWHERE\b", "write WHERE, and AND in the place of the second"),
    (r"(?:‸|(?=\w+ ‸))PREWHERE\b", "write WHERE"),
    (r"(?:‸|(?=\w+ ‸))(?P<word>SETTINGS|FORMAT|OPTION|INTO|FINAL|SAMPLE|DISTRIBUTED|ENGINE)\b",
     "{WORD} is of another system: leave it out, and what belongs to it"),
    (r"(?:‸|(?=\w+ ‸))(?P<word>SUMMARI[SZ]E|EXTEND|PROJECT|PIPE|COLLECT|YIELD|RETURN)\b",
     "{WORD} is of another language: columns stand behind SELECT, groups behind GROUP BY"),
    (r"\b(?P<clause>GROUP|ORDER) BY [^‸()]*(?:\([^()‸]*\)[^‸()]*)*‸AS (?!FROM\b)(?P<name>\w+)",
     "a name stands in the select list: SELECT … AS {name} … {CLAUSE} BY {name}"),
    (r"\bWITHIN ‸\(|‸WITHIN \(", "write WITHIN GROUP (ORDER BY …)"),
    (r"\bSORT(?:ED)? ‸|‸SORT(?:ED)? BY\b", "write ORDER BY"),
    (r"\bLIMIT (?:TOP|FIRST|ONLY) ‸?(?P<n>\d+)", "write LIMIT {n}"),
    (r"^FROM [^‸()]*\b(?:WHERE|GROUP|ORDER|JOIN)\b[^‸]*‸SELECT\b", "SELECT stands first: SELECT … FROM … WHERE …"),
    # Joins.
    (r"\bFROM [^‸()]*, ?\w+(?: AS)?(?: \w+)? ‸ON\b", "write JOIN in the place of the comma: FROM t JOIN u ON …"),
    (r"‸(?P<join>LEFT|RIGHT|FULL) OUTER (?!JOIN)", "write {JOIN} OUTER JOIN"),
    (r"‸(?P<join>LEFT|RIGHT|FULL|INNER|CROSS|NATURAL) \w+(?: ON| USING|$)", "write {JOIN} JOIN"),
    (r"JOIN \w+(?: \w+)? ‸WITH\b", "the condition of a join stands behind ON"),
    (r"\bON\b(?:(?!\bJOIN\b)[^‸])*‸ON\b", "a JOIN has one ON: write AND between its conditions"),
    (r"JOIN\b[^‸]*\bWHERE\b[^‸]*‸ON\b", "ON stands behind the table of its JOIN, before WHERE"),
    (r"JOIN (?:\w+ ){1,2}‸(?P<t>\w+) ?\.", "is ON missing before {t}?"),
    # Conditions.
    (r"\b(?P<at>AND|OR) ‸(?:\w+ )?JOIN\b", "a join follows the condition: leave {at} out"),
    (r"\b(?P<op>AND|OR) ‸WHERE\b", "WHERE stands once: leave it out behind {OP}"),
    (r"\b(?P<clause>GROUP BY|ORDER BY|WHERE|AND|OR|,) ?‸(?P<next>HAVING|WHERE|GROUP BY|ORDER BY|LIMIT|FROM)\b",
     "something is missing between {clause} and {NEXT}"),
    (r"(?P<f>\w+) ?\([^()‸]*\) WHERE [^‸]*‸FROM\b", "the condition of one aggregate stands in FILTER: "
     "{F}(…) FILTER (WHERE …)"),
    (r"\b(?P<f>RANK|DENSE_RANK|PERCENT_RANK|CUME_DIST|ROW_NUMBER) ?\( ?(?P<key>[\w.]+) ‸(?P<way>DESC|ASC)\b",
     "write {F}() OVER (ORDER BY {key} {WAY})"),
    (r"\bEXTRACT ?\( ?‸?'(?P<part>\w+)' ?‸?(?P<time>[\w.]+)", "write EXTRACT({PART} FROM {time})"),
    (r"\bEXTRACT ?\( ?‸(?P<part>\w+) (?P<time>(?!FROM\b)\w+)", "write EXTRACT({PART} FROM {time})"),
    (r"\b(?:WHERE|ON) [^‸()]*, ?[\w.]+ ?‸[=<>]", "write AND between conditions"),
    (r"\b(?:ORDER|GROUP) BY (?:(?!HAVING|QUALIFY|WHERE|ROWS|RANGE)[^‸])*‸AND\b", "write a comma between the columns"),
    (r"\.‸\.|‸\.\.", "of a range write BETWEEN 1 AND 2"),
    (r"\bBETWEEN ?(?P<at>\()[^()‸]* AND [^()‸]*(?:\) ?‸|‸\))",
     "write its two ends without parentheses: BETWEEN 1 AND 2"),
    (r"\bWITHIN GROUP ?(?P<at>\() ?‸(?P<value>\w+)", "write WITHIN GROUP (ORDER BY {value})"),
    (r"BETWEEN \S+? ?‸,", "write AND between the two: BETWEEN 1 AND 2"),
    (r"\bLIKE (?:[^'‸ ]+ ?){0,2}‸", "a pattern is a text, in which % stands for anything: LIKE '%a%'"),
    (r"(?P<value>\w+) (?:‸CONTAINS\b|CONTAINS ‸)",
     "write {value} LIKE '%a%', of an array ARRAY_CONTAINS({value}, 'a')"),
    (r"(?:\bIS ‸?|‸|(?=\w+ ‸))(?:OVER (?=‸?\d)|(?:ABOVE|MORE|GREATER|LARGER|BELOW|UNDER|LESS|SMALLER|"
     r"(?<=‸)AT (?:LEAST|MOST))\b(?! ?\())",
     "write > for more, < for less, >= for at least"),
    (r"\bIS ‸?(?P<op>IN|LIKE|BETWEEN)\b ?‸?", "leave IS out: write {OP}"),
    (r"(?P<value>\w+) ‸(?:STARTS|BEGINS)\b", "write {value} LIKE 'a%'"),
    (r"(?P<value>\w+) ‸MATCH(?:ES)?\b", "write REGEXP_LIKE({value}, 'a')"),
    (r"(?P<value>\w+) ‸ENDS\b", "write {value} LIKE '%a'"),
    (r"\bORDER BY [^‸]* LIMIT \d+ ‸(?P<way>DESC|ASC)\b", "write {WAY} before LIMIT"),
    (r"(?P<f>\w+) ?\( ?(?P<x>[\w.]+) ‸OVER\b", "write {F}({x}) OVER (…)"),
    (r"EXISTS ?\( ?(?P<t>(?!SELECT|WITH|FROM)\w+) ‸", _EXISTS),
    (r"EXISTS ‸(?:SELECT|WITH)\b", "a query stands in its parentheses: EXISTS (SELECT …)"),
    (r"EXISTS ‸(?P<t>\w+)", _EXISTS),
    (r"\w+ ‸SIMILAR (?!TO\b)", "write SIMILAR TO, or LIKE"),
    (r"\bWHEN ?[<>=]+ ?\S+ ‸THEN\b", "a comparison is whole behind WHEN, and nothing stands behind CASE: "
     "CASE WHEN a > 3 THEN …"),
    (r"CASE (?!WHEN)[^‸]*‸(?:(?!WHEN).)*THEN\b", "WHEN stands before each condition: CASE WHEN a > 3 THEN 1 "
     "ELSE 0 END"),
    # Functions.
    (r"\b(?P<f>COUNT|SUM|AVG|MIN|MAX|MEDIAN|STRING_AGG|ARRAY_AGG) ?\( ?(?P<x>[^()‸]+?) ‸WHERE (?P<test>[^()]+?) ?\)",
     "write {F}({x}) FILTER (WHERE {test})"),
    (r"\bCAST ?\( ?(?P<value>[^,()]+?) ?, ?‸(?P<type>\w+)", "write CAST({value} AS {type})"),
    (r"\bCONVERT ?\( ?(?P<type>\w+)(?: ?\([\d, ]*\))?, ?(?P<value>[^,()]+?), ?‸?\d+ ?‸?\)",
     "write CAST({value} AS {type}); the styles of other systems are formats here, as of TO_CHAR"),
    (r"\bCONVERT ?\( ?(?P<type>\w+), ?‸(?P<value>[^,()]+?) ?\)", "write CAST({value} AS {type})"),
    (r"(?P<value>\w+) ‸?SEPARATOR\b ?‸?", "it is the second argument: STRING_AGG({value}, ',')"),
    (r"\b(?P<f>COUNT|SUM|AVG|MIN|MAX) ‸DISTINCT ?\(? ?(?P<x>\w+)", "write {F}(DISTINCT {x})"),
    (r"\bSUBSTR(?:ING)? ?\( ?(?P<x>[\w.]+) ‸?FROM (?P<start>\d+) ?‸?, ?‸?(?P<n>\d+) ?‸?\)",
     "write SUBSTRING({x} FROM {start} FOR {n})"),
    (r"\bSELECT\b(?:(?!\bFROM\b)[^‸])*\bLATERAL ‸?VIEW\b[^‸]*‸", "LATERAL VIEW stands behind the table of FROM; "
     "in duckdb and postgres write CROSS JOIN UNNEST(xs) AS u(x) there"),
    (r"OVER ?\( ?‸GROUP BY\b", "write PARTITION BY"),
    (r"\bOVER ?\( ?(?P<by>PARTITION|ORDER) ‸", "write {BY} BY"),
    (r"\bOVER ‸?(?P<by>(?:PARTITION|ORDER) BY)\b", "a window stands in parentheses: OVER ({BY} …)"),
    (r"\bPIVOT ?\( ?(?P<at>[\w.]+) FOR\b[^‸]*‸", "an aggregate stands before FOR: SUM({at}) FOR …"),
    (r"\b(?P<word>(?:UN)?PIVOT) ‸(?P<t>\w+) ON\b", "{WORD} {t} ON … USING … is a query itself, without SELECT"),
    (r"\b(?:WHERE|BY|HAVING|LIMIT)\b[^‸]*‸(?P<word>(?:UN)?PIVOT)\b",
     "{WORD} stands behind a table or a query of FROM: FROM (SELECT …) {WORD} (…)"),
    (r"\bPIVOT\b.*\bFOR ‸(?P<k>\w+)", "list the values, as in FOR {k} IN ('a', 'b')"),
    (r"\bFILTER ‸?WHERE\b", "a condition stands in parentheses: FILTER (WHERE …)"),
    (r"(?P<value>\w+) ‸~\*? ?(?P<text>'[^']*')", "write {value} RLIKE {text}"),
    (r"\bCAST ?\( ?\w+ ‸(?P<word>TO|INTO)\b", "write AS in the place of {WORD}"),
    (r"‸IS(?: NOT)?$", "write IS NOT NULL"),
    (r"(?<!\* )(?P<sign>[*/+-]) ‸(?:FROM|WHERE|GROUP BY|ORDER BY)\b", "a value is missing behind {sign}"),
    (r"(?<!CAST)(?<!SUM)(?<!AVG)(?<!COUNT)\((?:[^()]*,)? ?(?!DISTINCT|SELECT)(?P<one>\w+) ‸(?P<two>\w+) ?[,)]",
     "is a comma missing before {two}?"),
    (r"\b(?P<f>ROW_NUMBER|\w*RANK|CUME_DIST) OVER ‸\(", "a function has parentheses: {F}() OVER (…)"),
    (r"(?P<x>[\w.]+) OVER ‸\(", "OVER stands behind a function, as in SUM({x}) OVER (…)"),
    (r"‸(?P<w>DESC|ASC)ENDING\b", "write {W}"),
    (r"‸(?P<word>ORDER|GROUP)$", "write {WORD} BY and a column"),
    (r"\b(?P<op>UNION|INTERSECT|EXCEPT|MINUS)( ALL| DISTINCT)? ‸(?!SELECT|ALL\b|DISTINCT\b|\()(?P<t>\w+)\b",
     "{OP} stands between two queries: {OP} SELECT {t} …"),
    (r"^WITH (?:RECURSIVE )?(?P<name>\w+)\b.*‸\)$",
     "a query stands behind WITH: WITH {name} AS (…) SELECT … FROM {name}"),
    # What is too much.
    (r"\b(?P<f>\w+) ?\( ?(?P<x>\w+ ?\([^()‸]*\)) ?(?P<at>\)) ?, ?(?P<n>[^()‸]*?) ?‸\)", "write {f}({x}, {n})"),
    (r"\b(?P<word>\w\w+) ‸(?P=word)\b", "{word} stands twice: leave one out"),
)  # fmt: skip
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), hint) for pattern, hint in _SLIPS]


def usual_form(statement: Sequence[Token], at: int) -> tuple[str | None, int]:
    """A hint for the word of a statement over which the parser stumbled, and the word that it is about.

    The hint is ``None`` where none is known; the word is that of ``(?P<at>…)`` in the pattern, else the one given.

    Example:
        >>> import sqlglot
        >>> usual_form(sqlglot.tokenize("SELECT TOP 10 a FROM t"), 2)
        ('leave TOP out, and write LIMIT 10 at the end', 2)
    """
    text, starts = _around(statement, at)
    slips = ((found, hint) for pattern, hint in _PATTERNS if (found := pattern.search(text)))
    found, hint = next(slips, (None, None))
    if found is None or hint is None:
        return None, at
    parts = {name: part.replace("‸", "").strip() for name, part in found.groupdict().items() if part}
    place = max(0, at - _AROUND) + bisect_right(starts, found.start("at")) - 1 if "at" in parts else at
    return hint.format(**parts, **{name.upper(): part.upper() for name, part in parts.items()}), place


def _around(statement: Sequence[Token], at: int) -> tuple[str, list[int]]:
    """The words around one, with a blank where the text has some, texts in quotes, and ``‸`` before the word; and where
    each begins."""
    first, text, starts = max(0, at - _AROUND), "", list[int]()
    for place, token in enumerate(statement[first : at + _AROUND], first):
        is_apart = place > first and statement[place - 1].end + 1 < token.start
        word = f"'{token.text}'" if token.token_type is TokenType.STRING else token.text
        text += " " * is_apart
        starts.append(len(text))
        text += "‸" * (place == at) + word
    return text, starts
