"""Which syntax nodes are calls of built-in aggregates, by one name for all spellings, and with what arguments.

sqlglot has a node for most aggregates and plain names for some, and wraps WITHIN GROUP, ORDER BY and DISTINCT around
them in ways of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from workbench.sql.syntax.source_text import SourceText


@dataclass(frozen=True)
class AggregateFunction:
    """A built-in aggregate, as a text calls it; ``aggregates`` says what it is computed of.

    Attributes:
        name: for all spellings.
        nodes: the syntax nodes that are calls of it.
        names: those that the parser leaves as plain names.
        takes: how many arguments it takes at least, and at most; ``None`` where ``holistic`` says it.
        distinct: whether it takes DISTINCT, or does not change by it.
        unordered: how many of its first arguments may be arrays; of several values they do not say which is smaller.
    """

    name: str
    nodes: tuple[type[exp.Expr], ...]
    names: tuple[str, ...]
    takes: tuple[int, int] | None
    distinct: bool
    unordered: int


def _aggregate(
    name: str, *nodes: type[exp.Expr], names: str = "", takes: tuple[int, int] | None = None, distinct: bool = False,
    unordered: int = 0,
) -> AggregateFunction:  # fmt: skip
    return AggregateFunction(name, nodes, tuple(names.split()), takes, distinct, unordered)


_ONE, _TWO, _ANY = (1, 1), (2, 2), 9
AGGREGATES = {aggregate.name: aggregate for aggregate in (
    _aggregate("count", exp.Count, distinct=True, unordered=_ANY),
    _aggregate("sum", exp.Sum, names="try_sum", takes=_ONE, distinct=True),
    _aggregate("avg", exp.Avg, names="average mean try_avg", takes=_ONE, distinct=True),
    _aggregate("min", exp.Min, takes=_ONE, distinct=True),
    _aggregate("max", exp.Max, takes=_ONE, distinct=True),
    _aggregate("any_value", exp.AnyValue, takes=_ONE, distinct=True, unordered=_ANY),
    _aggregate("count_if", exp.CountIf, takes=_ONE),
    _aggregate("bool_and", exp.LogicalAnd, names="every", takes=_ONE, distinct=True),
    _aggregate("bool_or", exp.LogicalOr, names="some", takes=_ONE, distinct=True),
    _aggregate("bit_and", exp.BitwiseAndAgg, distinct=True),
    _aggregate("bit_or", exp.BitwiseOrAgg, distinct=True),
    _aggregate("bit_xor", exp.BitwiseXorAgg),
    _aggregate("median", exp.Median, takes=_ONE),
    _aggregate("mode", exp.Mode, takes=_ONE, unordered=_ANY),
    _aggregate("percentile", exp.Quantile, exp.PercentileCont, names="percentile", takes=_TWO),
    _aggregate("percentile_disc", exp.PercentileDisc, takes=_TWO),
    _aggregate("approx_percentile", exp.ApproxQuantile, takes=(2, 3)),
    _aggregate("approx_count_distinct", exp.ApproxDistinct, takes=(1, 2), distinct=True, unordered=_ANY),
    _aggregate("min_by", exp.ArgMin, takes=_TWO, unordered=1),
    _aggregate("max_by", exp.ArgMax, takes=_TWO, unordered=1),
    _aggregate("stddev_samp", exp.Stddev, exp.StddevSamp, names="std", takes=_ONE, distinct=True),
    _aggregate("stddev_pop", exp.StddevPop, takes=_ONE, distinct=True),
    _aggregate("var_samp", exp.Variance, takes=_ONE, distinct=True),
    _aggregate("var_pop", exp.VariancePop, takes=_ONE, distinct=True),
    _aggregate("skewness", exp.Skewness),
    _aggregate("kurtosis", exp.Kurtosis),
    _aggregate("corr", exp.Corr),
    _aggregate("covar_samp", exp.CovarSamp),
    _aggregate("covar_pop", exp.CovarPop),
    _aggregate("regr_count", exp.RegrCount, takes=_TWO),
    _aggregate("regr_slope", exp.RegrSlope),
    _aggregate("regr_intercept", exp.RegrIntercept),
    _aggregate("regr_r2", exp.RegrR2),
    _aggregate("regr_avgx", exp.RegrAvgx),
    _aggregate("regr_avgy", exp.RegrAvgy),
    _aggregate("regr_sxx", exp.RegrSxx),
    _aggregate("regr_syy", exp.RegrSyy),
    _aggregate("regr_sxy", exp.RegrSxy),
    _aggregate("listagg", exp.GroupConcat, distinct=True),
    _aggregate("array_agg", exp.ArrayAgg, exp.ArrayUniqueAgg, takes=_ONE, distinct=True, unordered=_ANY),
)}  # fmt: skip
"""Built-in aggregates by name."""
_NODES = {node: aggregate.name for aggregate in AGGREGATES.values() for node in aggregate.nodes}
_NAMES = {name: aggregate.name for aggregate in AGGREGATES.values() for name in aggregate.names}
_PARTS = {"this", "expressions", "expression", "quantile", "separator", "accuracy"}
_FLAGS = {"big_int", "deterministic", "nulls_excluded"}
"""Parts that the parser sets by the dialect; where an argument stands there, the call has too many."""


@dataclass(frozen=True)
class AggregateSyntax:
    """A call of an aggregate: its arguments, whether they are DISTINCT, and what its values are ordered by."""

    name: str
    parts: list[exp.Expr]
    distinct: bool = False
    order: tuple[exp.Ordered, ...] = ()


def aggregate_name(node: exp.Expr) -> str | None:
    """The name of the built-in aggregate that a node calls; ``None`` when it calls none.

    Example:
        >>> import sqlglot
        >>> aggregate_name(sqlglot.parse_one("every(a)")), aggregate_name(sqlglot.parse_one("abs(a)"))
        ('bool_and', None)
    """
    if isinstance(node, (exp.WithinGroup, exp.IgnoreNulls)):
        return aggregate_name(node.this)
    if isinstance(node, exp.Anonymous):
        return _NAMES.get(node.name.lower())
    return _NODES.get(type(node))


def read_aggregate(name: str, node: exp.Expr, source: SourceText) -> AggregateSyntax:
    """The parts of an aggregate's call; ``name`` is that of ``node``, also of one of the analyst's.

    Raises:
        UnsupportedError: the call has a part that is not evaluated.
    """
    match node:
        case exp.IgnoreNulls():  # what every aggregate does
            return read_aggregate(name, node.this, source)
        case exp.WithinGroup():
            return _within_group(name, node, source)
        case exp.Anonymous():
            source.refuse_others(node, {"this", "expressions"}, node.name.upper())
            parts = list(node.expressions)
        case _:
            flags = {flag for flag in _FLAGS if not isinstance(node.args.get(flag), exp.Expr)}
            source.refuse_others(node, _PARTS | flags, name.upper())
            keys = ("this", "expression", "expressions", "quantile", "separator", "accuracy")
            found = [node.args.get(key) for key in keys]
            parts = [p for one in found for p in (one if isinstance(one, list) else [one]) if p is not None]
    if len(parts) == 1 and isinstance(parts[0], exp.Star):
        source.refuse_others(parts[0], set(), "COUNT(*)")
        return AggregateSyntax(name, [])
    order: tuple[exp.Ordered, ...] = ()
    if parts and isinstance(parts[0], exp.Order):
        order = tuple(parts[0].expressions)
        parts[0] = parts[0].this
    if parts and isinstance(parts[0], exp.Distinct):
        source.refuse_others(parts[0], {"expressions"}, "DISTINCT")
        return AggregateSyntax(name, [*parts[0].expressions, *parts[1:]], True, order)
    return AggregateSyntax(name, parts, isinstance(node, exp.ArrayUniqueAgg), order)


def _within_group(name: str, node: exp.WithinGroup, source: SourceText) -> AggregateSyntax:
    """PERCENTILE_CONT(p), PERCENTILE_DISC(p) and MODE() WITHIN GROUP (ORDER BY x)."""
    order = tuple(node.expression.expressions)
    if name not in ("percentile", "percentile_disc", "mode"):
        source.refuse(f"{name.upper()} WITHIN GROUP", node, "write the order behind the arguments: (x ORDER BY y)")
    if len(order) != 1:
        source.refuse("WITHIN GROUP by several expressions", node)
    called = node.this
    source.refuse_others(called, () if name == "mode" else ("this",), f"{name.upper()} WITHIN GROUP")
    if name == "mode":
        if order[0].args.get("desc"):
            source.refuse(
                "MODE of a descending order", node, "of values that are as frequent MODE(x) takes the smallest"
            )
        return AggregateSyntax(name, [order[0].this])
    if name == "percentile_disc":
        return AggregateSyntax(name, [order[0].this, called.this], False, order)
    # Descending, the share is counted from the other end.
    descending = order[0].args.get("desc") and isinstance(called.this, exp.Literal) and not called.this.is_string
    share = exp.Literal.number(str(1 - Decimal(called.this.name))) if descending else called.this
    return AggregateSyntax(name, [order[0].this, share])
