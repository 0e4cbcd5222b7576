"""Forms that the parser takes in every dialect, though the database of the dialect refuses them or means another thing.

Others are refused by the parser or the binder, and a form says what is meant: these are asked of refused texts alone.

Each is a pattern of the words of a statement, with a blank between any two, texts as ``'…'``, and names that are no
plain word as ``"…"``; ``at`` is the word that the error points at. A new one is a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from workbench.errors import SqlError
from workbench.sql.dialects import DIALECTS
from workbench.sql.syntax.source_text import SourceText

_ALL = frozenset(DIALECTS)
_OF_TEXTS = frozenset({"spark", "duckdb", "postgres", "presto", "trino"})
"""Dialects in which a unit of time is a text."""
_SPARK = frozenset({"spark", "spark2", "databricks", "hive"})
_NO_KEY_WORD = r"\b(?!(?:WHERE|AND|OR|NOT|WHEN|IS|ON|HAVING|SELECT|THEN|ELSE|QUALIFY|CASE|BY|FILTER)\b)\w+"
_UNIT = (
    "(?:(?:MICRO|MILLI)?SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|QUARTER|YEAR|DECADE|CENTURY|EPOCH|DOW|DOY|ISODOW|ISOYEAR)S?"
)
_BEHIND_GROUPS = (
    r"(?:HAVING|QUALIFY|ORDER|SORT|DISTRIBUTE|CLUSTER|LIMIT|OFFSET|FETCH|WINDOW|UNION|EXCEPT|INTERSECT|MINUS|WITH"
    r"|USING|EMIT)\b"
)
"""What may follow GROUP BY ALL; to EMIT there is a hint."""
_NESTED = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*?"
"""What may stand in parentheses, with some in them."""
_ORDERED = r"WITHIN GROUP \( ORDER BY (?P<x>[^()]+?)(?: ASC| DESC)? \) (?:FILTER \( (?:[^()]|\([^()]*\))* \) )?OVER\b"
"""The order of an aggregate, and OVER behind it."""
_REFUSED = (
    (_OF_TEXTS, rf"\b(?P<of>DATE_PART|DATE_TRUNC) \( (?P<at>{_UNIT}) ,", "the unit of {OF} is a text", "write '{at}'"),
    (frozenset({"duckdb"}), rf"\b(?P<of>DATE_DIFF|DATEDIFF|DATE_?SUB|DATEPART|DATETRUNC) \( (?P<at>{_UNIT}) ,",
     "the unit of {OF} is a text", "write '{at}'"),
    (frozenset({"duckdb", "postgres"}), rf"\b(?P<of>DATE_(?:DIFF|TRUNC|PART|SUB|ADD)) \( (?P<at>\"(?P<unit>{_UNIT})\")",
     "the unit of {OF} is a text, and this is a name", "write '{unit}'"),
    (frozenset({"duckdb"}), rf"\b(?P<at>PERCENTILE_(?P<of>CONT|DISC)) \( (?P<share>[^()]+) \) {_ORDERED}",
     "{AT} has no OVER", "write QUANTILE_{OF}({x}, {share}) OVER (…)"),
    (frozenset({"postgres"}), rf"\b(?P<at>\w+) \( (?:[^()]+ )?\) {_ORDERED}", "{AT} has no OVER",
     "compute it by GROUP BY in a query of WITH, and join that"),
    (_ALL, r"\b(?P<of>INTERSECT|EXCEPT) (?P<how>ALL|DISTINCT) (?P<at>BY) NAME\b",
     "syntax error: {OF} {HOW} has no BY NAME", "leave BY NAME out, and select the same columns in one order"),
    (_ALL - {"duckdb", "presto", "trino"}, r"\bCOUNT \( (?P<at>\))", "COUNT takes a value", "COUNT(*) counts rows"),
    (_ALL - {"oracle"}, rf"(?::: |\bCAST \( {_NESTED} AS )(?P<at>NUMBER|N?VARCHAR2|N?CLOB)\b",
     "there is no type {at}", "write DECIMAL(15, 2), DOUBLE or BIGINT, and VARCHAR of texts"),
    (frozenset({"duckdb", "postgres"}),
     r"\b(?P<at>PERCENTILE_(?P<of>CONT|DISC)) \( (?!(?:\S+|(?:ARRAY )?\[[^]]*\]) \) WITHIN\b)[^()]*,",
     "{AT} has WITHIN GROUP", "write {at}(0.5) WITHIN GROUP (ORDER BY x), in duckdb also QUANTILE_{OF}(x, 0.5)"),
    (_ALL, r"\b(?:TRY_|SAFE_)?CAST \( [^()]* AS (?P<at>'…')", "a type is no text", "leave the quotes out"),
    (_ALL - {"duckdb", "bigquery"}, r"^(?!CREATE\b).*?\bAS (?P<at>'…')", "a name is no text",
     "a name of several words stands in {quotes}"),
    (frozenset({"postgres", "oracle"}), r"(?P<at>==)", "there is no sign ==", "write = for equal"),
    (frozenset({"duckdb", "postgres", "oracle"}), r"(?<!\S)(?P<at>!)(?! [<>~])(?!\S)", "there is no sign !",
     "write NOT"),
    (frozenset({"postgres", "oracle"}), rf"\bGROUP BY (?P<at>ALL)(?= {_BEHIND_GROUPS}| \)|$)",
     "GROUP BY ALL is of another dialect", "name the columns"),
    (frozenset({"postgres", "oracle", "trino", "presto"}), r"(?:^|(?<!TRIM )\( )(?P<at>FROM)\b(?!.* \|>)",
     "syntax error: a query begins with SELECT", "write SELECT … FROM …"),
    (_ALL, r"\b(?P<of>FROM|WHERE|HAVING|BETWEEN|JOIN|ON|LIMIT|UNION|WITH|AS|BY|IN|LIKE|THEN|ELSE|GROUP|ORDER|PARTITION)"
     r" (?P<at>(?P=of))\b", "syntax error: {OF} stands twice", "leave one out"),
    (_ALL, r"(?<!\bBY )\b(?P<at>ALL|DISTINCT) (?P<of>UNION|EXCEPT|INTERSECT)\b",
     "syntax error: {AT} stands behind {OF}", "write {of} {at}"),
    (_ALL - {"duckdb"}, rf"^(?!CREATE\b).*?(?:[\])]|{_NO_KEY_WORD}) (?P<at>NOT) NULL\b",
     "syntax error: a test for NULL has IS", "write IS NOT NULL"),
    (_ALL, rf"\bINTERVAL (?P<of>{_UNIT}) (?P<at>'…')", "syntax error: the unit stands behind the number",
     "write INTERVAL '1' {OF}"),
    (frozenset({"postgres"}), r"\b(?P<at>STRING_AGG) \( (?:DISTINCT )?(?:\w+(?: \. \w+)?|'…') \)",
     "STRING_AGG takes two arguments", "write {at}(name, ', ')"),
    (frozenset({"postgres"}), r"\b(?P<at>MODE) \( [^)]", "MODE takes no arguments",
     "write MODE() WITHIN GROUP (ORDER BY …)"),
    (_SPARK, r"\b(?P<of>(?:DATE|TIMESTAMP)_?(?:DIFF|ADD)) \( (?P<at>'…') , [^,()]+ , ", "the unit of {OF} is no text",
     "write it without quotes, as in {OF}(DAY, …)"),
    (_ALL, r"(?<!\S)(?P<at>\d[\d.]*E)(?!\S)", "syntax error: a number ends with its exponent",
     "as in 1e6, or write the number alone"),
    (_ALL - {"duckdb", "bigquery"}, r"\b(?:SELECT|WHERE|AND|OR|BY|ON|,|\() (?P<at>\[) (?P<name>\w+) \]",
     "syntax error: names stand in no brackets", "write {name}; a name of several words stands in {quotes}"),
    (_SPARK | {"duckdb"}, rf"\bGROUP BY ALL (?P<at>(?!{_BEHIND_GROUPS})\w+)",
     "syntax error: GROUP BY ALL names all columns", "leave ALL out, or what stands behind it"),
    (frozenset({"duckdb"}), r"\bRENAME \( (?:\w+ AS \w+ , )*(?P<name>\w+) (?P<at>(?!AS\b)\w+)",
     "syntax error: RENAME has AS", "write {name} AS {at}"),
    (_SPARK, rf"\b(?P<of>TIMESTAMP(?:DIFF|ADD)) \( (?P<at>(?!{_UNIT} |'…')\S+)", "the unit of {OF} stands first",
     "as in {OF}(DAY, …)"),
    (frozenset({"postgres"}), r"\b(?:LIKE|ILIKE|[=<>]+) (?P<of>ANY|ALL|SOME) \( (?P<at>'…') ,", "{OF} takes an array",
     "write {of} (ARRAY['a', 'b'])"),
    (_ALL - {"tsql"}, r"\bSELECT (?P<at>TOP) \( (?P<of>\d+) \) (?![,+*/-]|FROM\b)", "syntax error: TOP is no function",
     "leave it out, and write LIMIT {of} at the end"),
    (_ALL, r"\b(?P<of>STRING_AGG|LISTAGG|GROUP_CONCAT) \( (?P<x>[^()]*) ORDER BY (?P<y>[^()]*) , (?P<at>'…') \)",
     "the separator of {OF} stands before ORDER BY", "write {of}({x}, ', ' ORDER BY {y})"),
    (_ALL, r"\b(?P<of>(?:DATE|TIMESTAMP)_?DIFF) \( (?P<a>[^(),]+) , (?P<b>[^(),]+) , (?P<at>'…') \)",
     "the unit of {OF} stands first", "as in {of}('day', {a}, {b}), in spark {of}(DAY, {a}, {b})"),
)  # fmt: skip
"""What the parser and the binder would take."""
_EXPLAINED = (
    (_ALL, r"\bDISTINCT (?P<at>ON) (?P<name>[\w\"`]+)(?! \()",
     "syntax error: DISTINCT ON has its columns in parentheses",
     "write ON ({name}) and then all columns that are selected"),
    (_ALL, r"(?P<at>=(?= (?:~ '…'|! [\w(']))|~(?= =))", "syntax error: there are no signs =~, =! and ~=",
     "write <> for not equal, LIKE 'a%' for a pattern"),
    (_ALL, r"\b(?:GROUP|ORDER) BY ALL (?P<at>BY)\b", "syntax error: BY stands twice", "leave the second out"),
    (_ALL, r"\b(?P<of>\w+) \( (?P<at>DISTINCT) \)", "syntax error: DISTINCT names nothing",
     "write {OF}(DISTINCT name)"),
    (_ALL, r"[<>]=? (?P<at>ANY|SOME|ALL) \( [^\s(),]+ ,", "{AT} takes a query or an array, not a list",
     "write x > LEAST(1, 2) for more than any, x > GREATEST(1, 2) for more than all"),
    (_ALL, r"= (?P<of>ANY|SOME) \( (?P<at>[^\s(),]+) ,",
     "{OF} takes a query or an array, not a list", "write IN (…), or OR between comparisons"),
    (_ALL, r"\b(?P<of>(?!OVER\b)\w+) \( (?P<x>[^()]*?) (?P<at>,) ORDER BY (?P<y>[^()]*) \)",
     "no comma stands before ORDER BY", "write {of}({x} ORDER BY {y})"),
    (_ALL, r"\b(?P<of>DATE|TIMESTAMP) (?P<at>\d{4}) - (?P<m>\d\d?) - (?P<d>\d\d?)\b", "a {OF} stands in quotes",
     "write {OF} '{at}-{m}-{d}'"),
    (_ALL, r"(?P<at>\() (?P<a>[\w.]+(?: \. \w+)?) , (?P<b>[\w.]+(?: \. \w+)?) \) IN \( (?:'…'|\d+) [,)]",
     "two values are compared with single ones", "write {a} IN (…) AND {b} IN (…), or {a} = … AND {b} = …"),
    (_ALL, r"\bFROM \w+(?: AS)? (?P<a>\w+) (?:,|(?:\w+ )?JOIN) (?P<at>\() SELECT [^()]* FROM [^()]*\b(?P=a) \. ",
     "this query reads {a}, which stands beside it", "write LATERAL before it: LATERAL (SELECT …)"),
    (_ALL, r"\bI?LIKE \( (?:'…' , )+(?P<at>'…') \)", "LIKE has one pattern", "write x LIKE 'a%' OR x LIKE 'b%'"),
    (_ALL, r"\bEXISTS \( (?P<at>(?!SELECT\b|WITH\b|FROM\b|TABLE\b)\w+) \)", "EXISTS asks a query",
     "write EXISTS (SELECT 1 FROM {at} WHERE …)"),
    (_ALL - {"duckdb"}, r"\{ (?P<at>[A-Z_]\w*) \}", "syntax error: names stand in no braces",
     "leave them out; in a cell write :name for the value of a variable"),
    (_OF_TEXTS, r"\b(?P<at>FORMAT) \( (?P<x>\w+(?: \. \w+)?) , (?P<n>\d+) \)", "the format of {AT} is a text",
     "write ROUND({x}, {n})"),
    (_ALL, r"(?:, LATERAL|JOIN LATERAL|TABLE \() (?P<at>FLATTEN) \(", "FLATTEN makes no rows here",
     "of an array xs write CROSS JOIN UNNEST(xs) AS u(x), in spark LATERAL VIEW EXPLODE(xs) e AS x"),
    (_ALL - _SPARK,
     r"(?<!CROSS )(?<!NATURAL )\b(?P<at>ARRAY) JOIN (?P<xs>\w+)(?: AS \w+)?(?= (?:WHERE|GROUP|ORDER|LIMIT)\b|$)",
     "syntax error: ARRAY JOIN is of another system", "write CROSS JOIN UNNEST({xs}) AS u(x)"),
    (_ALL, rf"\b(?P<of>DATE_?(?:ADD|SUB)) \( (?!{_UNIT} |'…')(?P<t>[^(),]+) , (?P<n>[^(),]+) (?P<at>,) [^(),]+ \)",
     "{OF} takes two arguments", "write {of}({t}, {n})"),
    (_ALL, r"\b(?P<of>(?:TRY_|SAFE_)?CAST) \( (?P<value>\w+(?: \. \w+)?) , (?P<at>'…')",
     "{OF} has AS and a type", "write {OF}({value} AS INTEGER), without quotes"),
)  # fmt: skip
"""What is refused otherwise, with a hint that says less."""
_Forms = tuple[tuple[frozenset[str], re.Pattern[str], str, str], ...]


def _compiled(forms: tuple[tuple[frozenset[str], str, str, str], ...]) -> _Forms:
    return tuple((of, re.compile(pattern, re.IGNORECASE), message, hint) for of, pattern, message, hint in forms)


_OF_ANY_TEXT, _OF_REFUSED_TEXTS = _compiled(_REFUSED), _compiled(_EXPLAINED)


def refuse_forms(source: SourceText, statement: Sequence[Token]) -> None:
    """Refuse what the dialect's database does not take, or takes for something else.

    Raises:
        SqlError: there is such a form, with its place.

    Example:
        >>> refuse_forms(SourceText("SELECT COUNT() FROM t"), SourceText("SELECT COUNT() FROM t").tokens)
        Traceback (most recent call last):
        workbench.errors.SqlError: COUNT takes a value
          SELECT COUNT() FROM t
                       ^
        hint: COUNT(*) counts rows
    """
    if (error := _form(source, statement, _OF_ANY_TEXT)) is not None:
        raise error


def explained_form(source: SourceText) -> SqlError | None:
    """What is said of a text that is refused, where it has a form that is known; ``None`` of others.

    Example:
        >>> explained_form(SourceText("SELECT CAST(a, 'int') FROM t")).hint
        'write CAST(a AS INTEGER), without quotes'
    """
    return _form(source, source.tokens, _OF_REFUSED_TEXTS)


def _form(source: SourceText, statement: Sequence[Token], forms: _Forms) -> SqlError | None:
    """The error for the first of some forms that a statement has."""
    words = [_word(source, token) for token in statement]
    text, starts = " ".join(words), [0, *accumulate(len(word) + 1 for word in words)]
    for dialects, pattern, message, hint in forms:
        if source.dialect in dialects and (found := pattern.search(text)):
            token = statement[starts.index(found.start("at"))]
            parts = found.groupdict() | {name.upper(): part.upper() for name, part in found.groupdict().items()}
            quotes = exp.to_identifier("a name", quoted=True).sql(source.dialect)
            hint = hint.format(**parts, quotes=quotes).replace(" . ", ".")
            return SqlError(message.format(**parts), **source.span(token.start, token.end + 1), hint=hint)
    return None


def _word(source: SourceText, token: Token) -> str:
    """A word of a statement; of texts, and of names that are no plain word, only what they are."""
    word = source.token_text(token)
    if token.token_type is TokenType.STRING:
        return "'…'" if word[0] != '"' else '"…"'
    return '"…"' if token.token_type is TokenType.IDENTIFIER and not word[1:-1].isidentifier() else word
