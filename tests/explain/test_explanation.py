"""How explanations read, as text and as HTML: the same content, every rule in words, everything escaped."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.explain.explanation import RULE_TEXTS, ExplanationView, sign
from workbench.network.network import Network
from workbench.network.sql_text import Words
from workbench.session.session import Session
from workbench.sharing.decisions import Candidate, Decision, Explanation, Rule
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import DATE, INTEGER, STRING, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

COLUMNS = (("id", INTEGER), ("bank", INTEGER), ("day", DATE), ("amount", decimal(15, 2)), ("city", STRING))
SCHEMA = Schema(streams={"fed": COLUMNS})
SEVEN = tuple(f"q{i}" for i in range(1, 8))


def decision(node: str = "S1", created: bool = False, rule: str = Rule.EQUAL, **more: object) -> Decision:
    shared_with = () if created else ("big",)
    return Decision(**{"node": node, "operator": "SELECT * FROM F1 WHERE a < 5", "created": created, "rule": rule,
                       "shared_with": shared_with, **more})  # type: ignore[arg-type]  # fmt: skip


def new(node: str = "S2") -> Decision:
    return decision(node, created=True, rule=Rule.NEW)


def text_of(*decisions: Decision, notes: tuple[str, ...] = ()) -> str:
    return str(ExplanationView("mine", decisions, notes))


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ((), "mine: nothing shared, 0 nodes new"),
        ((new(),), "mine: nothing shared, 1 node new"),
        ((new(), new("S3")), "mine: nothing shared, 2 nodes new"),
        ((decision(),), "mine: all 1 node shared with big"),
        ((decision(), new(), new("S3")), "mine: 1 of 3 nodes shared with big, 2 new"),
        ((decision(shared_with=()),), "mine: all 1 node shared"),
        ((decision(), decision("S3", shared_with=("huge", "big"))), "mine: all 2 nodes shared with big, huge"),
        ((decision(shared_with=SEVEN[:5]),), "mine: all 1 node shared with q1, q2, q3, q4, q5"),
        ((decision(shared_with=SEVEN),), "mine: all 1 node shared with q1, q2, q3, q4, q5 and 2 more"),
    ],
)
def test_the_first_line_says_what_is_shared(decisions: tuple[Decision, ...], expected: str) -> None:
    assert text_of(*decisions).splitlines()[0] == expected


@pytest.mark.parametrize("rule", Rule)
def test_every_rule_has_words(rule: Rule) -> None:
    assert RULE_TEXTS[rule] != rule
    if rule is not Rule.NEW:
        assert RULE_TEXTS[rule] in text_of(decision(rule=rule))


def test_a_node_is_one_line() -> None:
    lines = text_of(decision(shared_with=SEVEN), new("Jabc")).splitlines()
    assert lines[1:] == [
        "  σ  shared  SELECT * FROM F1 WHERE a < 5  (the same computation; with q1, q2, q3, q4, q5 and 2 more)",
        "  ⋈  new     SELECT * FROM F1 WHERE a < 5",
    ]


CANDIDATES = (
    Candidate("J1", Rule.SUBSUMES, 1234.4, True, ""),
    Candidate("J2", Rule.COVER, 0.0, False, "J1 serves with less change", "join on l.a = r.b of q1 and 2 more"),
    Candidate("J3", Rule.SUBSUMES, 5000.0, False, "J1 leaves fewer rows to test"),
    Candidate("J4", "near miss", None, False, "it tests l.a = r.b, which this query does not"),
    Candidate("J4", "near miss", None, False, "it tests l.a = r.b, which this query does not"),
)


def test_what_remains_what_lost_and_near_misses() -> None:
    told = decision("J1", rule=Rule.SUBSUMES, reason="still to be tested: r.d <= 10", candidates=CANDIDATES)
    wider = "it now tests only what all its readers have in common; each tests the rest below it"
    assert text_of(told, notes=("inferred: t2.a > 5", "rerouted: S1 is now computed from S2")).splitlines()[2:] == [
        "      still to be tested: r.d <= 10, on about 1,234 rows",
        f"      not the join on l.a = r.b of q1 and 2 more ({wider}): J1 serves with less change",
        "      not J3 (all rows wanted are among its rows, on about 5,000 rows): J1 leaves fewer rows to test",
        "      near miss: J4: it tests l.a = r.b, which this query does not",
        "  · inferred: t2.a > 5",
        "  · rerouted: S1 is now computed from S2",
    ]


def test_html_has_the_same_content() -> None:
    told = decision("J1", rule=Rule.SUBSUMES, reason="still to be tested: r.d <= 10", candidates=CANDIDATES)
    explanation = ExplanationView("mine", (told, new()), ("near miss: x < y",))
    html = explanation._repr_html_()
    assert html.count("<tr") == 3
    shown = unescape(re.sub("<[^>]*>", " ", html))
    words = set(re.findall(r"[^\s();]+", str(explanation)))
    assert words - set(re.findall(r"[^\s();]+", shown)) <= {"·", "with"}


def test_html_is_escaped_wherever_text_comes_from() -> None:
    evil = "<script>x</script>"
    candidates = (Candidate(evil, evil, 5.0, False, evil), Candidate(evil, "near miss", None, False, evil))
    made = Decision(evil, evil, False, evil, (evil,), evil, candidates)
    html = ExplanationView(evil, (made,), (evil,))._repr_html_()
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 12


def test_signs_of_real_nodes() -> None:
    network, planner = Network(), Planner()
    queries = {
        "σ": "SELECT id FROM fed WHERE city = ' FROM x UNION '",
        "⋈": "SELECT l.id FROM fed l, fed r WHERE l.id = r.bank",
        "γ": "SELECT bank, COUNT(*) AS n FROM fed GROUP BY bank",
        "δ": "SELECT DISTINCT city FROM fed",
        "∪": "SELECT id FROM fed UNION SELECT bank FROM fed",
        "∩": "SELECT id FROM fed INTERSECT ALL SELECT bank FROM fed",
        "−": "SELECT id FROM fed EXCEPT SELECT bank FROM fed",
    }
    for expected, sql in queries.items():
        query = bind(sql, "spark", SCHEMA).query
        assert query is not None
        network = planner.register(network, expected, query).network
        (id_,) = network.queries[expected].nodes
        assert sign(id_, network.nodes[id_].sql(Words())) == expected
    source = network.queries["σ"].read.root
    assert sign(source, network.nodes[source].sql(Words())) == "F"


def test_an_explanation_survives_the_catalog() -> None:
    told = decision("J1", rule=Rule.SUBSUMES, reason="still to be tested: x", candidates=CANDIDATES)
    explanation = Explanation("mine", (told, new()), ("a note",))
    assert Explanation.from_rows("mine", explanation.rows()) == explanation


def test_an_explanation_among_queries_names_no_others() -> None:
    decisions = decision(shared_with=("gone", "kept")), decision("S3", shared_with=("gone",))
    explanation = ExplanationView("q", decisions).among({"kept", "q"})
    assert [one.shared_with for one in explanation.decisions] == [("kept",), ()]
    assert "gone" not in f"{explanation}{explanation._repr_html_()}"


def test_long_cells_wrap_also_where_those_around_them_do_not() -> None:
    html = ExplanationView("mine", (decision(),), ())._repr_html_()
    assert html.count('<div style="white-space:normal">') == 3


def planned(name: str, sql: str) -> Explanation:
    return Planner().register(Network(), name, bind(sql, "spark", SCHEMA).named(name)[name]).explanation


def test_places_of_arrays_are_not_told_of() -> None:
    """They are rows of constants, a hundred UNION ALL of them."""
    exploded = "SELECT w FROM fed LATERAL VIEW EXPLODE(SPLIT(city, ' ')) x AS w"
    told = {
        name: ExplanationView.of(planned(name, sql))
        for name, sql in (("words", exploded), ("rows", "SELECT * FROM (VALUES (1), (2)) v(a)"))
    }
    assert str(told["words"]).splitlines() == [
        "words: nothing shared, 1 node new",
        "  F  stream  SELECT * FROM fed",
        "  ⋈  new     SELECT * FROM fed l JOIN «constants» r ON EXPLODE(SPLIT(l.city, ' '))",
    ]
    assert str(told["rows"]).splitlines() == [
        "rows: nothing shared, 1 node new",
        "  ∪  new     SELECT 1 AS value FROM «constants» UNION ALL SELECT 2 FROM «constants»",
    ]


def test_what_makes_constants_is_no_condition_and_is_shared_with_nobody(in_process: InProcess, tmp_path: Path) -> None:
    """A guard of an array's length, and a condition of another query, stood in explanations of VALUES and series."""
    texts = {
        "words": "SELECT w FROM fed LATERAL VIEW EXPLODE(SPLIT(city, ' ')) x AS w",
        "rome": "SELECT city FROM fed WHERE city = 'Rome'",
        "named": "SELECT v.b FROM fed JOIN (VALUES ('Ulm', 1), ('Bonn', 2)) v(a, b) ON fed.city = v.a",
    }
    with Session(in_process, tmp_path / "session") as session:
        session.add_stream("fed", pd.DataFrame({"city": ["Rome", "Ulm"]}))
        told = {name: str(session.register(text, name).explain()) for name, text in texts.items()}
        view = session.network
    assert told["named"].splitlines() == [
        "named: nothing shared, 1 node new",
        "  F  stream  SELECT * FROM fed",
        "  ⋈  new     SELECT * FROM fed l JOIN «constants» r ON value_1 = l.city",
    ]
    assert view.to_text("named").splitlines()[0] == "query named: 1 node, 0 shared with other queries"
    assert "ARRAY_SIZE" not in view.to_text() and "Rome" not in view.to_text("named")
    assert view.work("named") < view.ancestors("named") and not view.work("words") & view.work("named")
    assert view.work() == view.work("named") | view.work("words") | view.work("rome")
