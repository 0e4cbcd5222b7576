"""Laying out: by the dot program and without it, with anything an analyst may write in it."""

from __future__ import annotations

import re
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace

import example_network
import pytest
from network.test_wording import SCHEMA

from workbench.errors import EnvironmentProblem
from workbench.explain.describe import NetworkView
from workbench.network.network import Network
from workbench.network.nodes import Source
from workbench.network.sql_text import Words
from workbench.notebook import drawing
from workbench.notebook.drawing import picture, render_svg
from workbench.sharing.planner import Planner
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.types import STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, or_pred, pred_set

NASTY = [
    "a < b & c > d",
    '"quoted" and \\back\\slash\\',
    "{record | field} <b>bold</b>",
    "line\none \\n \\N \\G &amp; &#x41;",
    "x" * 500,
    "trailing \\",
    "NUL \0 and \x1b escape",
    "日本語 ∪ σ",
    "]]> --> <!-- %s {0}",
]


@pytest.fixture(params=["program", "in process"])
def render(request, monkeypatch):
    has_dot = drawing.shutil.which("dot") is not None
    if request.param == "program" and not has_dot:
        pytest.skip("there is no dot program")
    if request.param == "in process":
        monkeypatch.setenv("PATH", "")
        assert drawing.shutil.which("dot") is None
    return render_svg


def texts(svg: str) -> str:
    return " ".join(element.text or "" for element in ET.fromstring(svg).iter() if element.tag.endswith("text"))


def test_all_of_the_example_is_in_the_picture(render):
    network = example_network.example()
    svg = render(NetworkView(network, [example_network.report(network)]).to_dot(query="passed_on"))
    shown = texts(svg)
    assert svg.startswith("<svg")
    for part in (*network.queries, "σ", "⋈", "γ", "δ", "−", "∩", "×7 queries", "900 → 800 rows", "left", "right"):
        assert part in shown


@pytest.mark.parametrize("text", NASTY)
def test_names_and_constants_are_shown_as_they_are(render, text):
    stream = Source(text)
    test = Literal(Column("c", STRING), Operator.EQ, Constant(text, STRING))
    selection = example_network.selection(stream, pred_set([or_pred([test])]))
    query = text.replace("\n", " ")  # the name before the end of a line is that of the query that a check watches over
    network = example_network.network_of([stream, selection], example_network.plan(query, selection))
    shown = texts(render(NetworkView(network).to_dot()))
    visible = " ".join("".join(c if c.isprintable() or c == "\n" else " " for c in text).split())[:30]
    assert " ".join(shown.split()).count(visible) >= 2, shown  # the stream's node and the query's box


def test_the_saved_output_needs_nothing_from_elsewhere():
    shown = picture(NetworkView(example_network.example()))
    assert "<script" not in shown.html and "href=" not in shown.html
    drawn = [re.findall(r' (?:d|points)="[^"]*"', form) for form in (shown.svg, shown.html)]
    assert drawn[0] and drawn[0] == drawn[1]
    assert not re.findall(r'(?:fill|stroke)="(?:#|white|black)', shown.html), "colours are the theme's"
    assert shown.text.startswith("query network: 10 nodes")


def test_tooltips_have_the_full_statement(render):
    svg = render(NetworkView(example_network.example()).to_dot())
    titles = [e.get("{http://www.w3.org/1999/xlink}title", "") for e in ET.fromstring(svg).iter()]
    assert any(t.startswith("SELECT * FROM FedWireTrans WHERE amount > 500000") for t in titles)


def test_a_long_statement_is_cut_where_it_is_drawn(render):
    banks = (Constant(f"<{number}&>", STRING) for number in range(3_000))
    either = or_pred([Literal(Column("sbank_name", STRING), Operator.EQ, bank) for bank in banks])
    node = example_network.selection(example_network.FED, pred_set([either]))
    assert len(node.sql(Words())) > 50_000
    assert "…" in texts(render(NetworkView(example_network.network_of([example_network.FED, node])).to_dot()))


LONG_CHAIN = """
WITH pairs AS (SELECT a.carrier, a.dep_delay AS delay, b.day FROM flights a JOIN flights b
               ON a.carrier = b.carrier AND a.dep_delay > 60 AND b.dep_delay > 2 * a.dep_delay),
     days AS (SELECT carrier, day, COUNT(*) AS n, MAX(delay) AS worst FROM pairs GROUP BY carrier, day
              HAVING COUNT(*) > 3 AND MAX(delay) > 100)
SELECT carrier, SUM(n) AS n FROM days JOIN weather USING (day) WHERE temp > 20 GROUP BY carrier HAVING SUM(n) > 10
"""


def test_a_wide_drawing_is_folded_until_it_fits():
    def width(svg: str) -> float:
        return float(re.search(r'width="([\d.]+)pt"', svg)[1])

    query = bind(LONG_CHAIN, "spark", SCHEMA).named("hot")["hot"]
    view = NetworkView(Planner().register(Network(), "hot", query).network)
    assert width(render_svg(view.to_dot())) > 1_120 >= width(picture(view).svg)
    small = NetworkView(example_network.example())
    assert picture(small).svg == render_svg(small.to_dot()), "it fits as it is"


def test_a_join_of_all_pairs_says_so():
    pairs = replace(example_network.SAME_BANK, predicates=TRUE, tested=TRUE)
    view = NetworkView(example_network.network_of([*example_network.example().nodes.values(), pairs]))
    assert view.node(pairs.id).caption == ["⋈  join of all pairs"]


def test_a_large_network_is_drawn_by_trees_and_a_query_alone(render):
    nodes = [example_network.selection(example_network.FED, example_network.over(amount)) for amount in range(300)]
    plans = [example_network.plan(f"q{amount}", node) for amount, node in enumerate(nodes)]
    view = NetworkView(example_network.network_of([example_network.FED, *nodes], *plans))
    assert "300 selections below" in texts(render(view.to_dot()))
    assert "and 294 more" in texts(render(view.to_dot()))
    alone = texts(render(view.to_dot(query="q7")))
    assert "amount > 7" in alone and "299 selections of other queries" in alone
    assert view.to_dot(full=True).count("amount > ") > 300


def test_an_empty_network_is_drawn(render):
    assert render(NetworkView(Network()).to_dot()).startswith("<svg")


def test_a_layout_that_fails_is_an_error_with_a_hint(render):
    with pytest.raises(EnvironmentProblem) as caught:
        render("digraph {")
    assert "doctor" in (caught.value.hint or "")


def test_a_program_that_fails_is_an_error_with_a_hint(monkeypatch):
    def broken(dot: str) -> str:
        raise subprocess.CalledProcessError(1, "dot")

    monkeypatch.setattr(drawing.shutil, "which", lambda name: "/usr/bin/dot")
    monkeypatch.setattr(drawing, "_by_program", broken)
    with pytest.raises(EnvironmentProblem):
        render_svg("digraph {}")
