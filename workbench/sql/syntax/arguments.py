"""A parser that refuses the arguments which sqlglot's would drop.

sqlglot turns a call into a node by a builder, one for each name, and some builders pass over arguments: the third of
``mod(a, b, c)``, the second of ``collect_list(a, b)``. Here a builder is asked whether the node depends on each. Some
calls have a parser of their own instead; of these every argument that names something must have left a name, or all of
its constants, and every one that is a constant must be there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import zip_longest
from typing import Any, cast

import sqlglot
from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from workbench.sql.dialects import DIALECTS
from workbench.sql.syntax.cte_clauses import key_taken_out, parsed_cycle, parsed_search
from workbench.sql.syntax.match_clauses import subset_of, taken_out
from workbench.sql.syntax.read_over import Strict

Builder = Callable[..., exp.Expr]
FunctionParser = Callable[[Any], exp.Expr | None]
_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
_CONSTANTS = (TokenType.NUMBER, TokenType.STRING, TokenType.TRUE, TokenType.FALSE, TokenType.NULL)
_FEW = 3
_GRAMMAR = {"INTERVAL", "FROM", "PLACING", "OVERFLOW"}
"""Words of arguments with a grammar of their own, as in ``EXTRACT(year FROM d)``; the parser reads all of these."""
_OF_FRAMES = {"PRECEDING", "FOLLOWING", "EXCLUDE", "TIES", "OTHERS"}
"""Words of frames that the tokenizer takes for names."""
_NO_COLUMNS = (TokenType.ARRAY, TokenType.MAP, TokenType.INTERVAL, TokenType.NULL)
"""Words of types that begin something else before a bracket."""
_OF_PATHS = "JSON"
"""The names of functions begin so of which the parser reads texts that are arguments."""


class InlineOuter(exp.Inline):
    """INLINE_OUTER, which the parser does not know: INLINE that gives a row of NULLs for an array without elements."""


class DroppedArgumentError(Exception):
    """A call has an argument on which its node does not depend."""

    def __init__(self, function: str, place: int, argument: exp.Expr | Token) -> None:
        super().__init__(function, place)
        self.function, self.place, self.argument = function, place, argument


def parser_of(dialect: str) -> Parser:
    """The parser of a dialect, which raises ``DroppedArgumentError``.

    Example:
        >>> from workbench.sql.syntax.dialects import tokenize
        >>> sql = "SELECT MOD(a, b, c)"
        >>> parser_of("spark").parse(tokenize(sql, "spark"), sql)
        Traceback (most recent call last):
        ...
        workbench.sql.syntax.arguments.DroppedArgumentError: ('MOD', 2)
    """
    read_as = sqlglot.Dialect.get_or_raise(dialect)
    if DIALECTS[dialect].places_from_one:
        read_as.INDEX_OFFSET = 0  # places stay as they are written: what stands in brackets may be a key
    return _parser_class(dialect)(dialect=read_as)


@cache
def _parser_class(dialect: str) -> type[Parser]:
    base = sqlglot.Dialect.get_or_raise(dialect).parser_class
    functions = {name: partial(_build, name, builder) for name, builder in base.FUNCTIONS.items()}
    changes = {
        "RULES": DIALECTS[dialect],
        "OPTIONAL_ALIAS_TOKEN_CTE": DIALECTS[dialect].explodes,
        "FUNCTIONS": functions,
        "FUNCTION_PARSERS": _Refusing.parsers(base.FUNCTION_PARSERS),
        "NO_PAREN_FUNCTION_PARSERS": _Refusing.parsers(base.NO_PAREN_FUNCTION_PARSERS),
    }
    if DIALECTS[dialect].explodes:
        functions["INLINE_OUTER"] = partial(_build, "INLINE_OUTER", InlineOuter.from_arg_list)
        functions["RANGE"] = partial(_build, "RANGE", _range)
    if DIALECTS[dialect].finds_beside_nulls:
        changes["RANGE_PARSERS"] = {**base.RANGE_PARSERS, TokenType.IN: _parse_in}
    if not DIALECTS[dialect].has_lambdas:  # an arrow reads JSON there, also in arguments of functions
        changes["LAMBDAS"] = {sign: parse for sign, parse in base.LAMBDAS.items() if sign is not TokenType.ARROW}
    make = cast(Callable[..., type[Parser]], type(base))
    return make("_Parser", (_Refusing, base), changes)


def _parse_in(parser: Any, operand: exp.Expr) -> exp.Expr:
    """IN with a list in brackets asks an array, in which NULL is a value as others are: sqlglot drops the brackets."""
    if not (parser._curr and parser._curr.token_type is TokenType.L_BRACKET):
        return cast(exp.Expr, parser._parse_in(operand))
    array = parser._parse_bitwise()
    values = array.expressions if isinstance(array, exp.Array) else ()
    if values and all(isinstance(value, exp.Literal) for value in values):
        return exp.In(this=operand, expressions=values)  # which is the same, and finds rows by their values
    return exp.In(this=operand, field=array)


class _Refusing(Strict):
    """Arguments for the parsers of all dialects: calls with a parser of their own are compared with their tokens."""

    _tokens_size: int
    dialect: Any
    sql: str
    # Methods of the parser mixed in.
    _parse_column: Any
    _parse_wrapped_csv: Any
    _parse_disjunction: Any
    _parse_grouping_sets: Any
    expression: Any

    def _warn_unsupported(self) -> None:
        """Say nothing: what the parser takes for a command is refused with words of ours."""

    def _parse_cube_or_rollup(self, with_prefix: bool = False) -> exp.Cube | exp.Rollup | None:
        """ROLLUP and CUBE, also of conditions, which the parser does not read there."""
        for token, kind in ((TokenType.CUBE, exp.Cube), (TokenType.ROLLUP, exp.Rollup)):
            if self._match(token):
                nodes = [] if with_prefix else self._parse_wrapped_csv(self._parse_disjunction)
                return cast("exp.Cube | exp.Rollup", self.expression(kind(expressions=nodes)))
        return None

    def _parse_grouping_set(self) -> exp.Expr | None:
        """One of GROUPING SETS, as above."""
        found = self._parse_grouping_sets() or self._parse_cube_or_rollup() or self._parse_disjunction()
        return cast("exp.Expr | None", found)

    def _parse_type(self, *given: Any, **flags: Any) -> exp.Expr | None:
        """A column before a bracket, ``text[1]``, that has the name of a type, which the parser takes it for."""
        type_, bracket, inside = (*self._tokens[self._index : self._index + 3], None, None, None)[:3]
        is_part = bracket and bracket.token_type is TokenType.L_BRACKET
        is_part = is_part and inside and inside.token_type is not TokenType.R_BRACKET
        if is_part and type_ and type_.token_type in cast(Any, self).TYPE_TOKENS - {*_NO_COLUMNS}:
            return cast("exp.Expr | None", self._parse_column())
        return cast("exp.Expr | None", cast(Any, super())._parse_type(*given, **flags))

    def _parse_match_recognize(self) -> exp.MatchRecognize | None:
        """MATCH_RECOGNIZE with SUBSET, WITHIN and SKIP TO a variable, which the parser does not know."""
        begin = self._index
        if begin >= len(self._tokens) or self._tokens[begin].token_type is not TokenType.MATCH_RECOGNIZE:
            return None
        clauses = taken_out(self._tokens, begin)
        self._tokens_size = len(self._tokens)
        node = super()._parse_match_recognize()  # type: ignore[misc]  # the parser mixed in has it
        if node is None:
            return None
        node.set("subset", [subset_of(tokens) for word, tokens in clauses if word == "SUBSET"])
        for _, tokens in (clause for clause in clauses if clause[0] == "WITHIN"):
            select = Token(TokenType.SELECT, "SELECT")
            (parsed,) = cast(Any, type(self))(dialect=self.dialect).parse([select, *tokens], self.sql)
            node.set("within", parsed.expressions[0])
        return cast(exp.MatchRecognize, node)

    def _parse_cte(self) -> exp.Expr | None:
        """A query of WITH with USING KEY, SEARCH and CYCLE."""
        key = key_taken_out(self._tokens, self._index)
        self._tokens_size = len(self._tokens)
        parser = cast(Any, self)
        parser._advance(0)
        node = cast(exp.Expr | None, cast(Any, super())._parse_cte())
        if isinstance(node, exp.CTE):
            node.set("key", key)
            node.set("search", parsed_search(parser))
            node.set("cycle", parsed_cycle(parser))
        return node

    def _parse_using_identifiers(self) -> list[exp.Expr]:
        """USING (a, b) AS j, where the first column notes what the columns that stand once are called together."""
        parser, names = cast(Any, self), cast(list[exp.Expr], cast(Any, super())._parse_using_identifiers())
        if self.RULES.names_usings and names and parser._match(TokenType.ALIAS):
            names[0].meta["join"] = parser._parse_id_var().name
        return names

    def _parse_derived_table_values(self, *given: Any, **flags: Any) -> exp.Expr | None:
        """VALUES, behind WITH as a SELECT, which alone may have it."""
        begin = self._index
        behind = 0 < begin < len(self._tokens) and self._tokens[begin - 1].token_type is TokenType.R_PAREN
        node = cast(exp.Values | None, cast(Any, super())._parse_derived_table_values(*given, **flags))
        if node is None or not behind:
            return node
        return exp.Select(expressions=[exp.Star()], from_=exp.From(this=node))

    @classmethod
    def parsers(cls, parsers: Mapping[str, FunctionParser]) -> dict[str, FunctionParser]:
        """The parsers of functions, by name, each with the check behind it."""
        return {name: partial(cls._parse_call, name=name, parse=parse) for name, parse in parsers.items()}

    def _parse_call(self, name: str, parse: FunctionParser) -> exp.Expr | None:
        start = self._index
        self._refuse_lone()  # some parsers read their arguments one by one
        node = parse(self)
        if node is not None:
            nodes = list(node.walk())
            found = {n.meta["start"] for n in nodes if "start" in n.meta}
            constants = Counter(map(_constant, nodes))
            left = constants.copy()
            for place, argument in enumerate(_arguments(_unwrapped(self._tokens[start : self._index]))):
                names = [] if _has_grammar(argument) else _names(argument)
                texts = Counter(token.text.upper() for token in argument if token.token_type in _CONSTANTS)
                is_read = texts <= left if texts else False  # its names may be words of grammar, as in (INTERVAL 1 DAY)
                if names and not is_read and not found.intersection(token.start for token in names):
                    raise DroppedArgumentError(name, place, names[0])
                left.subtract(texts)
                if len(argument) == 1 and argument[0].token_type in _CONSTANTS and not name.startswith(_OF_PATHS):
                    constant = argument[0].text.upper()
                    constants[constant] -= 1
                    if constants[constant] < 0:
                        raise DroppedArgumentError(name, place, argument[0])
        return node


def _range(arguments: list[exp.Expr]) -> exp.GenerateSeries:
    """RANGE(end) or RANGE(start, end[, step]) in FROM, which the parser does not know in spark."""
    start, end, *step = arguments if len(arguments) > 1 else [exp.Literal.number(0), *arguments]
    return exp.GenerateSeries(start=start, end=end, step=step[0] if step else None, is_end_exclusive=True)


def _constant(node: exp.Expr) -> str:
    """The text of a constant, or of a word such as a unit of time, which may have been a text; of others the empty one.

    Example:
        >>> [_constant(node) for node in (exp.Null(), exp.true(), exp.Literal.string("month"), exp.column("a"))]
        ['NULL', 'TRUE', 'MONTH', '']
    """
    if isinstance(node, exp.Null):
        return "NULL"
    return str(node.this).upper() if isinstance(node, exp.Literal | exp.Boolean | exp.Var | exp.Identifier) else ""


def _build(name: str, builder: Builder, arguments: list[Any], **dialect: Any) -> exp.Expr:
    given = list(arguments)  # builders may change the list
    if name == "NAMED_STRUCT":  # its builder takes a column for its name
        for place, argument in enumerate(given[::2]):
            if not argument.is_string and len(given) % 2 == 0:
                raise DroppedArgumentError(name, 2 * place, argument)
    node = builder(arguments, **dialect)
    places = {place for place, argument in enumerate(given) if not _is_inside(argument, node)}
    if len(places) > _FEW:  # one by one each would take a copy of all
        places -= _named(builder, given, places, dialect)
    for place in sorted(places):
        if not _depends(builder, given, place, dialect, node):
            raise DroppedArgumentError(name, place, given[place])
    if isinstance(format_ := node.args.get("format"), exp.Literal) and not any(format_ is a for a in given):
        # The parser has translated it: as the text has it, with its place; without one that of Spark, which alone has.
        written = [given[place] for place in sorted(places) if _is_text(given[place])]
        node.set("format", written[0] if written else exp.Literal.string("yyyy-MM-dd HH:mm:ss"))
    return node


def _named(builder: Builder, arguments: list[Any], places: set[int], dialect: dict[str, Any]) -> set[int]:
    """The places whose constant, or column, gives a name or a text to the node."""
    copies = [_other(a, place) if place in places else a.copy() for place, a in enumerate(arguments)]
    try:
        node = builder(copies, **dialect)
    except Exception:
        return set()
    texts = {part.this for part in node.walk() if isinstance(part.this, str)}
    return {place for place in places if _marker(place) in texts}


def _is_inside(argument: exp.Expr, node: exp.Expr) -> bool:
    at: exp.Expr | None = argument
    while at is not None and at is not node:
        at = at.parent
    return at is node


def _depends(builder: Builder, arguments: list[Any], place: int, dialect: dict[str, Any], node: exp.Expr) -> bool:
    """Whether the node changes when another constant, or column, is in this place."""
    copies = [argument.copy() for argument in arguments]
    copies[place] = _other(copies[place], place)
    try:
        return builder(copies, **dialect) != node
    except Exception:  # it reads the argument, and cannot make anything of this one
        return True


def _other(argument: exp.Expr, place: int) -> exp.Expr:
    """A constant, or a column, that no query has."""
    return exp.Literal.string(_marker(place)) if _is_text(argument) else exp.column(_marker(place))


def _is_text(argument: exp.Expr) -> bool:
    return isinstance(argument, exp.Literal) and argument.is_string


def _marker(place: int) -> str:
    return f"\N{NULL}{place}"


def _unwrapped(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens without the parentheses around all, which some parsers read themselves."""
    wrapped = tokens and tokens[0].token_type is TokenType.L_PAREN and tokens[-1].token_type is TokenType.R_PAREN
    return tokens[1:-1] if wrapped else tokens


def _names(tokens: Sequence[Token]) -> list[Token]:
    """The tokens that name columns, or types; functions may leave no name."""
    pairs = zip_longest(tokens, tokens[1:])
    return [
        token for token, following in pairs
        if token.token_type in (TokenType.VAR, TokenType.IDENTIFIER) and token.text.upper() not in _OF_FRAMES
        and (following is None or following.token_type is not TokenType.L_PAREN)
    ]  # fmt: skip


def _has_grammar(tokens: Sequence[Token]) -> bool:
    """Whether one of its words is outside of inner parentheses."""
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth == 0 and token.text.upper() in _GRAMMAR:
            return True
    return False


def _arguments(tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens of each argument, which commas outside of inner parentheses and brackets separate.

    What stands behind the call, such as WITHIN GROUP, is none.
    """
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth < 0:
            break
        if depth == 0 and token.token_type is TokenType.COMMA:
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments
