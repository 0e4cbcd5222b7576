"""Whatever an analyst hands to a public function, only errors of the workbench come back.

The functions are found by introspection, so a new one is tried as soon as it is written.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import pandas as pd
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.errors import MOST_HINT, MOST_LINE, MOST_MESSAGE, InputError, UnexpectedError, WorkbenchError, shown
from workbench.errors.public_api import check_argument, public_api
from workbench.options import Options
from workbench.session.session import Session


class Mute:
    """An object that cannot be shown, compared or counted."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    def __hash__(self) -> int:
        raise RuntimeError("no hash")

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __bool__(self) -> bool:
        raise RuntimeError("neither true nor false")


def raising(*arguments: object) -> Any:
    raise ZeroDivisionError("of the analyst's")


WRONG: tuple[Any, ...] = (
    None, True, 0, -1, 3, 10**30, -(10**30), 1.5, float("nan"), float("inf"), Decimal("NaN"), 1j, b"bytes", b"\xff", "",
    " ", "text", "\ud800", "nu\0ll", "two\nlines", "x" * 300, "x" * 300_000, "é" * 200, "/", "~nobody/x", "(" * 5_000,
    "SELECT " * 500, "2 days", "99999999999999 weeks", "9" * 5_000, [], [1, "a"], ["a", "b"], (), ("a",), {}, {"a": 1},
    {1: "a"}, {"a": "SELECT"}, {"\ud800": "x"}, {"x" * 300: "SELECT a FROM s"}, set(), object(), object, Mute(),
    raising, len, Ellipsis, NotImplemented, Path("x" * 300), Path("\ud800"),
)  # fmt: skip
SKIPPED = {"close", "panel", "plan_view", "replay_view", "streams_view", "queries_view", "sharing_view", "results_view",
           "timings_view", "stop_playing", "wait", "play", "subscribe"}  # fmt: skip
"""Those that end what the test stands on, make widgets, or go on in the background; they are tried on their own."""


def functions(kind: type) -> Iterator[str]:
    """The public functions of a class."""
    for name, member in inspect.getmembers_static(kind):
        if name.startswith("_") or name in SKIPPED:
            continue
        inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(inner, FunctionType):
            yield name


def calls(kind: type, name: str, right: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Arguments of a function: wrong ones for each parameter, beside right ones for those it needs."""
    function = inspect.getattr_static(kind, name)
    function = function.__func__ if isinstance(function, classmethod | staticmethod) else function
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
    needed = [p.name for p in parameters if p.default is inspect.Parameter.empty]
    for parameter in parameters:
        for number, value in enumerate(WRONG):
            # A name of its own for each, so that none is refused because its name is taken.
            named = {"name": f"{name}_{parameter.name}_{number}"} if name.startswith("add_") else {}
            yield {**{n: {**right, **named}.get(n, "a") for n in needed}, parameter.name: value}


def tried(function: Callable[..., Any], /, *values: Any, **arguments: Any) -> str:
    """What is wrong with what a call raises; nothing when all is well."""
    try:
        function(*values, **arguments)
    except WorkbenchError as error:
        lines = str(error).splitlines()
        if len(lines) > 4 or max(map(len, lines)) > MOST_MESSAGE + 100:
            return f"a refusal of {len(lines)} lines and {len(str(error))} characters"
        with suppress(UnicodeEncodeError):
            str(error).encode()
            return f"a defect: {error}" if isinstance(error, UnexpectedError) else ""
        return "a refusal that cannot be written"
    except Exception as error:
        return f"{type(error).__name__}: {shown(error)}"
    return ""


def wrongly(what: Callable[..., Any], kind: type, name: str, right: dict[str, Any]) -> list[str]:
    found = []
    for arguments in calls(kind, name, right):
        wrong = tried(what, **arguments)
        if wrong:
            found.append(f"{name}({', '.join(f'{k}={shown(v)}' for k, v in arguments.items())}): {wrong}")
    return found


@pytest.fixture(scope="module")
def session(spark, tmp_path_factory) -> Iterator[Any]:
    from workbench.session.session import Session

    with pytest.MonkeyPatch.context() as patch, Session(spark=spark) as made:
        patch.chdir(tmp_path_factory.mktemp("public_api"))
        made.add_stream("s", pd.DataFrame({"a": [1, 2, 3], "t": [1, 2, 3]}), history=2, batch=1, time="t")
        made.register("SELECT a FROM s WHERE a > 1", name="q")
        yield made


RIGHT = {
    "sql": "SELECT a FROM s", "source": pd.DataFrame({"a": [1, 2]}), "path": "written.csv", "query": "q",
    "returns": "double", "function": len, "statistics": {"n": "COUNT(x)"}, "parameters": ("x",), "rule": "n",
}  # fmt: skip


def test_a_call_that_is_right_looks_for_no_names(session, monkeypatch: pytest.MonkeyPatch) -> None:
    """To read an answer took twice as long."""
    query = session.query("q")
    monkeypatch.setattr("workbench.errors.public_api.nearest", lambda *args: pytest.fail("a name was looked for"))
    assert query.result().shape and query.name == "q" and session.network.nodes


def test_functions_of_a_session(session) -> None:
    from workbench.session.session import Session

    wrong = []
    for name in functions(Session):
        if name == "open":
            continue
        wrong += wrongly(getattr(session, name), Session, name, RIGHT)
        for stream in [*session.queries][1:]:
            session.drop(stream)
    assert wrong == []
    assert session.query("q").result()["a"].tolist() == [2]


SOURCES = {
    "a name that is no text": pd.DataFrame({"\ud800": [1]}),
    "a value that is no text": pd.DataFrame({"a": ["\ud800"]}),
    "names of two parts": pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
    "names that are numbers": pd.DataFrame([[1, 2]], columns=[1, 2.5]),
    "values of all kinds": pd.DataFrame({"a": [1, "x", None, Mute, b"y"]}),
    "no rows": pd.DataFrame({"a": []}),
    "no columns": pd.DataFrame(index=[1, 2]),
    "no name": pd.DataFrame({"": [1]}),
    "names that differ in case": pd.DataFrame({"A": [1], "a": [2]}),
    "huge numbers": pd.DataFrame({"a": [10**30, 1]}),
    "complex numbers": pd.DataFrame({"a": [1j]}),
    "periods": pd.DataFrame({"a": pd.period_range("2020", periods=2)}),
    "dates beyond": pd.DataFrame({"a": pd.array([2**62, 1], "int64").astype("datetime64[s]")}),
}


@pytest.mark.parametrize("what", SOURCES)
def test_sources(session, what: str) -> None:
    name = what.replace(" ", "_")
    assert tried(session.add_table, name, SOURCES[what]) == ""
    if name in session.streams:
        assert tried(session.register, f"SELECT * FROM {name}", name="of_source") == ""
        assert tried(session.query("of_source").result) == ""
        session.drop("of_source")


def test_functions_of_a_query(session) -> None:
    from workbench.session.query import Query

    query = session.query("q")
    assert [w for name in functions(Query) for w in wrongly(getattr(query, name), Query, name, RIGHT)] == []


def test_functions_of_a_player(session) -> None:
    from workbench.session.player import Player

    wrong = []
    for name in functions(Player):
        if isinstance(inspect.getattr_static(Player, name), property):
            for value in WRONG:
                wrong.append(tried(partial(setattr, session.player, name), value))
        else:
            wrong += wrongly(getattr(session.player, name), Player, name, RIGHT)
    for value in WRONG:
        wrong.append(tried(session.player.play, batches=value))
        session.player.pause()
    assert [*filter(None, wrong)] == []


def test_functions_of_the_network(session) -> None:
    from workbench.explain.describe import NetworkView

    network = session.network
    assert [
        w for name in functions(NetworkView) for w in wrongly(getattr(network, name), NetworkView, name, RIGHT)
    ] == []


def test_sessions_are_made_and_opened_of_nothing_wrong(spark, tmp_path, monkeypatch) -> None:
    from workbench.session.session import Session

    monkeypatch.chdir(tmp_path)
    wrong = []
    for parameter in ("spark", "path", "dialect", "options"):
        for number, value in enumerate(WRONG):
            if value is None or (parameter == "path" and isinstance(value, str) and value in ("", " ", "/", "text")):
                continue

            def make(number: int = number, **given: Any) -> None:
                Session(**{"spark": spark, "path": f"folder-{number}", **given}).close()

            wrong += [f"{parameter}={shown(value)}: {w}" for w in [tried(make, **{parameter: value})] if w]
    for value in WRONG:
        wrong += [f"open({shown(value)}): {w}" for w in [tried(Session.open, path=value, spark=spark)] if w]
    assert wrong == []


@pytest.mark.parametrize(
    "given",
    [{"dialect": "nope"}, {"dialect": 5}, {"options": {}}, {"options": "sharing"}, {"spark": "local"}, {"path": 7}],
)
def test_useless_sessions_are_refused(given: dict[str, Any]) -> None:
    from workbench.session.session import Session

    with pytest.raises(WorkbenchError):
        Session(**given)


@pytest.mark.parametrize("field", Options.__dataclass_fields__)
def test_options_of_another_kind_are_refused(field: str) -> None:
    default = Options.__dataclass_fields__[field].default
    accepted = []
    for value in WRONG:
        try:
            Options(**{field: value})
            accepted.append(value)
        except WorkbenchError:
            pass
    assert all(isinstance(value, type(default)) or isinstance(default, float) for value in accepted)
    assert all(0 <= value <= 1 for value in accepted if isinstance(default, float))


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
def test_values_are_shown_whatever_they_are(value: object) -> None:
    assert len(shown(value)) <= 110
    assert "\n" not in shown(value)


def test_a_refusal_has_three_short_lines() -> None:
    sql = "SELECT " + ", ".join(f"a{i}" for i in range(50_000)) + " FROM s"
    error = InputError("m" * 200_000, sql=sql, position=sql.index("a40000"), length=10**6, hint="h\n" * 100_000)
    lines = str(error).splitlines()
    assert len(lines) == 4
    assert [len(line) <= most for line, most in zip(lines, (650, MOST_LINE + 5, MOST_LINE + 5, 350), strict=True)]
    assert len(lines[0]) <= MOST_MESSAGE + 10 and len(lines[3]) <= MOST_HINT + 20
    assert lines[1][lines[2].index("^") :].startswith("a40000")


def test_what_nobody_foresaw_keeps_its_cause() -> None:
    @public_api
    class Public:
        def work(self, how: Callable[[], object]) -> object:
            return how()

        @property
        def state(self) -> object:
            raise KeyError(Mute)

    with pytest.raises(UnexpectedError) as caught:
        Public().work(raising)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(UnexpectedError):
        _ = Public().state
    with pytest.raises(TypeError, match="missing 1 required"):
        Public().work()  # type: ignore[call-arg]

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Public().work(interrupted)


def test_kinds_are_checked_by_annotations() -> None:
    check_argument("batches", None, int | None)
    check_argument("rows", 5, float)
    check_argument("queries", {"a": 1}.keys(), Collection[str])
    for value, kind in (
        (True, int),
        ("5", int),
        (5, str),
        ({1: "a"}, Mapping[str, str]),
        (float("nan"), float),
        ("ab", Collection[str]),
        ({1}, Collection[str]),
    ):
        with pytest.raises(InputError):
            check_argument("given", value, kind)


def test_what_a_query_has_not_is_named_where_it_is() -> None:
    with Session(InProcess()) as session:
        session.add_stream("T", [{"a": 1, "Amount": 2}], history=1)
        query = session.register("SELECT a, Amount FROM T", name="best")

        def hint_of(ask: Callable[[], object]) -> str:
            with pytest.raises(WorkbenchError) as caught:
                ask()
            return caught.value.hint or ""

        assert hint_of(lambda: query.amount) == 'a column of its answer: result()["Amount"]'
        assert hint_of(lambda: query["amount"]) == 'a column of its answer: result()["Amount"]'
        rows = "its answer is a DataFrame: result().iloc[0], and result().itertuples() goes over its rows"
        assert hint_of(lambda: list(query)) == rows
        assert hint_of(lambda: query.sort("a")) == "did you mean result?"
        assert hint_of(lambda: session["best"]) == "session.query('best')"
        assert hint_of(lambda: session.why("best")) == "a Query has it: session.query(…).why"
        assert hint_of(lambda: session.pause()) == "a Player has it: session.player.pause"
        assert hint_of(lambda: query.why(query.result().iloc[0])) == "give a dictionary: to_dict() makes one"
        assert hint_of(lambda: session.drop_query("best")) == "did you mean drop?"
        assert hint_of(lambda: session.ask("best")).endswith(": SELECT * FROM best")


def test_the_package_is_not_the_session_of_the_notebook() -> None:
    from workbench import session

    with pytest.raises(AttributeError, match="get_session"):
        session.register  # noqa: B018  # asks for it
