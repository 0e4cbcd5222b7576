"""Magics in a real shell: what a cell shows, what it changes, and how it fails."""

from __future__ import annotations

import warnings
from dataclasses import replace

import example_network
import pandas as pd
import pytest

from workbench.engine.reports import BatchReport
from workbench.errors import MagicError, SqlError, SqlWarning, UnexpectedError, WorkbenchError
from workbench.explain.describe import NetworkView
from workbench.network.network import Network
from workbench.notebook.commands.registry import COMMANDS
from workbench.notebook.commands.show import latest_changes
from workbench.notebook.commands.timings import longest_chain
from workbench.notebook.display import source_problem
from workbench.notebook.panel import replacement_view
from workbench.notebook.panel.replacement_view import ReplacementChoice as Choice
from workbench.notebook.replay_status import backlog
from workbench.session.as_of import AsOf, StreamAsOf
from workbench.session.live.sources import SourceStatus
from workbench.session.sinks.sink import SinkStatus
from workbench.streams.drift import NAN, Drift
from workbench.streams.source import QuarantinedRow


def test_a_cell_registers_its_sql_and_shows_the_first_rows(run, session):
    cell = run("%%argus big_transfers --dialect oracle --limit 3\nSELECT big FROM f")
    assert cell.error is None
    assert session.queries["big_transfers"].sql == "SELECT big FROM f\n"
    assert session.queries["big_transfers"].dialect == "oracle"
    assert "big_transfers registered: 1 node new; the network has 1 node" in cell.text
    assert "big_transfers after batch 0: 3 of 25 rows" in cell.text
    assert cell.text.count("Rome") == 3
    assert "<table" in cell.htmls[-1]


def test_registering_says_what_is_shared_and_what_replacing_removes(run, session):
    run("%%argus q1\nSELECT huge")
    assert "q2 registered: 1 node new, 2 shared; the network has 3 nodes" in run("%%argus q2\nSELECT pairs").text
    run("%argus drop q1")
    assert "q2 replaced: 1 shared, 2 removed; the network has 1 node" in run("%%argus q2\nSELECT big").text


def test_a_dry_run_shows_what_would_be_and_changes_nothing(run, session):
    run("%%argus q1\nSELECT big")
    cell = run("%%argus q2 --dry-run\nSELECT huge")
    assert "dry run, nothing was changed: 1 node new, 1 shared; the network has 2 nodes" in cell.text
    assert "q2: 1 of 2 nodes shared with q1, 1 new" in cell.text and "(the same computation; with q1)" in cell.text
    assert "<svg" in cell.htmls[0]
    assert list(session.queries) == ["q1"]


def test_the_whole_result_goes_into_a_variable(run, shell):
    run("%%argus q1 -o rows --limit 1\nSELECT big")
    assert len(shell.user_ns["rows"]) == 25


def test_an_empty_result_shows_its_columns(run, session):
    session.frame = pd.DataFrame({"tranid": [], "city": []})
    assert "q1 after batch 0: 0 rows\ntranid  city" in run("%%argus q1\nSELECT big").text


def test_nulls_and_html_in_values_are_shown_as_they_are(run, session):
    session.frame = pd.DataFrame({"name": ["<b>x</b>", None]})
    cell = run("%%argus q1\nSELECT big")
    assert "NULL" in cell.text
    assert "&lt;b&gt;x" in cell.htmls[-1] and "<b>" not in cell.htmls[-1]


def test_variables_of_the_notebook_are_filled_in(run, session):
    run("least = 500\nwhat = 'big'")
    run("%%argus q1\nSELECT {{what}} WHERE a > :least")
    assert session.queries["q1"].sql == "SELECT big WHERE a > 500\n"


def test_a_stream_from_a_file_and_from_a_variable(run, session, shell, tmp_path):
    file = tmp_path / "my data.parquet"
    file.write_bytes(b"")
    cell = run(f'%argus stream Fed "{file}" --history 1000 --batch 500 --time tran_date')
    assert cell.text.startswith("Fed: 1,000 rows of history, then 4,000 rows in batches of 500\ntranid integer")
    shell.user_ns["frame"] = pd.DataFrame({"a": [1]})
    run("%argus table T frame")
    assert session.added[0] == ("Fed", str(file))
    assert session.added[1][1] is shell.user_ns["frame"]


def test_a_column_that_is_new_in_the_rows_of_a_stream(run, session, shell):
    shell.user_ns["frame"] = pd.DataFrame()
    run("%argus stream Fed frame --history 5 --batch 500")
    session.streams["Fed"].drifts = (Drift("note", "string", 3, 12), Drift("fee", "", 0, 4), Drift("far", "", 9, 1))
    session.streams["Fed"].drifts += (Drift("amount", NAN, 7, 2),)
    session.streams["Fed"].position = 5
    assert "Fed: gone: far, NULL since the rows to come, 1 row" in run("%argus streams").text
    assert (
        "Fed: NaN: amount, which makes its sums and averages NaN (--nan null reads it as NULL), since the rows"
        in run("%argus streams").text
    )
    assert "new: note (string), since batch" not in run("%argus run").text  # it came with the history
    session.reports = [replace(report, arrived={"Fed": 500}) for report in session.run(1)]
    session.streams["Fed"].drifts = (Drift("note", "string", 510, 12),)
    session.streams["Fed"].position = 1_000
    said = run("%argus run 2").text
    assert "Fed: new: note (string), since batch 3, 12 rows\n%argus stream Fed --add note makes it a column" in said
    assert "since batch 3" in run("%argus streams").text
    cell = run("%argus stream Fed --add note --add fee --type fee=double")
    assert session.added[-2:] == [("Fed", "note", None), ("Fed", "fee", "double")]
    assert cell.text.splitlines()[:3] == [
        "Fed has the column note string: 12 rows have a value, the others NULL; queries go on as they are",
        "1 value is no string, and NULL: x",
        "SELECT * stays what it was in q1: register again what shall have it",
    ]
    for line, message in (
        ("%argus stream Fed --add note --replace", "--add goes with --type alone, not with replace"),
        ("%argus stream Fed --add note --history 5", "--add goes with --type alone, not with history"),
        ("%argus stream Fed frame --add note", "--add goes with --type alone, not with source"),
        ("%argus stream Fed --add note --type fee=double", "--type fee is no column that is added"),
        ("%argus stream Fed --widen fee --batch 5", "--widen stands alone, not with batch"),
        ("%argus stream Fed", "nothing says where"),
    ):
        assert message in str(run(line).error), line
    cell = run("%argus stream Fed --widen fee --widen 'n=decimal(9,2)'")
    assert session.added[-2:] == [("Fed", "fee", None), ("Fed", "n", "decimal(9,2)")]
    assert "Fed: fee is double, and was integer; 3 quarantined rows came in a batch" in cell.text
    assert "computed anew, with other types in their answers, SELECT * too: q1" in cell.text


def test_a_source_that_is_not_there(run):
    assert "there is no file nowhere.parquet" in str(run("%argus stream F nowhere.parquet").error)


def test_running_ends_with_the_queries_that_have_something_new(run, session):
    run("%%argus q1\nSELECT big")
    run("%%argus q2\nSELECT huge")
    session.add_stream("F", None, 0, 1000, None)
    cell = run("%argus run 3")
    assert cell.texts[0] == "batch 1 of 3 …"
    assert cell.texts[3].startswith("batch 3 (3 of 3): 1,000 rows, ")
    assert cell.texts[4].startswith("batches 1 to 3: 3,000 rows in ")
    assert cell.texts[5].splitlines()[0] == "new results"
    assert "q2" in cell.texts[5] and "9" in cell.texts[5]
    assert "q1" not in cell.texts[5], "q1 had no changes"


def test_progress_counts_the_batches_there_are(run, session):
    session.add_stream("F", None, 0, 2000, None)
    assert run("%argus run 5000").texts[0] == "batch 1 of 3 …"


def test_a_profile_shows_the_nodes_one_by_one(run, session):
    run("%%argus q1\nSELECT big")
    text = run("%argus run --profile").text
    assert "each as if the others had no readers" in text
    assert "each as if" in run("%argus timings").text
    assert "each as if" not in run("%argus run").text


def test_types_of_columns_are_given_one_by_one(run, session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fed.csv").touch()
    run("%argus stream F fed.csv --type zip=string --type 'fee=decimal(8, 2)'")
    run("%argus table T fed.csv --type zip=string")
    assert [added[2] for added in session.added] == [{"zip": "string", "fee": "decimal(8, 2)"}, {"zip": "string"}]
    assert "names no column and type" in str(run("%argus table T fed.csv --type zip").error)


def test_a_registry_and_a_version_to_begin_with(run, session):
    run("%argus stream T kafka://localhost:9092/t --registry http://localhost:8081 --changes debezium --key id")
    assert session.followed == ("http://localhost:8081", None)
    run("%argus stream D delta:orders --changes cdf --since 3")
    assert session.added[-1] == ("D", "delta:orders") and session.followed == (None, 3)


def test_what_is_taken_back_stands_first_whatever_takes_its_place():
    for new, old in ((2464, 2570), (2570, 2464)):
        changed = pd.DataFrame(
            {"batch": [2] * 4, "weight": [1, 1, -1, -1], "ort": ["b", "a", "b", "a"], "n": [new, new, old, old]}
        )
        for groups in ((0,), None):
            latest = latest_changes(changed, 4, groups)
            assert latest[["ort", "weight"]].values.tolist() == [["a", -1], ["a", 1], ["b", -1], ["b", 1]]
        whole = latest_changes(changed.drop(columns="ort"), 4, ())
        assert whole["weight"].tolist() == [-1, -1, 1, 1]
    nested = pd.DataFrame({"batch": [1, 1], "weight": [1, -1], "id": [1, 1], "hotel": [{"a": 2}, {"a": 1}]})
    assert latest_changes(nested, 2)["weight"].tolist() == [-1, 1]


def test_changes_stand_beside_what_they_replace():
    changed = {"batch": [1, 2, 2, 2, 2], "weight": [1, 1, 1, -1, -1], "bank": ["x", "y", "x", "x", "y"]}
    latest = latest_changes(pd.DataFrame(changed), 2)
    assert list(zip(latest["bank"], latest["weight"], strict=True)) == [("y", -1), ("y", 1)]


def test_a_cell_without_a_name_or_with_two_says_how_it_is_done(run):
    for line in ("%%argus", "%%argus big transfers"):
        assert "a name of one word" in str(run(f"{line}\nSELECT big").error)


def test_running_without_streams_says_so(run, session):
    session.ends_after = 0
    assert run("%argus run").texts[-2] == "no batch was run: there are no streams yet; %argus help stream"


def test_running_past_the_end_says_so(run, session):
    session.ends_after = 2
    session.add_stream("Fed", None, None, None, None)
    run("%%argus q1\nSELECT big")
    assert run("%argus run 5").texts[-2].endswith("; the streams have ended")
    assert run("%argus run").texts[-2] == "no batch was run: the streams have ended"


def test_an_interrupt_undoes_the_batch_that_is_running(run, session):
    session.interrupts = {3: 1}
    run("%%argus q1\nSELECT big")
    cell = run("%argus run 5")
    assert cell.error is None
    assert cell.texts[-2].startswith("batches 1 to 2: 2,000 rows") and cell.texts[-2].endswith("; interrupted")
    assert len(session.reports) == 2


@pytest.mark.parametrize("number", ["0", "-1"])
def test_a_number_of_batches_is_positive(run, number):
    assert isinstance(run(f"%argus run {number}").error, MagicError)


def test_results_and_changes(run):
    run("%%argus q1\nSELECT big")
    assert "q1 after batch 0: 2 of 25 rows" in run("%argus results q1 --limit 2").text
    run("%argus run 21")
    changes = run("%argus results q1 --changes --since 20").text
    assert "latest changes of q1 since batch 20: 4 rows" in changes and "weight" in changes


def test_changes_say_how_many_there_are_in_all(run):
    run("%%argus q1\nSELECT big")
    told = run("%argus results q1 --changes --limit 3").text
    assert "latest changes of q1 since its answer after batch 0: 3 of 25 rows" in told
    run("%argus run 22")
    assert "latest changes of q1 since batch 22: 2 rows" in run("%argus results q1 --changes --since 22").text


def test_a_name_that_needs_quotes_is_shown_with_them(run, tmp_path):
    (tmp_path / "f.csv").write_text("a\n1\n")
    told = run(f"%argus stream 1x {tmp_path / 'f.csv'}").text
    assert 'names that are no plain word stand in quotes: `1x`, in other dialects "1x"' in told
    assert "quotes" not in run(f"%argus stream x1 {tmp_path / 'f.csv'}").text


def test_since_when_alone_asks_for_changes(run):
    run("%%argus q1\nSELECT big")
    run("%argus run 2")
    assert "latest changes of q1 since batch 1: 10 of 23 rows" in run("%argus results q1 --since 1").text
    assert "since yesterday, that is since its answer after batch 0" in run("%argus results q1 --since yesterday").text
    assert "are of the answer, not of its changes" in str(run("%argus results q1 --since 1 --sort tranid").error)


@pytest.mark.parametrize(("method", "cell"), [("register", "%%argus q1"), ("preview", "%%argus q1 --dry-run")])
def test_what_is_hardly_meant_is_said_beside_the_query(run, session, monkeypatch, method, cell):
    accept = getattr(type(session), method)

    def doubtful(self, *arguments, **more):
        warnings.warn("= NULL is true for no row", SqlWarning, stacklevel=1)
        return accept(self, *arguments, **more)

    monkeypatch.setattr(type(session), method, doubtful)
    text = run(f"{cell}\nSELECT big").text
    assert "1 node new" in text and text.count("\nwarning: = NULL is true for no row\n") == 1


def test_an_answer_is_sorted_by_a_column(run, shell):
    run("%%argus q1\nSELECT big")
    assert "q1 after batch 0, by tranid: 2 of 25 rows" in run("%argus results q1 --sort tranid --desc --limit 2").text
    largest = run("%argus results q1 --sort TRANID --desc --limit 1").text.split()
    smallest = run("%argus results q1 --sort tranid --limit 1").text.split()
    assert largest != smallest
    assert "did you mean tranid?" in str(run("%argus results q1 --sort trandi").error)
    assert "--desc needs a column" in str(run("%argus results q1 --desc").error)


def test_rows_of_an_answer_are_chosen_by_a_condition(run, shell):
    run("%%argus q1\nSELECT big")
    some = run("%argus results q1 --where 'tranid > 20' --sort tranid --desc --limit 2 -o chosen").text
    assert "q1 after batch 0, by tranid, where tranid > 20: 2 of 4 rows" in some
    assert shell.user_ns["chosen"]["tranid"].tolist() == [24, 23, 22, 21]
    assert "4 rows" in run("%argus results q1 --where 'tranid > 20' --chart").text
    assert "not of its changes" in str(run("%argus results q1 --changes --where 'tranid > 20'").error)


def test_a_disabled_query_says_why(run, session):
    run("%%argus q1\nSELECT big")
    session.queries["q1"].status = "function f raised ValueError"
    assert run("%argus results q1").text == "q1 is disabled: function f raised ValueError"


def test_lists_of_queries_and_streams(run, session, shell):
    assert run("%argus queries").text == "no queries yet"
    assert run("%argus streams").text == "no streams yet"
    run("%%argus q1\nSELECT big")
    run("%%argus q2\nSELECT huge")
    shell.user_ns["frame"] = pd.DataFrame()
    run("%argus stream Fed frame --batch 500")
    assert run("%argus queries").text.splitlines()[2].split() == ["q2", "active", "2", "1", "tranid,", "city"]
    assert run("%argus streams").text.splitlines()[1].split() == [
        "Fed",
        "0",
        "5,000",
        "500",
        "0",
        "2002-11-20",
        "append-only",
        "0",
    ]


def test_the_plan_is_a_drawing_with_a_listing_as_its_text(run):
    run("%%argus q1\nSELECT big")
    cell = run("%argus plan q1")
    assert "query q1: 1 node," in cell.text
    assert cell.htmls[0].startswith("<div") and "</svg>" in cell.htmls[0]


def test_a_network_shows_itself(run, shell, session):
    run("%%argus q1\nSELECT big")
    shell.user_ns["s"] = session
    data, _ = shell.display_formatter.format(session.network)
    assert data["text/plain"].startswith("query network: 1 node, 1 query")
    assert "</svg>" in data["text/html"] and data["image/svg+xml"].startswith("<svg")


def test_timings_by_batch_and_by_operator(run, session):
    assert "no batch was run yet" in run("%argus timings").text
    session.plan = example_network.example()
    run("%argus run 3")
    text = run("%argus timings --batches 2").text
    assert "operators, batches 2 to 3" in text
    assert text.splitlines()[2].split()[:2] == ["2", "1,000"]
    assert "█" in text


def test_timings_show_what_was_expected_and_what_came(run, session):
    assert "nothing was observed yet" in run("%argus timings --observed").text
    session.plan = example_network.example()
    run("%argus run 1")
    text = run("%argus timings --observed").text
    assert "median q-error 200.00 from statistics, 1.25 learnt" in text
    assert text.splitlines()[2].split()[-7:] == ["2,000.0", "12.5", "10", "200.0", "1.2", "500", "ms"]


def test_reoptimize_says_what_it_does_or_would_do(run, session):
    assert run("%argus reoptimize --dry-run").text == "dry_run=True"
    assert run("%argus reoptimize").text == "dry_run=False"


def test_help_lists_every_command_and_explains_one(run):
    text = run("%argus help").text
    assert "%argus stream" in text and "%%argus" in text
    one = run("%argus help run").text
    assert "usage: %argus run [--profile] [N]" in one and "%argus run 5" in one
    assert "--dry-run" in run("%argus help %%argus").text
    assert "--history" in run("%argus stream --help").text
    assert run("%argus help %argus run").text == one
    assert run("%argus help %argus").error is None


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("%argus resluts q1", "no command resluts", "results"),
        ("%argus xyz", "no command xyz", "%argus help"),
        ("%argus stream F f.csv --hist 3", "there is no option --hist", "--history"),
        ("%argus stream F", "nothing says where", "%argus help stream"),
        ("%argus run five", "N is a whole number, not 'five'", "%argus help run"),
        ("%argus drop 'q", "a quote is not closed", ""),
        ("%%argus\nSELECT big", "required: NAME", "help"),
        ("%%argus q1\n   ", "the cell has no SQL", "below"),
        ("%%argus q1", "the cell has no SQL", "below"),
        ("%argus help xyzzy", "there is no help on xyzzy", "%argus help lists"),
        ("%argus help profile", "there is no help on profile", "Results"),
        ("%argus help alert", "there is no help on alert", "%argus notify NAME CONDITION"),
    ],
)
def test_a_line_that_is_wrong_is_told_and_stops_the_cell(run, line, message, hint):
    error = run(line).error
    assert isinstance(error, MagicError)
    assert message in str(error) and hint in (error.hint or "")


def test_an_error_is_its_few_lines_with_a_caret_and_no_traceback(run):
    cell = run("%%argus q1\nSELECT amout FROM f")
    assert isinstance(cell.error, SqlError)
    assert cell.stdout.splitlines() == [
        "there is no column amout",
        "  SELECT amout FROM f",
        "         ^^^^^",
        "hint: did you mean amount?",
    ]


def test_an_error_of_the_engine_shows_no_java_until_asked(run):
    cell = run("%%argus q1\nSELECT java")
    assert "org.apache" not in cell.stdout
    assert "org.apache.spark" in run("%argus last-error").text


def test_a_failure_nobody_foresaw_is_one_line_until_asked(run):
    cell = run("%%argus q1\nSELECT bug")
    assert isinstance(cell.error, UnexpectedError)
    assert cell.stdout.splitlines()[0] == "ZeroDivisionError: division by zero"
    assert "Traceback" not in cell.stdout
    assert "second line" in run("%argus last-error").text


def test_errors_of_the_package_are_short_in_python_cells_too(run, session, shell):
    shell.user_ns["s"] = session
    cell = run("s.drop('nothing')")
    assert isinstance(cell.error, WorkbenchError)
    assert cell.stdout.splitlines() == ["there is no query nothing"]


LINES = (
    "", "x", "0", "-1", str(10**30), "nan", "''", "'", '"', "\ud800", "é" * 300, "x" * 300, "{{", "{{nothing}}",
    ":nothing", "--", "--nothing", "--limit", "--limit x", f"--limit {10**30}", "a b c d e f", "/", "~nobody",
    "\\", "%", "(" * 500,
)  # fmt: skip


@pytest.mark.parametrize("name", [*sorted(set(COMMANDS) - {"experiment", "doctor"}), None])
def test_whatever_stands_in_a_line_only_errors_of_the_package_come_back(
    run, session, shell, name, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    session.ends_after = 2  # or a run of 10**30 batches never ends
    for line in LINES:
        cell = run(f"%argus {name} {line}" if name else f"%%argus {line}\nSELECT big")
        assert cell.error is None or isinstance(cell.error, WorkbenchError), (line, repr(cell.error))
        assert len(cell.stdout.splitlines()) <= 6 and len(cell.stdout) < 2_000, line


def test_streams_say_how_live_sources_and_sinks_are(run, session):
    session.sources["Clicks"] = SourceStatus("in/*.csv", {"1.csv": "all"}, 7, 12.4, 2.0, "OSError: gone", False)
    session.sinks["big"] = SinkStatus("big", "out", 3, 2, "")
    lines = [text.splitlines() for text in run("%argus streams").texts]
    assert lines[1][1].split() == ["Clicks", "in/*.csv", "1.csv", "all", "12", "7", "2.0", "s", "OSError:", "gone"]
    far = replace(session.sources["Clicks"], ahead=3 * 86_400.0)
    assert source_problem(far) == "OSError: gone; its event times are 3 days ahead of this machine's clock"
    assert backlog(session.sources) == "12 rows/s come, 7 wait for up to 2.0 s"
    assert lines[2][1].split() == ["big", "big", "out", "2"]


def test_a_problem_that_is_over_is_said_until_it_was_read(run, session):
    session.sources["Clicks"] = SourceStatus("in/*.csv", {}, 0, 0, 0, "", False, earlier="until 10:00:00: gone")
    session.ends_after = 0
    session.add_stream("Clicks", None, None, None, None)
    assert run("%argus run").texts[-3:-1] == [
        "no batch was run: nothing more has come to Clicks",
        "Clicks: until 10:00:00: gone",
    ]
    assert "until 10:00:00: gone" in run("%argus streams").text
    assert "gone" not in run("%argus streams").text


def test_running_says_what_was_quarantined_and_why(run, session):
    stream = session.add_stream("Fed", None, None, None, None)
    reasons = [*(f"fee: '{number}x' is no double" for number in range(5)), "3 fields instead of 2"]
    stream.quarantined = tuple(QuarantinedRow(n, f"{n},x", reason) for n, reason in enumerate(reasons, 1))
    said = run("%argus run").texts[-2].splitlines()
    assert said == [
        "quarantined in these batches, 6 rows of Fed:",
        "  fee: … is no double, 5 rows:",
        *(f"    line {n}: {n},x" for n in (1, 2, 3)),
        "    and 2 more",
        "  3 fields instead of 2, 1 row:",
        "    line 6: 6,x",
    ]


def test_a_quarantined_row_is_cut_where_there_is_no_blank(run, session):
    """Not behind its first words, which may be all that stands before a long value, as an object is."""
    stream = session.add_stream("Fed", None, None, None, None)
    row = f"442,2026-03-23 {'x' * 90}"
    stream.quarantined = (QuarantinedRow(1, row, "at: … is more than 12 hours late"),)
    assert run("%argus run").texts[-2].splitlines()[-1] == f"    line 1: {row[:69]}…"


def test_streams_are_dropped_and_their_event_times_are_proposed(run, shell, session):
    shell.user_ns["frame"] = pd.DataFrame()
    assert (
        "no event time: now() needs one, and play goes by it; --time tran_date" in run("%argus stream Fed frame").text
    )
    assert "no event time" not in run("%argus stream Other frame --time tran_date").text
    run("%%argus q1\nSELECT big")
    error = run("%argus drop fed q1 cascade").error
    assert "there is no query, stream or table cascade" in str(error) and "%argus drop fed q1 drops" in error.hint
    assert run("%argus drop all queries").error.hint == "%argus drop q1 drops all"
    assert run("%argus drop fed q1").text.splitlines() == [
        "q1 dropped: 1 node removed, 0 left",
        "stream Fed dropped, with its 5,000 rows",
    ]
    assert list(session.streams) == ["Other"]
    error = run("%argus drop Othr").error
    assert "there is no query, stream or table Othr" in str(error) and "Other" in str(error)


def test_an_answer_says_how_many_rows_it_lacks(run, session, monkeypatch):
    run("%%argus q1\nSELECT big")
    monkeypatch.setattr(type(session.queries["q1"]), "left_out", {"Trades": 1_200, "Fees": 1})
    lacking = "without 1,200 rows of Trades and 1 row of Fees that were left out: %argus catch-up"
    assert lacking in run("%argus results q1").text and lacking in run("%argus results q1 --sort tranid").text
    assert run("%argus catch-up").text == "no rows were left out"


def test_what_is_hardly_meant_is_said_beside_the_error_that_it_leads_to(run, session, monkeypatch):
    def refused(self, *arguments, **more):
        warnings.warn('"amount" is a text here, and no column', SqlWarning, stacklevel=1)
        raise SqlError("AVG needs numbers, not string")

    monkeypatch.setattr(type(session), "register", refused)
    shown = run("%%argus q1\nSELECT big").stdout
    assert shown.startswith("AVG needs numbers, not string\nwarning: ")


def test_answers_charts_and_sinks_say_of_when_they_are(run, session):
    run("%%argus q1\nSELECT big")
    session.sinks["q1"] = SinkStatus("q1", "out", 0, 0, "")
    lines = ("%argus results q1", "%argus results q1 --chart", "%argus results q1 --changes", "%argus sink q1")
    for line in lines:
        cell = run(line)
        assert "as of batch 0 · all is well" in cell.htmls[-1] and "success" in cell.htmls[-1]
        assert cell.text.endswith("as of batch 0 · all is well"), "the text says what the page says"
    session.as_of = lambda query: AsOf(0, streams=(StreamAsOf("Fed", late=3),))
    for line in lines:
        cell = run(line)
        assert "as of batch 0 · Fed: 3 late" in cell.text and "▲" in cell.htmls[-1]
    assert "as of" not in run("%argus results q1 --batch 0").htmls[-1]


def test_an_edited_query_is_compared_before_it_replaces_the_old_one(run, session, monkeypatch):
    made = []
    monkeypatch.setattr(replacement_view, "ReplacementChoice", lambda *args: made.append(Choice(*args)) or made[-1])
    run("%%argus q1\nSELECT big")
    cell = run("%%argus q1 --compare\nSELECT huge")
    assert "q1, if it were replaced; nothing was changed:\nreused: none\nhydrated: SELECT huge" in cell.text
    assert (
        "0 added, 1 removed, 0 changed; 25 rows before (weight -1), 24 now (1)" in cell.text
        and session.queries["q1"].sql != "SELECT huge\n"
    )
    (choice,) = made
    replaces, keeps = choice.buttons
    keeps.click()
    assert "q1_2 registered" in choice.done.value and session.added[-1] == ("q1_2", False) and replaces.disabled
    run("%%argus q1 --compare\nSELECT huge")
    made[-1].buttons[0].click()
    assert "q1 replaced" in made[-1].done.value and session.added[-1] == ("q1", True)
    run("%%argus q1 --move\nSELECT big")
    assert session.added[-1] == ("q1", True)
    assert "there is no query q3" in str(run("%%argus q3 --compare\nSELECT big").error)


def test_help_finds_what_several_words_are_about(run):
    lines = run("%argus help correct a row").text.splitlines()
    assert lines[0].startswith("%argus stream NAME FILE --key id --changes upsert")
    assert "--changes upsert" in (run("%argus help correct").error.hint or "")
    assert run("%argus help why not").text.startswith("usage: %argus why-not")
    assert "%argus open: " in run("%argus help saved session folder").text
    assert run("%argus help sliders").text.startswith("%argus dashboard: ")
    assert "no help on xyzzy plugh" in str(run("%argus help xyzzy plugh").error)


def test_no_duration_is_none_and_no_line_ends_in_a_colon(run):
    assert "(T" not in run("%argus help").text
    idle = BatchReport(14, 1_100, 0.028, ())
    assert longest_chain(idle, NetworkView(Network())) == "batch 14 took 28 ms; no operator had rows to read"
