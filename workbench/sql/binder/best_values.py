"""WITH RECURSIVE … USING KEY (a, b, MIN(c)): of the rows of each key the one with the least value, as of shortest ways.

A row that is not the least one is passed on by no step. That is the same as to keep all rows, and to group them in the
end, where rules are *monotone*: of a better value they make one that is as good or better, and no row less (K. Ross,
Y. Sagiv, *Monotonic aggregation in deductive databases*, PODS 1992). So a rule may add to the value, take the greater
of it and another, and stop where it is too large; what else it does with it is refused.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, columns, map_columns
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.logical import Block, LogicalQuery, Output, RecursionRule, SetQuery, output_columns
from workbench.sql.predicates.cnf import TRUE, Literal, Operator
from workbench.sql.syntax.cte_clauses import KeyPart
from workbench.sql.syntax.source_text import SourceText

_DIGITS = 18
"""Of decimals that are compared as 64-bit numbers."""
_ORDERED = (Kind.INTEGER, Kind.DOUBLE, Kind.DATE, Kind.TIMESTAMP)
_OPERATORS = {"MIN": "recursion least", "MAX": "recursion greatest"}
_BELOW = (Operator.LT, Operator.LE)
_ABOVE = (Operator.GT, Operator.GE)


def with_best_values(recursion: SetQuery | None, cte: exp.CTE, source: SourceText) -> LogicalQuery:
    """The recursion that keeps the best value of each key.

    Args:
        recursion: that keeps all rows; ``None``: a step is no plain join.
        cte: the query of WITH.
        source: the text, for errors.

    Raises:
        SqlError: the clause names no column, or not all of them.
        UnsupportedError: the rules are not monotone.
    """
    key: list[KeyPart] = cte.args["key"]
    if recursion is None or recursion.all or any(rule.inputs.count(0) > 1 for rule in recursion.rules):
        hint = "write first UNION SELECT … FROM p JOIN …, with p once; MIN stands in USING KEY (a, MIN(b)) alone"
        source.refuse("USING KEY of another form", cte, hint)
    names = [name.lower() for name in recursion.names]
    places = [names.index(part.column.lower()) if part.column.lower() in names else -1 for part in key]
    best = [place for place, part in zip(places, key, strict=True) if part.best]
    if -1 in places or len({*places}) < len(places):
        raise source.error(
            "USING KEY names a column that is none, or twice", cte, f"{cte.alias} has {', '.join(names)}"
        )
    if len(best) != 1 or len(key) != len(names) or len(key) < 2 or key[places.index(best[0])].best not in _OPERATORS:
        hint = f"USING KEY ({', '.join(names[:-1])}, MIN({names[-1]})): all columns, one of them with MIN or MAX"
        source.refuse("USING KEY that keeps whichever row comes last", cte, hint)
    (place,), which = best, key[places.index(best[0])].best
    type_ = recursion.types[place]
    if type_.kind not in _ORDERED and not (type_.kind is Kind.DECIMAL and type_.precision <= _DIGITS):
        source.refuse(f"{which} of {type_} in USING KEY", cte, "of numbers up to 18 digits, dates and timestamps")
    rules = tuple(_rule(rule, place, which, cte, source) for rule in recursion.rules)
    order = [*(at for at in range(len(names)) if at != place), place]
    first, *others = recursion.branches
    outputs = [Output(name, Column(stored_name(name), type_)) for name, type_ in output_columns(first)]
    begin = Block((first,), TRUE, tuple(outputs[at] for at in order))
    kept = replace(
        recursion,
        operator=_OPERATORS[which],
        branches=(begin, *others),
        names=tuple(recursion.names[at] for at in order),
        types=tuple(recursion.types[at] for at in order),
        rules=tuple(_in_order(rule, order) for rule in rules),
    )
    columns_ = zip(recursion.names, recursion.types, strict=True)
    return Block((kept,), TRUE, tuple(Output(name, Column(stored_name(name), type_)) for name, type_ in columns_))


def _in_order(rule: RecursionRule, order: list[int]) -> RecursionRule:
    """A rule over other places of the columns of a step."""
    moved = {f"c{old + 1}": f"c{new}" for new, old in enumerate(order, start=1)}

    def change(expression: Expression) -> Expression:
        return map_columns(expression, lambda c: c if c.source or c.level else replace(c, name=moved[c.name]))

    changed = rule.map(change)
    return replace(changed, values=tuple(changed.values[at] for at in order))


def _rule(rule: RecursionRule, place: int, which: str, cte: exp.CTE, source: SourceText) -> RecursionRule:
    """A rule, which is monotone."""
    name = f"c{place + 1}"
    wrong = [value for at, value in enumerate(rule.values) if at != place and _reads(value, name)]
    if not _rises(rule.values[place], name):
        wrong.append(rule.values[place])
    for part in rule.where:
        for literal in part.literals:
            if any(_reads(e, name) for e in literal.expressions) and not _stays(literal, name, which):
                wrong += literal.expressions
    if wrong:
        own = cte.args["alias"].args.get("columns") or ()
        value = own[place].name if own else name
        bound = f"{value} {'<' if which == 'MIN' else '>'} 9"
        hint = f"a step may add to {value}, take GREATEST or LEAST, and bound it: {bound}"
        source.refuse(f"a step of USING KEY that does not rise with {value}", cte, hint)
    return rule


def _reads(expression: Expression, name: str) -> bool:
    return any(c.name == name and not c.source and not c.level for c in columns(expression))


def _rises(expression: Expression, name: str) -> bool:
    """Whether a value does not fall where the one of the step before rises."""
    if not _reads(expression, name):
        return True
    match expression:
        case Column():
            return True
        case Call("+" | "greatest" | "least" | "cast", arguments):
            return _is_number(expression.type) and all(_rises(argument, name) for argument in arguments)
        case Call("-", (left, right)):
            return _rises(left, name) and not _reads(right, name)
        case Call("*", (left, right)):
            return any(_is_positive(one) and _rises(other, name) for one, other in ((left, right), (right, left)))
    return False


def _stays(literal: Literal, name: str, which: str) -> bool:
    """Whether a condition that holds of a value holds of all better ones."""
    if literal.operator is Operator.IS_NOT_NULL:
        return _rises(literal.left, name)
    if literal.right is None:
        return False
    below, above = (_BELOW, _ABOVE) if which == "MIN" else (_ABOVE, _BELOW)
    sides = ((literal.left, literal.right, below), (literal.right, literal.left, above))
    return any(_rises(one, name) and not _reads(other, name) and literal.operator in by for one, other, by in sides)


def _is_number(type_: DataType) -> bool:
    return type_.kind in (*_ORDERED, Kind.DECIMAL)


def _is_positive(expression: Expression) -> bool:
    return isinstance(expression, Constant) and isinstance(expression.value, (int, float)) and expression.value > 0
