"""What queries cost, those there are and one that is not there yet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.explain.query_costs import query_costs

SET_UP = ("%%argus q1\nSELECT big", "%%argus q2\nSELECT huge", "%%argus q3\nSELECT pairs")


@pytest.fixture
def running(run, session):
    for cell in SET_UP:
        assert run(cell).error is None
    assert run("%argus run 3").error is None
    return session


def test_the_parts_of_all_queries_are_the_time_of_all_operators(running):
    costs = query_costs(running.reports, running.network)
    seconds = sum(operator.seconds for report in running.reports for operator in report.operators)
    assert sum(cost.seconds for cost in costs) == pytest.approx(seconds / 3)
    assert [cost.seconds for cost in costs] == sorted((cost.seconds for cost in costs), reverse=True)


def test_what_goes_with_a_query_is_what_no_other_query_reads(running):
    before = running.network
    for cost in query_costs(running.reports, before):
        others = [name for name in before.results if name != cost.query]
        staying = frozenset().union(*map(before.ancestors, others))
        assert set(cost.own_nodes) == {n for n in before.ancestors(cost.query) - staying if n[0] != "F"}
        assert cost.saved <= cost.seconds + 1e-9


def test_the_command_says_which_costs_most_and_what_would_go(run, running):
    text = run("%argus costs").text
    assert "queries, a batch, over batches 1 to 3" in text and "saved if dropped" in text
    assert "dropping q3 saves most" in text and "%argus drop q3" in text
    assert "the 1 costliest of 3 queries, a batch, over batch 3" in run("%argus costs --batches 1 --limit 1").text


def test_batches_that_brought_a_query_nothing_are_not_counted(run, running):
    """Ten of them made a table of 0 ms, and "every operator works for several queries"."""
    text = run("%argus costs").text
    running.reports += [replace(running.reports[-1], batch=batch, operators=()) for batch in range(4, 20)]
    assert run("%argus costs").text == text
    running.reports[:] = running.reports[3:]
    assert run("%argus costs").text == "no batch has brought rows to a query yet; %argus run"


def test_a_query_that_took_little_took_some_time(run, running):
    quick = [replace(operator, seconds=2e-5) for operator in running.reports[-1].operators]
    running.reports[:] = [replace(running.reports[-1], operators=tuple(quick))]
    assert " 0.02 ms " in run("%argus costs").text and " 0 ms " not in run("%argus costs").text


def test_without_batches_or_queries_it_says_so(run):
    assert run("%argus costs").text == "no batch was run yet; %argus run"
    run("%argus run")
    assert run("%argus costs").text == "no queries yet"


def test_a_dry_run_says_what_the_query_would_cost_before_and_after(run, session):
    run(SET_UP[0])
    text = run("%%argus q3 --dry-run\nSELECT pairs").text
    assert "nodes: 1 before, 3 after" in text
    assert "predicted: 2,000 rows to look at on top; alone the query would take 4,000 rows to look at" in text
    assert "so sharing saves 2,000 rows to look at (50%)" in text
    run("%argus run")
    assert "on top; alone the query would take about" in run("%%argus q3 --dry-run\nSELECT pairs").text


def test_a_dry_run_of_a_query_that_is_there_compares_with_the_network_without_it(run, session):
    for cell in SET_UP:
        assert run(cell).error is None
    text = run("%%argus q3 --dry-run\nSELECT big").text  # which is much less than it was
    assert "predicted: 0 rows to look at on top, without the query that it replaces" in text
    assert "so sharing saves 2,000 rows to look at (100%)" in text
    same = run("%%argus q3 --dry-run\nSELECT pairs").text
    assert "on top, without the query that it replaces; alone the query would take 4,000" in same
    assert "predicted: 0 rows" not in same


def test_strategies_are_compared_on_the_queries_that_there_are(run, session):
    assert run("%argus strategies").text == "no queries yet"
    run(SET_UP[0])
    text = run("%argus strategies").text
    assert "1 query planned anew" in text and "this session has sharing-selection" in text
    assert "match-plan" in text and "20%" in text and "40%" in text
