"""The panel on a session without Spark: what its views show, what their buttons do, and what a saved notebook keeps."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace

import example_network
import ipywidgets
import nbformat
import pandas as pd
import pytest
from fake_session import FakeQuery, FakeSession

from workbench.engine.schedule import Progress
from workbench.notebook import long_work
from workbench.notebook.demo import page
from workbench.notebook.panel import add_stream, results_view
from workbench.notebook.panel.answer_page import answer_table
from workbench.notebook.panel.network_view import PlanView
from workbench.notebook.panel.panel import Panel
from workbench.notebook.panel.queries_view import QueriesView
from workbench.notebook.panel.replay_view import ReplayView
from workbench.notebook.panel.results_request import CHANGES, CHART, COLUMNS, GROUPS
from workbench.notebook.panel.results_view import ResultsView
from workbench.notebook.panel.sharing_view import SharingView
from workbench.notebook.panel.streams_view import StreamsView
from workbench.notebook.panel.timings_view import TimingsView
from workbench.session.live.sources import SourceStatus
from workbench.session.sinks.sink import SinkStatus

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def session() -> FakeSession:
    made = FakeSession()
    made.add_stream("fed", None, 10, 10, None)
    made.register("SELECT tranid FROM fed WHERE amount > 5 -- big", "q1", "spark")
    made.register("SELECT tranid FROM fed WHERE amount > 5 AND amount > 9 -- huge", "q2", "spark")
    made.run(2)
    yield made
    made.close()


def button(view, word: str) -> ipywidgets.Button:
    found = [w for w in descendants(view.widget) if isinstance(w, ipywidgets.Button) and w.description == word]
    return found[0]


def descendants(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from descendants(child)


def text_of(view) -> str:
    """All HTML of a view."""
    return " ".join(w.value for w in descendants(view.widget) if isinstance(w, ipywidgets.HTML))


# -- the network --------------------------------------------------------------------------------------------------


@pytest.fixture
def plan(session) -> PlanView:
    view = PlanView(session, session.player)
    view.refresh()
    return view


def test_numbers_follow_the_batches_and_the_layout_stays(plan, session):
    drawing, before = plan.widget.drawing, plan.widget.numbers
    session.run(1)
    plan.refresh()
    assert plan.widget.drawing is drawing
    assert (before["batch"], plan.widget.numbers["batch"]) == (2, 3)
    assert plan.widget.numbers["rows"][example_network.FED.id] == [0, 900]
    assert plan.widget.numbers["rows"][example_network.BIG.id][0] == 900, "what its parent let out"
    session.register("SELECT pairs", "q3", "spark")
    plan.refresh()
    assert plan.widget.drawing is not drawing


def test_a_node_says_what_it_computes_and_whom_it_serves(plan):
    huge = plan.widget.nodes[example_network.HUGE.id]
    assert huge["label"] == ["amount > 1000000"] and huge["parents"] == [example_network.BIG.id]
    assert [plan.widget.names[i] for i in huge["queries"]] == ["q2"]
    assert huge["columns"][0].startswith("tranid ")
    plan.widget.selected = huge["id"]
    assert plan.widget.series["batches"] == [1, 2] and plan.widget.series["kept"] == (1234, 56789)


def test_focus_folds_the_rest_and_a_dropped_query_is_not_in_focus(plan, session):
    whole = plan.widget.drawing
    plan.focus("Q1".lower())
    assert (
        plan.widget.drawing != whole and plan.widget.boxes[example_network.HUGE.id] == f"rest {example_network.FED.id}"
    )
    session.drop("q1")
    plan.refresh()
    assert plan.widget.focus == [] and plan.widget.names == ["q2"]


def test_a_tree_closes_and_its_nodes_are_found_in_its_box(plan):
    plan.widget.toggled = [example_network.FED.id]
    assert set(plan.widget.boxes.values()) == {example_network.FED.id}
    assert "σ  2 selections below" in plan.widget.drawing.replace("&#160;", " ")


@pytest.mark.slow
def test_a_thousand_nodes_are_drawn_by_their_trees_at_first(session):
    nodes = [example_network.selection(example_network.FED, example_network.over(amount)) for amount in range(1000)]
    plans = [example_network.plan(f"q{i}", node) for i, node in enumerate(nodes)]
    session.plan = example_network.network_of([example_network.FED, *nodes], *plans)
    session.queries = {plan.name: replace(session.queries["q1"], name=plan.name) for plan in plans}
    view = PlanView(session, session.player)
    view.refresh()
    assert len(view.widget.nodes) == 1001 and len(view.widget.drawing) < 10_000
    assert view.widget.focus == ["q999"], "the newest alone, since all are too many"
    view.choice.query = "q5"
    view.refresh()
    assert view.widget.focus == ["q5"], "it goes with the other views"
    view.focus("q7", "q9")
    view.choice.query = "q6"
    view.refresh()
    assert view.widget.drawing.count('class="node selection') == 2, "until the analyst chooses here"
    view.focus()
    view.refresh()
    assert view.widget.focus == [] and "1,000 selections below" in view.widget.drawing.replace("&#160;", " ")


def test_a_node_is_as_old_as_its_first_query(session):
    session.register("SELECT tranid FROM fed -- pairs", "q3", "spark")
    view = PlanView(session, session.player)
    view.refresh()
    since = {id_: node["since"] for id_, node in view.widget.nodes.items()}
    assert since[example_network.BIG.id] == 0 and since[example_network.SAME_BANK.id] == 2


# -- queries, decisions, results, timings -------------------------------------------------------------------------


def test_queries_show_what_is_new_until_it_was_looked_at(session):
    view = QueriesView(session, session.player)
    view.refresh()
    assert [row["key"] for row in view.query_list.rows] == ["q1", "q2"]
    assert view.query_list.rows[1]["cells"][2] == "<b>6</b>"
    view.choice.seen["q2"] = 2
    view.refresh()
    assert view.query_list.rows[1]["cells"][2] == ""
    for batches, new in ((2, "<b>6</b>"), (1, "<b>9</b>")):
        session.run(batches)
        view.refresh()
        assert view.query_list.rows[1]["cells"][2] == new
    session.seek(3, lambda report: None)
    view.refresh()
    assert view.query_list.rows[1]["cells"][2] == "<b>3</b>"


def test_a_query_is_previewed_registered_replaced_and_dropped_by_hand(session):
    view = QueriesView(session, session.player)
    view.refresh()
    view.query_list.selected = "q1"
    assert view.sql_field.value.startswith("SELECT tranid") and view.choice.query == "q1"
    view.name_field.value, view.sql_field.value = "q3", "SELECT pairs"
    button(view, "Preview").click()
    assert "nothing was changed: 1 node new, 2 shared" in text_of(view) and list(session.queries) == ["q1", "q2"]
    button(view, "Register").click()
    assert "q3 registered: 1 node new" in text_of(view) and list(session.queries) == ["q1", "q2", "q3"]
    view.sql_field.value = "SELECT huge"
    button(view, "Register").click()
    assert "q3 replaced: 2 shared, 1 removed" in text_of(view)
    button(view, "Drop").click()
    assert "q3 dropped" in text_of(view) and list(session.queries) == ["q1", "q2"]
    view.sql_field.value = "SELECT amout FROM fed"
    button(view, "Register").click()
    assert "there is no column amout" in text_of(view) and "^^^^^" in text_of(view)
    view.sql_field.value = "SELECT amount FROM fed"
    assert "there is no column" not in text_of(view), "the text is another one"


def test_an_error_stands_below_the_text_and_above_the_buttons(session):
    view = QueriesView(session, session.player)
    view.sql_field.value = "SELECT amout FROM fed"
    button(view, "Register").click()
    column = next(box for box in descendants(view.widget) if view.sql_field in getattr(box, "children", ()))
    below = column.children[column.children.index(view.sql_field) + 1]
    assert "there is no column amout" in below.value and "^^^^^" in below.value


def test_what_a_text_would_share_goes_with_its_text(session):
    view = QueriesView(session, session.player)
    view.name_field.value, view.sql_field.value = "q3", "SELECT pairs"
    button(view, "Preview").click()
    shown = text_of(view)
    view.sql_field.value = "SELECT pair"
    assert len(text_of(view)) < len(shown) - 100


def test_a_decision_shows_both_texts_with_what_the_node_computes_of_them(session):
    view = SharingView(session, session.player)
    view.refresh()
    view.chooser.widget.value = "q2"
    assert [row["cells"][3].count("shared") for row in view.step_list.rows].count(1) == 1
    view.step_list.selected = example_network.BIG.id
    shown = text_of(view)
    assert "<mark>" not in shown, "the texts of this session are made up: no node computes them"
    assert "q2: 1 of 2 nodes shared with q1, 1 new" in shown
    assert "Measured in batch 2" in shown and "once for 2 queries" in shown


@pytest.fixture(autouse=True)
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of the session without Spark are held without it."""
    monkeypatch.setattr(results_view, "hold_answer", FakeQuery.hold)
    monkeypatch.setattr(results_view, "follow_answer", FakeQuery.follow)
    monkeypatch.setattr(results_view, "rows_as_shown", lambda query, rows: rows)


@pytest.mark.slow
def test_results_are_scrolled_drawn_grouped_and_copied(session, tmp_path):
    view = ResultsView(session, session.player)
    view.refresh()
    assert view.chooser.widget.value == "q2"
    view.chooser.widget.value = "q1"
    waited(view)
    assert "25 rows after batch 2" in text_of(view)
    view.rows.window = [10, 5]
    waited(view)
    assert (view.rows.page["start"], view.rows.page["total"]) == (10, 25) and view.choice.seen["q1"] == 2
    assert [row["cells"][0] for row in view.rows.page["rows"]] == ["10", "11", "12", "13", "14"]
    view.rows.selected = {"at": 12, "column": 0}
    assert "SELECT * FROM q1 WHERE tranid = 12" in text_of(view)
    button(view, "Why is it here?").click()
    waited(view)
    assert "1 row of q1 is computed from 2 rows of fed" in text_of(view)
    view.where_field.value = "tranid == 77"
    waited(view)
    button(view, "Why is no row here?").click()
    waited(view)
    assert "without WHERE amount &gt; 5: 1 row" in text_of(view)
    view.where_field.value = ""
    waited(view)
    assert view.static_view().text.startswith("q1, whole answer after batch 2: 5 of 25 rows")
    view.what_field.value = CHANGES
    waited(view)
    assert [column["name"] for column in view.rows.page["columns"]] == ["batch", "weight", "tranid", "city"]
    assert view.where_field.disabled
    view.what_field.value = GROUPS
    view.group_fields["by"].value, view.group_fields["function"].value = "city", "SUM"
    view.group_fields["of"].value = "tranid"
    waited(view)
    assert "SELECT city, SUM(tranid) AS sum_tranid FROM q1 GROUP BY city" in text_of(view)
    assert "SUM(tranid)" in view.static_view().text
    view.what_field.value = COLUMNS
    waited(view)
    assert "most often" in text_of(view) and re.search(r"Rome \(\d+ times\)", view.static_view().text)
    view.what_field.value = CHART
    waited(view)
    assert "25 rows after batch 2" in text_of(view) and len(view.chart.chart.points) == 25
    assert "changed rows in the last 2 batches" in text_of(view)
    assert view.static_view().text.startswith("q1, tranid by city: 25 rows")
    view.copy_kind.value, view.copy_target.value = "CSV file", str(tmp_path / "rows.csv")
    button(view, "Copy").click()
    assert "rows.csv: 25 rows" in text_of(view) and (tmp_path / "rows.csv").exists()


@pytest.mark.slow
def test_a_chart_stays_while_its_points_change(session):
    view = ResultsView(session, session.player)
    view.refresh()
    view.chooser.widget.value, view.what_field.value = "q1", CHART
    waited(view)
    spec, points = view.chart.chart.spec, view.chart.chart.points
    session.queries["q1"].frame = session.queries["q1"].frame.head(3)
    session.run(1)
    view.refresh()
    waited(view)
    assert view.chart.chart.spec is spec and len(view.chart.chart.points) == 3 != len(points)
    view.chart.fields["kind"].value = "points"
    waited(view)
    assert view.chart.chart.spec["mark"]["type"] == "point"


def test_rows_of_an_answer_are_sorted_and_chosen(session):
    view = ResultsView(session, session.player)
    view.refresh()
    view.chooser.widget.value = "q1"
    view.rows.asked = {"column": "tranid", "descending": True}
    view.where_field.value = "tranid < 20"
    waited(view)
    assert "20 rows after batch 2" in text_of(view)
    assert view.rows.page["rows"][0] == {"cells": ("19", "Rome"), "titles": None, "fresh": False, "was": None}
    assert view.rows.page["columns"] == [
        {"name": "tranid", "number": True, "sortable": True}, {"name": "city", "number": False, "sortable": True}
    ]  # fmt: skip
    assert view.static_view().text.startswith("q1, whole answer after batch 2, where tranid < 20: 10 of 20 rows")
    view.chooser.widget.value = "q2"
    waited(view)
    assert "25 rows" in text_of(view) and view.where_field.value == "" and view.rows.asked == {}


def test_a_slider_goes_over_the_answers_after_past_batches(session):
    view = ResultsView(session, session.player)
    view.refresh()
    view.chooser.widget.value = "q1"
    assert (view.moment.min, view.moment.value, view.moment.max) == (0, 2, 2)
    view.moment.value = 1
    waited(view)
    assert "25 rows as it was after batch 1" in text_of(view)
    session.run(1)
    view.refresh()
    waited(view)
    assert (view.moment.value, view.moment.max) == (1, 3) and "as it was after batch 1" in text_of(view)
    view.moment.value = 3
    session.run(1)
    view.refresh()
    waited(view)
    assert (view.moment.value, view.moment.max) == (4, 4) and "25 rows after batch 4" in text_of(view)
    view.moment.value = 3
    session.seek(2, print)
    view.refresh()
    assert (view.moment.value, view.moment.max) == (2, 2)


def test_rows_that_came_since_the_query_was_looked_at_are_marked(session):
    view = ResultsView(session, session.player)
    view.refresh()
    view.chooser.widget.value = "q1"
    waited(view)
    assert not any(row["fresh"] for row in view.rows.page["rows"])
    session.run(3)
    view.rows.asked = {"column": "tranid", "descending": False}
    waited(view)
    assert [row["cells"][0] for row in view.rows.page["rows"] if row["fresh"]] == list(map(str, range(3, 25)))
    assert "22 rows new since batch 2" in text_of(view)
    button(view, "Looked at").click()
    waited(view)
    assert not any(row["fresh"] for row in view.rows.page["rows"]) and "new since" not in text_of(view)


def test_numbers_of_an_answer_stand_at_the_right():
    rows = pd.DataFrame(
        {"bank": ["<b>", None], "n": [1234567, -1], "sum": [Decimal("9876.50"), None], "open": [True, False]}
    )
    html = answer_table(rows, 2, "q").html or ""
    assert '<th scope="col" class="number">n</th>' in html and '<th scope="col">open</th>' in html
    first, second = re.findall(r"<tr><td.*?</tr>", html)
    assert re.findall(r"<td.*?>(.*?)</td>", first) == ["&lt;b&gt;", "1234567", "9876.50", "true"]
    assert re.findall(r"<td.*?>(.*?)</td>", second) == ["NULL", "-1", "NULL", "false"]
    assert answer_table(rows.head(0), 0, "q").text.startswith("q: 0 rows")


def waited(view: ResultsView) -> None:
    view.fetching.submit(lambda: None).result(120)


def test_timings_show_where_the_time_went(session):
    view = TimingsView(session, session.player)
    view.refresh()
    assert "Slowest operators of batches 1 to 2" in text_of(view) and "no batch is running" in text_of(view)
    assert view.static_view().text.splitlines()[0].split() == ["operator", "kept", "time", "share"]
    session.reports.clear()
    view.refresh()
    assert "No batch was run yet" in text_of(view)


# -- the panel and its static views -------------------------------------------------------------------------------


def outputs(run, source: str) -> list[dict]:
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        run(source)
    return [output.data for output in captured.outputs]


def test_the_panel_is_a_widget_and_its_static_view(shell, session):
    live, static = outputs(shell.run_cell, "%argus")
    assert live[WIDGET]["model_id"] and live["text/plain"] == ""
    for title in ("Replay", "Network", "Queries", "Sharing decisions", "Results", "Timings", "Streams"):
        assert title in static["text/plain"] and f"<h3>{title}</h3>" in static["text/html"]
    assert "q2: 1 of 2 nodes shared with q1, 1 new" in static["text/plain"]
    assert "<script" not in static["text/html"] and not re.search(r"(src|href)\s*=\s*[\"']?http", static["text/html"])


def test_a_page_made_of_a_saved_notebook_shows_the_static_view(shell, session):
    cell = nbformat.v4.new_code_cell("%argus")
    cell.outputs = [nbformat.v4.new_output("display_data", data=data) for data in outputs(shell.run_cell, "%argus")]
    html = page(nbformat.v4.new_notebook(cells=[cell]), "saved")
    assert "1 of 2 nodes shared" in html and "amount &gt; 500000" in html and "Slowest operators" in html


def test_the_static_view_is_made_anew_when_something_changed_and_the_session_rests(shell, session):
    outputs(shell.run_cell, "%argus")
    assert outputs(shell.run_cell, "1 + 1") == []
    (again,) = outputs(shell.run_cell, "%argus run 1")[-1:]
    assert "batch 3" in again["text/plain"]


def test_a_newer_panel_takes_the_place_of_the_older(session):
    first, second = Panel(session, session.player), Panel(session, session.player)
    first.tabs.selected_index = second.tabs.selected_index = 1
    first._ipython_display_()
    second._ipython_display_()
    drawn = first.tab_views[1].widget.numbers
    session.player.play(1)
    assert session.player.wait(120)
    assert second.tab_views[1].widget.numbers["batch"] == 3 and first.tab_views[1].widget.numbers == drawn


def test_only_the_open_tab_is_kept_up_to_date(session):
    panel = Panel(session, session.player)
    panel.refresh()
    queries = panel.tab_views[2]
    assert queries.query_list.rows == []
    panel.tabs.selected_index = 2
    assert len(queries.query_list.rows) == 2


def test_the_panel_opens_where_the_analyst_goes_on():
    session = FakeSession()
    panel = Panel(session, session.player)

    def opened() -> str:
        panel.refresh()
        return panel.tab_views[panel.tabs.selected_index].title

    assert opened() == "Streams"
    session.add_stream("fed", None, 10, 10, None)
    assert opened() == "Queries"
    session.register("SELECT big", "q1", "spark")
    assert opened() == "Results"
    panel.tabs.selected_index = 1
    assert opened() == "Network", "which the analyst chose"
    session.player.close()


def test_queries_are_sorted_as_asked(session):
    view = QueriesView(session, session.player)
    view.refresh()
    names = [row["key"] for row in view.query_list.rows]
    view.sort_field.value = "name"
    assert [row["key"] for row in view.query_list.rows] == sorted(names)
    session.reports[-1].changes.update({"q1": 3, "q2": 900})
    view.sort_field.value = "changed rows"
    assert [row["key"] for row in view.query_list.rows] == ["q2", "q1"]
    view.sort_field.value = "time"
    assert sorted(row["key"] for row in view.query_list.rows) == sorted(names)


def test_the_players_buttons(session):
    panel = Panel(session, session.player)
    panel.refresh()
    button(panel.replay, "Step").click()
    assert session.player.wait(120) and session.batch == 3
    panel.replay.back_field.value = 1
    button(panel.replay, "Go back").click()
    assert session.player.wait(120) and session.batch == 1
    panel.replay.batch_field.value = 77
    assert session.streams["fed"].batch == 77
    panel.replay.speed_field.value = "1h"
    assert "no stream has a time to keep" in text_of(panel.replay)


def test_the_speed_that_a_cell_has_set_is_shown(session, monkeypatch):
    view = ReplayView(session, session.player)
    begun, go_on = threading.Event(), threading.Event()
    monkeypatch.setattr(session, "run", lambda batches: begun.set() or (go_on.wait(120) and []))
    endless = SimpleNamespace(ready=lambda: begun.set() or go_on.wait(120), ended=True, pause=0.01, step=lambda: None)
    monkeypatch.setattr(session, "live", lambda latency: endless)
    view.speed_field.value = "live"
    view.refresh()
    assert view.speed_field.value == "live", "what is chosen waits for play"
    session.player.play(1)
    assert begun.wait(120)
    view.refresh()
    assert view.speed_field.value == "max"
    view.speed_field.value = "live"  # while it plays: it plays so at once
    assert session.player.position.latency == 1
    view.refresh()
    assert view.speed_field.value == "live"
    go_on.set()


def test_looking_at_the_rows_of_a_batch_sets_them_for_no_stream(session):
    session.add_stream("slow", None, 0, 1, None)
    panel = Panel(session, session.player)
    panel.refresh()
    session.set_batch("fed", 30)
    panel.refresh()
    assert panel.replay.batch_field.value == 30 and session.streams["slow"].batch == 1
    panel.replay.batch_field.value = 77
    assert {stream.batch for stream in session.streams.values()} == {77}


def test_how_far_a_batch_is_is_shown_on_a_line_that_stays(session, monkeypatch):
    view = ReplayView(session, session.player)
    view.refresh()
    assert "operators" not in text_of(view)
    lines = text_of(view).count("<div")
    session.underway, begun, go_on = Progress(3, 5, 14), threading.Event(), threading.Event()
    monkeypatch.setattr(session, "run", lambda batches: begun.set() or (go_on.wait(120) and []))
    session.player.play(1)
    assert begun.wait(120)
    view.refresh()
    assert "batch 3: 5 of 14 operators, " in text_of(view)
    assert "batch 3: 5 of 14 operators, " in view.static_view().text
    assert text_of(view).count("<div") == lines
    timings = TimingsView(session, session.player)
    timings.refresh()
    assert "batch 3: 5 of 14 operators, " in text_of(timings)
    go_on.set()
    assert session.player.wait(120)


def test_streams_say_what_live_sources_bring_and_how_far_sinks_are_behind(session):
    files = {f"{number}.csv": "all" for number in range(40)}
    session.sources["fed"] = SourceStatus("in/*.csv", files, 1200, 50.0, 2.5, "no file <b>", ended=False)
    session.sinks["out"] = SinkStatus("q1", "kafka://out", 2, 3, "refused")
    session.streams["fed"].shed, session.streams["fed"].left_out = "sample", 77
    view = StreamsView(session, session.player)
    view.refresh()
    shown = text_of(view)
    for said in ("in/*.csv", "38.csv all, 39.csv all and 38 more", "1,200", "2.5 s", "no file &lt;b&gt;", ">77<"):
        assert said in shown, said
    assert "kafka://out" in shown and "refused" in shown
    static = view.static_view()
    assert "1,200" in static.text and "kafka://out" in static.text and "left out" in static.text
    assert view.problems_seen.layout.display == "none"
    session.sources["fed"] = replace(session.sources["fed"], problem="", earlier="until 10:00:00: gone")
    view.refresh()
    assert "until 10:00:00: gone" in text_of(view) and view.problems_seen.layout.display is None
    view.problems_seen.click()
    assert "until 10:00:00: gone" not in text_of(view)
    session.sources.clear()
    session.sinks.clear()
    view.refresh()
    assert "Live sources" not in text_of(view) and "Sinks" not in text_of(view)


def test_a_stream_is_added_by_hand_from_a_file(session, tmp_path, monkeypatch):
    (tmp_path / "work" / "data").mkdir(parents=True)
    (tmp_path / "work" / "data" / "2013 trips.csv").write_text("id,at,fee\n1,2013-01-02 03:04:05,2.5\n2,,<b>\n")
    monkeypatch.chdir(tmp_path / "work")
    view = StreamsView(session, session.player)
    view.refresh()
    form = view.add_stream
    assert form.source_field.options == ("data/2013 trips.csv",)
    form.source_field.value = "data/2013 trips.csv"
    shown = text_of(view)
    assert "at timestamp" in shown and "&lt;b&gt;" in shown and "2013-01-02 03:04:05" in shown
    assert (form.name_field.value, form.time_field.value) == ("trips", "at")
    assert [value for _, value in form.time_field.options] == ["", "at", "id"]
    form.history_field.value, form.batch_field.value = 1, "20"
    button(view, "Add").click()
    form.join(120)
    stream = session.streams["trips"]
    assert (stream.history, stream.batch, stream.time) == (1, 20, "at") and "1 row of history" in text_of(view)
    form.source_field.value = "data/2013 trip.csv"
    assert "there is no file" in text_of(view) and "trips.csv" in text_of(view)


def test_a_source_is_looked_at_once_where_its_field_is_left_for_the_button(session, tmp_path, monkeypatch):
    (tmp_path / "trips.csv").write_text("id,fee\n1,2.5\n")
    monkeypatch.chdir(tmp_path)
    looked = []
    look = add_stream.preview_source
    monkeypatch.setattr(add_stream, "preview_source", lambda source: looked.append(source) or look(source))
    view = StreamsView(session, session.player)
    view.add_stream.source_field.value = "trips.csv"
    button(view, "Look").click()
    assert looked == ["trips.csv"] and "fee double" in text_of(view)
    (tmp_path / "trips.csv").write_text("id,fare\n1,2.5\n")
    button(view, "Look").click()
    assert looked == ["trips.csv"] * 2 and "fare double" in text_of(view)


def test_a_large_file_is_added_while_cells_run(session, tmp_path, monkeypatch):
    (tmp_path / "trips.csv").write_text("id,fee\n1,2.5\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(long_work, "PATIENCE", 0.01)
    monkeypatch.setattr(long_work, "PAUSE", 0.01)
    go, said, add = threading.Event(), threading.Event(), session.add_stream
    monkeypatch.setattr(session, "add_stream", lambda *args, **more: go.wait(120) and add(*args, **more))
    view = StreamsView(session, session.player)
    form = view.add_stream
    form.source_field.value = "trips.csv"
    form.widget.children[-1].observe(lambda change: "adding trips" in change["new"] and said.set(), "value")
    button(view, "Add").click()
    assert said.wait(120) and "trips" not in session.streams
    assert button(view, "Add").disabled
    button(view, "Add").click()
    go.set()
    form.join(120)
    assert "trips" in session.streams and not button(view, "Add").disabled
    assert "0 rows of history" in text_of(view) and form.name_field.value == ""


def test_a_stream_that_cannot_be_added_says_why(session, tmp_path, monkeypatch):
    (tmp_path / "trips.csv").write_text("id,fee\n1,2.5\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(session, "add_stream", lambda *args, **more: 1 / 0)
    view = StreamsView(session, session.player)
    view.add_stream.source_field.value = "trips.csv"
    button(view, "Add").click()
    view.add_stream.join(120)
    assert "ZeroDivisionError" in text_of(view) and not button(view, "Add").disabled
    view.add_stream.source_field.value = "trip.csv"
    button(view, "Add").click()
    assert "there is no file trip.csv" in text_of(view)


@pytest.mark.parametrize("name", ["plan", "replay", "streams", "queries", "sharing", "results", "timings"])
def test_every_view_stands_alone_and_has_a_text(session, name):
    view = getattr(session, f"{name}_view")()
    assert view.views[0].title in repr(view)
    empty = FakeSession()
    assert repr(getattr(empty, f"{name}_view")())
