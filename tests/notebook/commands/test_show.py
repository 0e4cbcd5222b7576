"""``%argus catalog`` on a real catalog, and what ``explain`` and ``--dry-run`` show of sharing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pandas as pd
import pytest
from fake_session import FakeQuery, FakeSession
from IPython.core.completer import provisionalcompleter

from workbench.catalog.catalog import Catalog
from workbench.catalog.database import CatalogError
from workbench.errors import MagicError
from workbench.explain.explanation import ExplanationView
from workbench.session.verification.report import Outcome, Verification


@dataclass
class ExplainedQuery(FakeQuery):
    explanation: ExplanationView = field(default_factory=lambda: ExplanationView("", ()))

    def explain(self) -> ExplanationView:
        return self.explanation


@dataclass
class SessionWithCatalog(FakeSession):
    known: Catalog = field(default_factory=Catalog)

    def catalog(self, sql: str) -> pd.DataFrame:
        names, rows = self.known.query(sql)
        return pd.DataFrame(rows, columns=list(names))

    def catalog_tables(self) -> list[tuple[str, tuple[str, ...], int]]:
        return self.known.tables()

    def register(self, sql: str, name: str, dialect: str, *how: object, **more: object) -> FakeQuery:
        _, explanation = self.preview(sql, name, dialect)
        made = super().register(sql, name, dialect)
        self.queries[name] = ExplainedQuery(**{**vars(made), "explanation": explanation})
        return self.queries[name]


@pytest.fixture
def session() -> Iterator[SessionWithCatalog]:
    session = SessionWithCatalog()
    yield session
    session.known.close()


RULES = Catalog().query("SELECT COUNT(*) FROM aggregate_rules")[1][0][0]
HOLISTIC = (
    "SELECT function, incremental FROM aggregate_rules"
    " WHERE function LIKE '%DISTINCT' AND function NOT LIKE 'BIT%' OR function IN ('MAD', 'MEDIAN', 'MODE')"
    " ORDER BY function"
)


def test_rows_of_a_query_with_quotes_in_quotes(run):
    cell = run(f'%argus catalog "{HOLISTIC}"')
    assert cell.error is None
    assert cell.text.splitlines()[0] == "10 rows"
    assert [line.split()[-1] for line in cell.text.splitlines()[2:]] == ["NULL"] * 10
    assert "MEDIAN" in cell.htmls[0]


def test_a_part_of_the_rows_is_shown_and_all_are_kept(run, shell):
    cell = run(f'%argus catalog "{HOLISTIC}" --limit 2 -o rules')
    assert cell.text.splitlines()[0] == "2 of 10 rows"
    assert "MEDIAN" not in cell.text
    assert shell.user_ns["rules"]["function"].tolist()[-1] == "SUM DISTINCT"


def test_options_may_come_first(run, shell):
    run(f'%argus catalog --limit 2 -o rules "{HOLISTIC}"')
    assert len(shell.user_ns["rules"]) == 10


def test_no_rows_and_no_limit_below_zero(run):
    assert run('%argus catalog "SELECT id, kind FROM nodes"').text == "0 rows\nid  kind"
    assert run('%argus catalog "SELECT function FROM aggregate_rules" --limit 0').text.startswith(f"0 of {RULES} rows")
    assert "--limit is a whole number, 0 or more, not '-1'" in str(run('%argus catalog "SELECT 1" --limit -1').error)


def test_without_sql_the_relations_are_listed(run):
    lines = run("%argus catalog").text.splitlines()
    assert lines[0] == "system catalog"
    assert lines[1].split() == ["relation", "rows", "columns"]
    (rules,) = (line.split(maxsplit=2) for line in lines if line.startswith("aggregate_rules"))
    assert rules == ["aggregate_rules", str(RULES), "function, over, category, incremental, vertical, reason"]
    assert any(line.split()[:2] == ["queries", "0"] for line in lines)


@pytest.mark.parametrize(
    ("line", "error", "message", "hint"),
    [
        ('"DELETE FROM nodes"', CatalogError, "a catalog is only read: use SELECT", "its tables are"),
        ('"SELECT * FROM nods"', CatalogError, "there is no relation nods", "did you mean nodes?"),
        ('"SELECT idd FROM nodes"', CatalogError, "there is no column idd", "its tables are"),
        ('"SELEC 1"', CatalogError, "syntax error: unexpected SELEC", "its tables are"),
        ("nodes2", CatalogError, "there is no relation nodes2", "did you mean nodes?"),
        ("SELECT id FROM nodes", MagicError, "the query must be in quotes", '%argus catalog "SELECT id FROM nodes"'),
        ('"SELECT 1" --limt 3', MagicError, "there is no option --limt", "--limit"),
    ],
)
def test_wrong_lines(run, line, error, message, hint):
    cell = run(f"%argus catalog {line}")
    assert isinstance(cell.error, error)
    assert message in cell.error.message
    assert hint in cell.error.hint


def test_help_lists_it(run):
    assert "%argus catalog" in run("%argus help").text
    told = run("%argus help catalog").text
    assert "--limit N" in told and "FROM nodes" in told


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("%argus cata", ["catalog"]),
        (
            '%argus catalog "SELECT * FROM agg',
            [f"aggregate_{table}" for table in ("basics", "parents", "rules", "statistics", "topology")],
        ),
        ('%argus catalog "SELECT * FROM nodes n, QUERY_', ["query_nodes", "query_outputs"]),
        ('%argus catalog "SELECT * FROM nodes JOIN ser', ["serves"]),
        ('%argus catalog "SELECT 1" --li', ["--limit"]),
    ],
)
def test_completion(shell, run, typed, expected):
    run("%argus streams")  # the session is there
    with provisionalcompleter():
        assert [one.text for one in shell.Completer.completions(typed, len(typed))] == expected


def test_completion_makes_no_session(shell):
    typed = '%argus catalog "SELECT * FROM agg'
    with provisionalcompleter():
        assert not any(one.text.startswith("aggregate") for one in shell.Completer.completions(typed, len(typed)))


def test_explain_shows_text_and_a_table(run):
    run("%%argus big\nSELECT big")
    run("%%argus huge\nSELECT huge")
    cell = run("%argus explain huge")
    assert cell.text.splitlines()[0] == "huge: 1 of 2 nodes shared with big, 1 new"
    assert cell.htmls[0].count("<tr") == 4


def test_explain_says_who_has_come_to_share_it_and_who_has_gone(run):
    run("%%argus big\nSELECT big")
    assert "today" not in run("%argus explain big").text
    run("%%argus huge\nSELECT huge")
    cell = run("%argus explain big")
    assert (
        cell.text.splitlines()[-1] == "so it was at its registration; today 1 of 1 node is shared, with huge"
        and "today 1 of" in cell.htmls[0]
    )
    assert "today" not in run("%argus explain huge").text
    run("%argus drop big")
    assert "today it shares its nodes with no query" in run("%argus explain huge").text


def test_a_dry_run_explains_and_changes_nothing(run, session):
    run("%%argus big\nSELECT big")
    cell = run("%%argus huge --dry-run\nSELECT huge")
    assert cell.text.splitlines()[0].startswith("dry run, nothing was changed: 1 node new, 1 shared")
    assert "huge: 1 of 2 nodes shared with big, 1 new" in cell.text.splitlines()
    assert "<table" in cell.htmls[0]
    assert list(session.queries) == ["big"]


@pytest.mark.parametrize(("kept", "removed"), [("big", "1 node removed, 1 left"), ("huge", "0 nodes removed, 2 left")])
def test_dropping_says_what_is_released(run, kept, removed):
    run(f"%%argus kept\nSELECT {kept}")
    run("%%argus gone\nSELECT huge")
    assert run("%argus drop gone").text == f"gone dropped: {removed}"


@dataclass
class VerifiedSession(FakeSession):
    def verify(self, name: str | None = None, sample: float | None = None) -> Verification | dict[str, Verification]:
        missing = pd.DataFrame({"side": ["Spark SQL"], "n": [7]})
        found = {
            "big": Verification("big", 2, Outcome.DIFFERS, 3, sample or 1.0, 1, 0, missing, seconds=0.5),
            "windowed": Verification("windowed", 2, Outcome.NOT_VERIFIABLE, reasons=("no window clause",)),
        }
        return found if name is None else found[name]


@pytest.mark.parametrize("session", [VerifiedSession()])
def test_verified_answers(run, shell, session):
    cell = run("%argus verify big --sample 0.25 -o rows")
    assert cell.text.splitlines() == [
        "big: DIFFERS from Spark SQL after batch 2: 1 row missing, 0 rows too many in 3 rows of a sample of 25.00% "
        "of its groups (0.5 s)",
        "  side       n",
        "  Spark SQL  7",
    ]
    assert shell.user_ns["rows"]["n"].tolist() == [7]
    assert run("%argus verify").text.splitlines()[-1] == "windowed: not verifiable: no window clause (0.0 s)"


def test_answers_of_the_past_and_what_came_between(run, session):
    session.register("SELECT big", "big", "spark")
    assert "big as it was after batch 2" in run("%argus results big --batch 2").text
    assert (
        "what big has more (1) and less (-1) after batch 5 than after batch 3"
        in run("%argus results big --diff 3 5").text
    )
    assert run("%argus results big --diff 3 -o changed").error is None
    assert "one batch or two" in run("%argus results big --diff 1 2 3").stdout
    assert "are of the answer" in run("%argus results big --diff 1 --batch 2").stdout


@pytest.mark.parametrize(("end", "begins"), [(".svg", "<svg"), (".dot", "digraph"), (".TXT", "")])
def test_a_network_is_written_to_a_file(run, session, tmp_path, end, begins):
    session.register("SELECT big", "big", "spark")
    file = tmp_path / f"network{end}"
    assert str(file) in run(f"%argus plan big --save {file}").text
    assert file.read_text(encoding="utf-8").startswith(begins) and file.stat().st_size
    assert [*tmp_path.iterdir()] == [file]
    other = run(f"%argus plan --save {tmp_path / 'network.html'}").stdout
    assert "no drawing that can be written" in other and ".dot, .txt, .sql" in other and "%argus snapshot" in other
    assert "could not write" in run(f"%argus plan --save {tmp_path / 'missing' / 'network.svg'}").stdout


def test_why_not_names_the_condition(run, shell):
    run("%%argus q1\nSELECT big")
    shown = run("%argus why-not q1 WHERE tranid = 7 -o missing").text
    assert "no row of q1 has tranid = 7" in shown
    assert "without WHERE amount > 5: 1 row" in shown and "fed: 1 row" in shown
    assert shell.user_ns["missing"].causes[0].conditions[0].clause == "WHERE"


def test_why_shows_the_rows_that_an_answer_is_computed_from(run, shell):
    run("%%argus q1\nSELECT big")
    shown = run("%argus why q1 'tranid < 2' -o because").text
    assert "1 row of q1 is computed from 2 rows of fed" in shown and "fed: 2 rows" in shown
    assert shell.user_ns["because"]["fed"]["batch"].tolist() == [0, 3]
    assert "fed, what batch 3 brought of them: 1 row" in run("%argus why q1 --batch 3").text
    for line in ("q1 tranid < 2", "q1 WHERE tranid < 2", 'q1 "where tranid < 2"', "q1 --batch 3 where tranid < 2"):
        assert "1 row of q1 is computed from" in run(f"%argus why {line}").text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("results big where amount > 3", "there is no query where\nhint: it is an option, --where"),
        ("results big limit 3", "there is no query limit\nhint: it is an option, --limit"),
        ("results big order by amount desc", "there is no query order\nhint: it is an option, --sort"),
        ("snapshot big", "big is a query, and the name of the file comes first\nhint: %argus snapshot big.html big"),
        ("plan --dialect postgres", "--dialect is of a file of SQL\nhint: --save network.sql --dialect postgres"),
    ],
)
def test_what_is_typed_in_the_wrong_place_is_told(session, run, line, said):
    session.register("SELECT big", "big", "spark")
    assert said in str(run(f"%argus {line}").error)
