"""Sliders for parameters: their values, answers that follow them, and what Keep registers; without Spark."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal

import pandas as pd
import pytest
from notebook.conftest import Cell

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import MagicError
from workbench.notebook.panel.parameter_sliders import ParameterSliders
from workbench.notebook.parameters import fill_placeholders
from workbench.notebook.slider_ranges import SliderRange

SQL = "SELECT g, COUNT(*) AS n FROM t WHERE amount > :least GROUP BY g"


@pytest.fixture
def session() -> Iterator[Session]:
    rows = pd.DataFrame({"g": [n % 3 for n in range(60)], "amount": range(60)})
    with Session(InProcess()) as made:
        made.add_stream("t", rows, history=40, batch=10)
        yield made


def sliders(session: Session, sql: str = SQL, spec: str = "least=0:50:10") -> ParameterSliders:
    def keep(text: str) -> str:
        return f"kept {session.register(text, name='kept').name}"

    def text_at(values: dict[str, object]) -> str:
        return fill_placeholders(sql, values, "spark")

    return ParameterSliders(session, [SliderRange.parsed(spec)], text_at, "spark", keep, {}, 10)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        ("a=0:3", (0, 1, 2, 3)),
        ("a=0:10:4", (0, 4, 8)),
        ("a=5:-5:-5", (5, 0, -5)),
        ("a=3:1", (3, 2, 1)),
        ("a=0:0.3:0.1", (Decimal(0), Decimal("0.1"), Decimal("0.2"), Decimal("0.3"))),
        ("a=DE-LU, FR,AT", ("DE-LU", "FR", "AT")),
        ("a=Bad Ems,10:30", ("Bad Ems", "10:30")),
        ("a=1,5,25", (1, 5, 25)),
        ("a=0.5,-1", (Decimal("0.5"), Decimal(-1))),
        ("a=1,2020-01-31", ("1", "2020-01-31")),
        ("a=2020-01-31,2019-12-24", (dt.date(2020, 1, 31), dt.date(2019, 12, 24))),
        ("a=2020-02-27:2020-03-01", tuple(dt.date(2020, 2, 27) + dt.timedelta(days=n) for n in range(4))),
    ],
)
def test_values(spec: str, values: tuple[object, ...]) -> None:
    assert SliderRange.parsed(spec).values == values


def test_a_range_without_a_step_has_about_a_hundred_values() -> None:
    assert len(SliderRange.parsed("a=0:1000000").values) == 101
    assert SliderRange.parsed("a=0:1").values[37] == Decimal("0.37")


@pytest.mark.parametrize(
    "spec",
    [
        "a",
        "a=1",
        "a=1,",
        "a=x",
        "a=x,,y",
        "a=1:x",
        "a=1:2:0",
        "1a=0:2",
        "1a=x,y",
        "a=0:1:2:3",
        "a=0:1e9:1",
        "a=0:9:0.00001",
    ],
)
def test_what_is_no_range_is_refused(spec: str) -> None:
    with pytest.raises(MagicError):
        SliderRange.parsed(spec)


def test_a_slider_goes_through_texts_from_that_of_its_variable(session: Session) -> None:
    rows = pd.DataFrame({"area": ["FR", "AT", "FR", "d'Or"], "n": range(4)})
    session.add_stream("areas", rows, history=4, batch=1)
    sql, ranges = "SELECT COUNT(*) AS n FROM areas WHERE area = :area", [SliderRange.parsed("area=AT,FR,d'Or")]
    shown = ParameterSliders(
        session, ranges, lambda values: fill_placeholders(sql, values, "spark"), "spark", str, {"area": "FR"}, 9
    )
    assert shown.values == {"area": "FR"} and ranges[0].position("XX") == 0
    for position, expected in enumerate((1, 2, 1)):
        shown.sliders[0].value = position
        shown.settle()
        assert f">{expected}</td>" in shown.answer.value, position


def test_answers_follow_and_only_keep_registers(session: Session) -> None:
    shown = sliders(session)
    shown.refresh()
    shown.settle()
    nodes = len(session.network.nodes)
    for position, rows in ((1, 29), (3, 9), (5, 0)):
        shown.sliders[0].value = position
        shown.settle()
        assert f"least = {position * 10}, after batch 0" in shown.answer.value
        asked = session.ask(SQL.replace(":least", str(position * 10)))
        assert asked["n"].sum() == rows and len(session.network.nodes) == nodes and not session.queries
    session.run(1)
    shown.sliders[0].value = 4
    shown.register()
    shown.settle()
    assert "kept kept" in shown.answer.value
    assert session.query("kept").result()["n"].sum() == 9


def test_positions_that_were_left_are_never_computed(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, asked, may_go = sliders(session), list[str](), threading.Event()
    real = session.ask

    def slow(sql: str, dialect: str | None = None) -> pd.DataFrame:
        asked.append(sql)
        assert may_go.wait(120)
        return real(sql, dialect)

    monkeypatch.setattr(session, "ask", slow)
    for position in (1, 2, 3, 4, 5):
        shown.sliders[0].value = position  # none of these waits for an answer
    may_go.set()
    shown.settle()
    assert len(asked) <= 2 and asked[-1] == SQL.replace(":least", "50")


def test_what_cannot_be_answered_is_said_and_the_next_position_is_answered(session: Session) -> None:
    shown = sliders(session, "SELECT g FROM t WHERE amount > :least AND g = 1", "least=0:20:10")
    session.drop_stream("t")
    shown.sliders[0].value = 1
    shown.settle()
    assert "unknown stream t" in shown.answer.value
    session.add_stream("t", pd.DataFrame({"g": [1], "amount": [30]}), history=1)
    shown.sliders[0].value = 2
    shown.settle()
    assert "1 row" in shown.answer.value


def test_it_reads_the_rows_that_a_query_keeps(session: Session) -> None:
    """The answer next to the query of all positions is that of the query itself, with each option of the text."""
    for least in range(0, 60, 7):
        alone = session.ask(f"SELECT amount FROM t WHERE amount > {least} ORDER BY amount")
        session.register("SELECT * FROM t WHERE amount > 5", name="cover")
        beside = session.ask(f"SELECT amount FROM t WHERE amount > {least} ORDER BY amount")
        session.drop("cover")
        pd.testing.assert_frame_equal(alone, beside)
        assert alone["amount"].tolist() == list(range(least + 1, 40))


def test_a_cell_shows_sliders_and_registers_nothing(run: Callable[[str], Cell], session: Session) -> None:
    cell = run(f"%%argus big --slider least=0:50:10\n{SQL}")
    assert cell.error is None and "big is not registered: its answer follows 1 slider" in cell.text
    assert not session.queries


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--slider most=0:9", "the cell has no parameter most"),
        ("--slider least=0", "least=0 is no range of a slider"),
        ("--slider least=0:9 --dry-run", "a cell with sliders registers nothing"),
    ],
)
def test_mistakes_are_the_cells(run: Callable[[str], Cell], line: str, said: str) -> None:
    assert said in str(run(f"%%argus big {line}\n{SQL}").error)
