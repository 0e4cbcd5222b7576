"""Random sequences of registrations, replacements and drops: planned, and checked after every step.

A scenario is data: a schema, rows, options and steps. So one that fails can be run again without some of its steps and
rows, and is shown with the few that are needed.
"""

from __future__ import annotations

import itertools
import random
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sharing import evaluation
from sharing.evaluation import Evaluation
from sharing.expression_values import forget
from sharing.random_schemas import rows, schema
from sharing.random_statements import Statements
from sharing.small_streams import Data, statistics
from sharing.soundness import check, check_columns

from workbench.catalog.catalog import Catalog
from workbench.errors import WorkbenchError
from workbench.network.network import Network
from workbench.options import Options
from workbench.session.learning.replan import Asked, replan
from workbench.sharing.planner import Planner
from workbench.sql import logical
from workbench.sql.algebra.planning_cache import PlanningCache
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, LogicalQuery
from workbench.sql.schema import Schema

SWITCHES = ("sharing", "join_sharing", "canonicalize", "transitivity", "join_order", "vertical_expansion", "reroute",
            "restructure")  # fmt: skip


@dataclass(frozen=True)
class Register:
    """Register statements, by name, together; a name that exists is replaced. Later ones may read them."""

    statements: tuple[tuple[str, str], ...]
    eager: bool = False

    def __str__(self) -> str:
        how = "eagerly " if self.eager else ""
        return f"register {how}" + "\n     and ".join(f"{name}: {sql!r}" for name, sql in self.statements)


@dataclass(frozen=True)
class Drop:
    """Drop some queries, which also are no views any more."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"drop {', '.join(self.names)}"


@dataclass(frozen=True)
class Reopen:
    """Store the catalog, and go on with what is read from the file."""

    def __str__(self) -> str:
        return "reopen"


@dataclass(frozen=True)
class AddAgain:
    """Add a function again: queries that come later mean another one."""

    name: str

    def __str__(self) -> str:
        return f"add {self.name} again"


Step = Register | Drop | Reopen | AddAgain


@dataclass(frozen=True)
class Scenario:
    """What is planned, over what."""

    seed: int
    schema: Schema
    data: Data
    options: Options
    known: bool
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        streams = (
            f"  {name}({', '.join(f'{c!r} {t}' for c, t in columns)})" for name, columns in self.schema.streams.items()
        )
        changed = {n: v for n, v in vars(self.options).items() if v != getattr(Options(), n)}
        lines = [f"seed {self.seed}, options {changed}, statistics {'known' if self.known else 'unknown'}", *streams]
        if self.schema.times:
            lines.append(f"  times {dict(self.schema.times)}")
        return "\n".join([*lines, *(f"{i}. {step}" for i, step in enumerate(self.steps, start=1))])


@dataclass
class Counts:
    """What was seen."""

    registrations: int = 0
    drops: int = 0
    moved: int = 0
    stayed: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)


class Wrong(AssertionError):
    """What was planned is wrong."""


def scenario(seed: int, expressions: bool = True, types_differ: bool = True) -> Scenario:
    """A random scenario.

    Args:
        seed: of all choices.
        expressions: whether columns may be called like expressions.
        types_differ: whether columns of one name may have different types in different streams.
    """
    _known.clear()
    chosen = random.Random(seed)
    streams = schema(chosen, expressions, types_differ)
    data = rows(chosen, streams, chosen.choice((4, 6)))
    focused = chosen.random() < 0.5
    steps = _steps(chosen, streams, Statements(chosen, streams, expressions, focused=focused))
    return Scenario(seed, streams, data, _options(chosen), chosen.random() < 0.5, steps)


def _options(chosen: random.Random) -> Options:
    off = {name: False for name in SWITCHES if chosen.random() < 0.1} if chosen.random() < 0.6 else {}
    strategy = "match-plan" if chosen.random() < 0.25 else "sharing-selection"
    return Options(strategy=strategy, materialize_below=chosen.choice((0.8, 0.8, 0.0, 1.0)), **off)


def _steps(chosen: random.Random, streams: Schema, statements: Statements) -> tuple[Step, ...]:
    steps = list[Step]()
    views: dict[str, LogicalQuery] = {}
    names = itertools.count(1)
    for _ in range(chosen.choice((6, 8, 12, 16) if statements.focused else (4, 6, 8, 12))):
        if views and chosen.random() < 0.15:
            gone = tuple(chosen.sample(sorted(views), chosen.randint(1, min(3, len(views)))))
            steps.append(Drop(gone))
            for name in gone:
                del views[name]
                statements.remove_view(name)
        if chosen.random() < 0.1:
            steps.append(Reopen())
        if chosen.random() < 0.05:
            name = chosen.choice(sorted(streams.functions))
            steps.append(AddAgain(name))
            streams = added_again(streams, name)
        made = []
        for _ in range(1 if chosen.random() < 0.8 else chosen.randint(2, 3)):
            name = chosen.choice(sorted(views)) if views and chosen.random() < 0.1 else f"q{next(names)}"
            if name in dict(made):
                continue
            sql = statements.statement()
            made.append((name, sql))
            query = _bound(sql, replace(streams, views=views))
            if isinstance(query, WorkbenchError):
                continue
            views[name] = query
            if chosen.random() < (0.05 if statements.focused else 0.3):
                statements.add_view(name, query)
        steps.append(Register(tuple(made), chosen.random() < 0.2))
    return tuple(steps)


def added_again(streams: Schema, name: str) -> Schema:
    """The schema with the next version of a function."""
    function = streams.functions[name]
    return replace(streams, functions={**streams.functions, name: replace(function, version=function.version + 1)})


_known: dict[object, LogicalQuery | WorkbenchError] = {}
"""What statements mean, over which streams and views: each is asked for more than once."""


def _bound(sql: str, streams: Schema) -> LogicalQuery | WorkbenchError:
    key = (sql, id(streams.streams), frozenset(streams.views.items()), frozenset(streams.functions.values()))
    if key not in _known:
        try:
            query = bind(sql, "spark", streams).query
            assert query is not None
            _known[key] = query
        except WorkbenchError as error:
            _known[key] = error
    return _known[key]


# -- running -------------------------------------------------------------------------------------------------------


@dataclass
class Run:
    """A scenario while it is planned."""

    of: Scenario
    folder: Path
    counts: Counts

    def __post_init__(self) -> None:
        self.evaluation = Evaluation(self.of.data)
        known = statistics(self.of.data) if self.of.known else {}
        self.planner = Planner(self.of.options, Catalog(), known)
        self.network = Network()
        self.queries: dict[str, LogicalQuery] = {}
        self.eager: set[str] = set()
        self.schema = self.of.schema

    def steps(self) -> None:
        """Plan and check step by step; then anew, in another order; then drop one query after the other.

        Raises:
            Wrong: something that was planned is not what was asked for.
        """
        try:
            for step in self.of.steps:
                self._step(step)
            self._replan()
            self._in_another_order()
            self._drop_all()
        finally:
            self.planner.catalog.close()

    def _step(self, step: Step) -> None:
        match step:
            case Register(statements, eager):
                self._register(statements, eager)
            case Drop(names):
                self._drop([name for name in names if name in self.queries])
                self.counts.drops += 1
                self._check()
                self._replan()
            case Reopen():
                self._reopen()
            case AddAgain(name):
                self.schema = added_again(self.schema, name)
        self._check()

    def _register(self, statements: tuple[tuple[str, str], ...], eager: bool) -> None:
        views, bound = dict(self.queries), dict[str, LogicalQuery]()
        for name, sql in statements:
            query = _bound(sql, replace(self.schema, views=views))
            if isinstance(query, WorkbenchError):
                self.counts.refused[_kind_of_message(query)] += 1
            elif self._is_small(query):
                bound[name] = views[name] = query
        with self.planner.catalog.transaction():
            network = self.planner.drop(self.network, [name for name in bound if name in self.queries])
            for name, query in bound.items():
                planned = self.planner.register(network, name, query, eager=eager)
                network = planned.network
                self.counts.registrations += 1
                self.counts.kinds[_kind_of_query(query)] += 1
                self.counts.rules.update(d.rule for d in planned.explanation.decisions)
                str(planned.explanation)
        self.network = network
        for name in bound:
            self.queries.pop(name, None)  # a replaced query comes last
            self.eager.discard(name)
        self.queries |= bound
        self.eager |= bound.keys() if eager else set()

    def _is_small(self, query: LogicalQuery) -> bool:
        try:
            self.evaluation.answer(query)
        except evaluation.TooLarge:
            self.counts.refused["(too many rows to be checked)"] += 1
            return False
        return True

    def _drop(self, names: Sequence[str]) -> None:
        self.network = self.planner.drop(self.network, names)
        for name in names:
            del self.queries[name]

    def _replan(self) -> None:
        """Plan all queries anew: in some scenarios first to look at, and then to keep."""
        asked = {name: Asked(query, "", "", name in self.eager) for name, query in self.queries.items()}
        before = self.network
        looked_at = replan(self.planner, before, asked, lambda network: False) if self.of.seed % 4 == 0 else None
        _same(self.planner.catalog.network(), before, "undone")
        kept = replan(self.planner, before, asked, lambda network: True)
        if looked_at is not None:
            _same(looked_at.network, kept.network, "rehearsed")
        self.network = kept.network
        for name, plan in before.queries.items():
            if not before.monotone[plan.read.root] and self.network.queries[name].read != plan.read:
                raise Wrong(f"{name} reads other rows than those that it may take back")
        self.counts.moved += len(kept.moved(before))
        self.counts.stayed += len(kept.stayed)
        self._check()

    def _reopen(self) -> None:
        self.planner.refresh(self.network)
        path = self.folder / "catalog.sqlite"
        path.unlink(missing_ok=True)
        self.planner.catalog.copy_to(path)
        catalog = Catalog(path, copied=True)
        _same(catalog.network(), self.network, "reopened")
        self.planner.catalog.close()
        self.planner = replace(self.planner, catalog=catalog)
        self.network = catalog.network()

    def _check(self) -> None:
        _same(self.planner.catalog.network(), self.network, "stored")
        check(self.network, self.evaluation, self.queries)

    def _in_another_order(self) -> None:
        order = sorted(self.queries, key=lambda name: random.Random(f"{self.of.seed} {name}").random())
        planner, network = Planner(self.of.options, Catalog(), self.planner.streams), Network()
        for name in order:
            network = planner.register(network, name, self.queries[name]).network
            self.counts.registrations += 1
        check(network, self.evaluation, self.queries)
        planner.catalog.close()

    def _drop_all(self) -> None:
        self._reopen()
        check_columns(self.network, self.evaluation)
        while self.queries:
            self._drop([random.Random(f"{self.of.seed} {len(self.queries)}").choice(sorted(self.queries))])
            self._check()
        if self.network.nodes:
            raise Wrong(f"nodes that are not needed: {list(self.network.nodes.values())}")


def _same(stored: Network, network: Network, how: str) -> None:
    if stored != network:
        differ = [
            f"{stored.nodes.get(id_)} is not {node}"
            for id_, node in network.nodes.items()
            if stored.nodes.get(id_) != node
        ]
        raise Wrong(f"the {how} network is another one: {'; '.join(differ) or 'its queries or their order'}")
    if list(stored.nodes) != list(network.nodes) or list(stored.queries) != list(network.queries):
        raise Wrong(f"the {how} network is in another order")


def _kind_of_query(query: LogicalQuery) -> str:
    match query:
        case Block():
            inputs = {type(i).__name__ for i in query.inputs}
            size = f"join of {len(query.inputs)}" if len(query.inputs) > 1 else "one input"
            over = " over queries" if inputs != {"StreamInput"} else ""
            groups = " grouped" if query.grouping else " distinct" if query.distinct else ""
            window = " windowed" if query.window or query.having_window else ""
            ranked = " ranked" if query.analytics else ""
            return size + over + groups + window + ranked
        case logical.Ordered():
            return f"first rows of {_kind_of_query(query.query)}"
    return f"{query.operator}{' all' if query.all else ''} of {len(query.branches)}"


def _kind_of_message(error: WorkbenchError) -> str:
    """The first words of a message, without names and values."""
    words = (w for w in error.message.split() if w.isalpha() and w.islower())
    return " ".join(itertools.islice(words, 6))


# -- failures ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Failure:
    """Why a scenario failed."""

    of: Scenario
    kind: str
    detail: str

    def __str__(self) -> str:
        data = "\n".join(f"  {name}: {[dict(row) for row in rows]}" for name, rows in self.of.data.items())
        return f"{self.of}\nrows\n{data}\n{self.kind}\n{self.detail}"


def failure(of: Scenario, folder: Path, counts: Counts | None = None) -> Failure | None:
    """Why a scenario fails; ``None`` when it does not."""
    counts = counts or Counts()
    forget()
    try:
        with PlanningCache().active():  # so that what a sequence does depends on nothing before it
            Run(of, folder, counts).steps()
    except evaluation.TooLarge:
        counts.refused["(sequences that became too large)"] += 1
    except Exception as error:
        where = [
            f"{frame.name} in {Path(frame.filename).name}" for frame in traceback.extract_tb(error.__traceback__)[-2:]
        ]
        kind = f"{type(error).__name__} from {' from '.join(reversed(where))}"
        return Failure(of, kind, "".join(traceback.format_exception(error, limit=-8)))
    return None


def shrunk(found: Failure, folder: Path) -> Failure:
    """The same failure of as few steps, statements and rows, with as few options changed as possible."""
    while True:
        for candidate in _smaller(found.of):
            again = failure(candidate, folder)
            if again is not None and again.kind == found.kind:
                found = again
                break
        else:
            return found


def _smaller(of: Scenario) -> list[Scenario]:
    made = []
    steps = of.steps
    for i in reversed(range(len(steps))):
        made.append(replace(of, steps=(*steps[:i], *steps[i + 1 :])))
    for i, step in enumerate(steps):
        if isinstance(step, Register) and len(step.statements) > 1:
            for j in range(len(step.statements)):
                rest = replace(step, statements=(*step.statements[:j], *step.statements[j + 1 :]))
                made.append(replace(of, steps=(*steps[:i], rest, *steps[i + 1 :])))
    plain = Options()
    for name, value in vars(of.options).items():
        if value != getattr(plain, name):
            made.append(replace(of, options=replace(of.options, **{name: getattr(plain, name)})))
    if of.known:
        made.append(replace(of, known=False))
    for name, rows_of in of.data.items():
        for i in range(len(rows_of)):
            made.append(replace(of, data={**of.data, name: [*rows_of[:i], *rows_of[i + 1 :]]}))
    return made
