"""What an analyst sees for ten wrong inputs, through the real magics on a real session, and that nothing else changed.

The same texts stand in ``docs/reference/errors.md``; ``shown`` is everything that a cell shows, an error as the
notebook prints it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from workbench.notebook.context import NotebookContext
from workbench.notebook.extension import install
from workbench.session.session import Session

ERRORS = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"
TRANSFERS = pd.DataFrame(
    {
        "tranid": [1, 2, 3, 4, 5, 6],
        "tran_date": [dt.date(2002, 11, day) for day in range(20, 26)],
        "amount": [Decimal(x) for x in ("100.00", "2500000.00", "1500000.00", "10.00", "2500000.00", "3000000.00")],
        "rbank_name": ["Alpha", None, "Beta", "Beta", "Alpha", "Alpha"],
    }
)
FEES = "tranid,paid_on,fee\n1,2002-11-20,4.50\n2,2002-11-21,lots\n3,2002-11-22,7.25\n4,2002-11-23\n5,2002-11-24,1.00\n"


SET_UP = {
    "%argus stream Transfers transfers --history 2 --batch 2 --time tran_date": "4 rows in batches of 2",
    "%%argus big\nSELECT tranid, amount FROM Transfers WHERE amount > 1000000": "big registered",
    "%%argus by_bank\nSELECT rbank_name, COUNT(*) AS n FROM Transfers GROUP BY rbank_name": "by_bank registered",
    "%argus run": "batch 1: 2 rows",
}


def rows(frame: pd.DataFrame) -> list[str]:
    """A bag of rows as texts in a fixed order."""
    return sorted(frame.to_csv(index=False, header=False).splitlines())


class Notebook:
    """A shell on a real session, as a notebook has one."""

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        self.shell = shell
        self.session = session

    def shown(self, cell: str) -> str:
        """Run a cell; its outputs as text and then its error as the notebook prints it, times replaced."""
        with capture_output() as captured:
            self.shell.run_cell(cell)
        assert captured.stderr == ""
        texts = [output.data["text/plain"] for output in captured.outputs]
        together = "\n".join([*texts, captured.stdout.strip("\n")]).strip("\n")
        return re.sub(r"[\d.,]+ (m?s)\b", r"# \1", together)

    def state(self) -> dict[str, Any]:
        """All that a wrong input must leave as it was."""
        session = self.session
        return {
            "network": session.network.to_text(),
            "queries": {name: (q.status, q.sql) for name, q in session.queries.items()},
            "results": {name: rows(q.result()) for name, q in session.queries.items()},
            "streams": {name: s.position for name, s in session.streams.items()},
            "views": set(session.views),
            "batch": session.batch,
        }


@pytest.fixture(scope="module")
def notebook(spark, tmp_path_factory) -> Iterator[Notebook]:
    """Two queries on a stream of six transfers, two of them history, after one batch of two."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "fees.csv").write_text(FEES, encoding="utf-8")
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(history_length=0)
    shell.history_manager.enabled = False
    with pytest.MonkeyPatch.context() as patch, Session(spark=spark) as session:
        patch.chdir(folder)
        patch.setattr("workbench.notebook.long_work.PATIENCE", 3_600)
        shell.user_ns["transfers"] = TRANSFERS
        install(shell, NotebookContext(shell.user_ns, lambda: session))
        made = Notebook(shell, session)
        for cell, says in SET_UP.items():
            shown = made.shown(cell)
            assert says in shown, shown
        yield made
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def before(notebook) -> dict[str, Any]:
    """The state before any wrong input; two big transfers have arrived."""
    state = notebook.state()
    assert state["batch"] == 1
    assert state["results"] == {"big": ["2,2500000.00", "3,1500000.00"], "by_bank": [",1", "Alpha,1", "Beta,2"]}
    return state


REFUSED = {
    "syntax error": (
        "%%argus wrong\nSELECT tranid, amount\nFORM Transfers\nWHERE amount > 1000000",
        """\
syntax error: unexpected FORM
  FORM Transfers
  ^^^^
hint: did you mean FROM?""",
    ),
    "unknown stream": (
        "%%argus wrong\nSELECT tranid\nFROM Tranfers\nWHERE amount > 1000000",
        """\
unknown stream Tranfers
  FROM Tranfers
       ^^^^^^^^
hint: did you mean Transfers?""",
    ),
    "unknown column": (
        "%%argus wrong\nSELECT tranid, amout\nFROM Transfers",
        """\
unknown column amout
  SELECT tranid, amout
                 ^^^^^
hint: did you mean amount?""",
    ),
    "ambiguous column": (
        "%%argus wrong\nSELECT a.tranid, amount\nFROM Transfers a\nJOIN Transfers b ON a.rbank_name = b.rbank_name",
        """\
ambiguous column amount
  SELECT a.tranid, amount
                   ^^^^^^
hint: write a.amount or b.amount""",
    ),
    "unsupported construct": (
        "%%argus wrong\nSELECT a.tranid\nFROM Transfers a\nTABLESAMPLE (10 PERCENT)",
        """\
TABLESAMPLE is not supported
  TABLESAMPLE (10 PERCENT)
  ^^^^^^^^^^^
hint: write a condition on a column""",
    ),
    "type clash": (
        "%%argus wrong\nSELECT tranid\nFROM Transfers\nWHERE amount > '1,000,000'",
        """\
type clash: decimal(9,2) cannot be compared with string
  WHERE amount > '1,000,000'
        ^^^^^^^^^^^^^^^^^^^^
hint: write 1000000, without quotes""",
    ),
    "missing file": (
        "%argus stream Fees fes.csv --batch 2",
        """\
there is no file fes.csv
hint: did you mean fees.csv?""",
    ),
    "non-existing query": (
        "%argus results bgi",
        """\
there is no query bgi
hint: did you mean big?""",
    ),
}


@pytest.mark.parametrize(("cell", "expected"), REFUSED.values(), ids=REFUSED)
def test_refused_with_a_short_message_and_nothing_changed(notebook, before, cell: str, expected: str) -> None:
    shown = notebook.shown(cell)
    assert shown == expected
    assert_no_stack(shown)
    assert notebook.state() == before


def test_the_same_name_again_keeps_the_query_it_would_have_replaced(notebook, before) -> None:
    assert notebook.shown("%%argus big\nSELECT amout FROM Transfers").startswith("unknown column amout")
    assert notebook.state() == before


FILE_WITH_BAD_ROWS = """\
Fees: 0 rows of history, then 3 rows in batches of 2
column   type     why            first values
tranid   integer  whole numbers  1, 2, 3
paid_on  date     dates          2002-11-20, 2002-11-21, 2002-11-22
fee      double   numbers        4.50, lots, 7.25
quarantined, 2 rows that do not fit:
  line 3: fee: 'lots' is no double, as was guessed; --type fee=string keeps it
  line 5: 2 fields instead of 3"""
STREAMS = """\
stream     read  of rows  batch  last batch  time       clock       rows are     quarantined
Transfers     4        6      2           2  tran_date  2002-11-23  append-only            0
Fees          0        3      2           0  paid_on                append-only            2"""
PAST_THE_END = """\
batches 2 to 3: 5 rows in # s, # ms a batch; the streams have ended
new results
query    changed rows
paid                3
big                 2
by_bank             1"""
AFTER_THE_END = """\
no batch was run: the streams have ended
no query has new results"""


def test_a_file_with_bad_rows_and_a_run_past_the_end(notebook, before) -> None:
    assert notebook.shown("%argus stream Fees fees.csv --batch 2 --time paid_on") == FILE_WITH_BAD_ROWS
    assert notebook.shown("%argus streams") == STREAMS
    unchanged = notebook.state()
    assert unchanged["streams"] == {"Transfers": 4, "Fees": 0}
    assert {**unchanged, "streams": before["streams"]} == before

    notebook.shown("%%argus paid\nSELECT tranid, fee FROM Fees")
    shown = notebook.shown("%argus run 5")
    assert_no_stack(shown)
    assert shown.endswith(PAST_THE_END)
    assert sorted(notebook.session.query("paid").result()["tranid"]) == [1, 3, 5]
    ended = notebook.state()
    assert ended["batch"] == 3 and ended["streams"] == {"Transfers": 6, "Fees": 3}

    assert notebook.shown("%argus run 2").endswith(AFTER_THE_END)
    assert notebook.state() == ended


def test_the_page_on_errors_shows_exactly_this() -> None:
    page = ERRORS.read_text(encoding="utf-8")
    for cell, expected in REFUSED.values():
        assert f"```\n{cell}\n```" in page
        assert f"```\n{expected}\n```" in page
    for shown in (FILE_WITH_BAD_ROWS, STREAMS, PAST_THE_END, AFTER_THE_END):
        assert f"{shown}\n```" in page


def assert_no_stack(shown: str) -> None:
    for sign in ("Traceback", "File ", ".py", "org.apache", "java.", "at workbench", "Error:"):
        assert sign not in shown, shown
