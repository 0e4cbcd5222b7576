"""Completion through the shell's own completer, as the kernel asks it."""

from __future__ import annotations

import pytest
from IPython.core.completer import provisionalcompleter


@pytest.fixture
def complete(shell, run, session):
    session.add_stream("FedWireTrans", None, 10, 10, None)
    run("%%argus big_transfers\nSELECT big")
    run("%%argus huge_transfers\nSELECT huge")
    shell.user_ns["least_amount"] = 5

    def completions(text: str, types: bool = False) -> list[str]:
        place = text.index("|") if "|" in text else len(text)
        text = text.replace("|", "", 1)
        with provisionalcompleter():
            found = list(shell.Completer.completions(text, place))
        for one in found:  # what is replaced is what is being typed
            typed = text[one.start : place].lower()
            assert " " not in one.type, "it would be broken"
            assert one.end == place and one.text.lower().lstrip("%").startswith(typed.lstrip("%"))
        kinds = [one.type.replace("\N{NO-BREAK SPACE}", " ") for one in found]
        return [f"{one.text}: {kind}" if types else one.text for one, kind in zip(found, kinds, strict=True)]

    return completions


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("%argus ti", ["timings"]),
        ("%argus st", ["stream", "step", "streams", "strategies"]),
        ("%argus results b", ["big_transfers"]),
        ("%argus results ", ["big_transfers", "huge_transfers"]),
        ("%argus play 3 --speed ", ["1s", "1m", "1h", "1d", "7d", "max"]),
        ("%%argus q --dialect p", ["postgres", "presto"]),
        ("%argus plan HUGE", ["huge_transfers"]),
        ("%argus results big_transfers --chang", ["--changes"]),
        ("%argus results --limit 3 b", ["big_transfers"]),
        ("%argus stream F f.csv --h", ["--history"]),
        (
            "%argus stream F f.csv --history 3 --",
            [
                *("--batch", "--time", "--type", "--sep", "--decimal", "--no-header", "--encoding", "--nan"),
                *("--lateness", "--key", "--changes", "--shed", "--weight", "--registry", "--since", "--transaction"),
                *("--references", "--ordered", "--replace", "--add", "--widen"),
            ],
        ),
        ("%argus help ru", ["run"]),
        ("%%argus big", ["big_transfers"]),
        ("%%argus q --dia", ["--dialect"]),
        ("%%argus q --dialect or", ["oracle"]),
        ("%%argus q --dialect or|\nSELECT 1", ["oracle"]),
        ("%%argus q\nSELECT amo", ["amount"]),
        ("%%argus q\nSELECT r.am| FROM FedWireTrans r", ["amount"]),
        ("%%argus q\nSELECT r.| FROM FedWireTrans r", ["tranid", "tran_date", "amount", "rbank_aba"]),
        ("%%argus q\nSELECT * FROM Fed", ["FedWireTrans"]),
        ("%%argus q\nSELECT * FROM FedWireTrans r, hu", ["huge_transfers"]),
        ("%%argus q\nSELECT * FROM FedWireTrans r\nWHERE rb", ["rbank_aba"]),
        ("%%argus q\nSELECT * FROM f WHERE a > :lea", ["least_amount"]),
        ("%%argus q\nSELECT {{lea", ["least_amount"]),
        ("%%argus q\nSELECT roun", ["round"]),
        ("%%argus q\nSELECT ROUN", ["ROUND"]),
        ("%%argus q\nSELECT amount, cume", ["cume_dist"]),
        ("%%argus q\nSELECT strp", []),
        ("%%argus q --dialect presto|\nSELECT 1", ["presto"]),
        ("%%argus q --dialect presto\nSELECT strp", ["strpos"]),
        ("%%argus q\nSELECT r.roun| FROM FedWireTrans r", []),
    ],
)
def test_completions(complete, typed, expected):
    assert complete(typed) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("%%argus q\nSELECT r.am| FROM FedWireTrans r", ["amount: decimal(15,2)"]),
        ("%%argus q\nSELECT b.| FROM big_transfers b", ["tranid: integer", "city: string"]),
        ("%%argus q\nSELECT bgt| FROM big_transfers bgt", ["bgt: alias of big_transfers"]),
        ("%%argus q\nSELECT * FROM ", ["FedWireTrans: stream", "big_transfers: query", "huge_transfers: query"]),
        ("%%argus q\nSELECT {{ lea", ["least_amount: int"]),
        ("%%argus q --dialect or", ["oracle: dialect"]),
        ("%argus results big_transfers --chang", ["--changes: option"]),
        ("%argus ti", ["timings: command"]),
        ("%%argus q\nSELECT substring_i", ["substring_index: substring_index(str, delim, count)"]),
        ("%%argus q\nSELECT avg", ["avg: aggregate avg(expr)"]),
        ("%%argus q\nSELECT row_n", ["row_number: analytic row_number()"]),
    ],
)
def test_a_completion_says_what_it_is(complete, typed, expected):
    assert complete(typed, types=True) == expected


@pytest.mark.parametrize("typed", ["%argus drop big_transfers ", "%argus nonsense b", "%argus results q --limit "])
def test_where_we_have_nothing_to_say_only_others_speak(complete, typed):
    ours = {"big_transfers", "huge_transfers", "--limit", "--changes", "run"}
    assert not ours & set(complete(typed))


@pytest.mark.slow
def test_python_is_completed_as_before(complete):
    assert "least_amount" in complete("least_am")
    assert "amount" not in complete("amo")


def test_nothing_is_made_to_complete(shell):
    from workbench.notebook.context import NotebookContext
    from workbench.notebook.extension import install

    def never():
        raise AssertionError("completion made a session")

    install(shell, NotebookContext(shell.user_ns, never))
    with provisionalcompleter():
        list(shell.Completer.completions("%argus results b", 16))
        list(shell.Completer.completions("%%argus q\nSELECT a", 18))
