"""The panel's tab of streams while rows come faster than batches can take them.

``ARGUS_SCREENSHOTS=docs/img`` keeps the picture that the documentation shows, and only there it is run.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.chromium import CHROMIUM
from browser.lab import lab

WHERE = os.environ.get("ARGUS_SCREENSHOTS")
pytestmark = [
    pytest.mark.spark,  # in the kernel that it drives
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
    pytest.mark.skipif(not WHERE, reason="ARGUS_SCREENSHOTS=docs/img makes the pictures anew"),
    pytest.mark.timeout(600),
]
LEFT_OUT = 9
"""The place of the column."""
BEGUN = """
%load_ext workbench
import itertools, random, threading, time
from pathlib import Path
import pandas as pd
from workbench.notebook.extension import get_session

def put(rows, number=itertools.count()):
    at = pd.Timestamp.now().floor("us")
    table = pd.DataFrame({"account": [random.randrange(500) for _ in range(rows)],
                          "amount": [random.randrange(10_000) for _ in range(rows)], "at": at})
    name = f"{next(number):06}"
    table.to_parquet(f"trades/.{name}")
    Path(f"trades/.{name}").rename(f"trades/{name}.parquet")

def rows_come():
    while True:
        put(5_000)
        time.sleep(0.25)

def prices():
    for number in itertools.count():
        time.sleep(0.002)
        yield {"account": number % 500, "price": number % 97}

Path("trades").mkdir()
put(5_000)
session = get_session()
session.add_stream("Trades", "trades/*.parquet", time="at", shed="sample")
session.add_stream("Prices", prices())
session.register("SELECT account, COUNT(*) AS n, SUM(amount) AS s FROM Trades GROUP BY account", name="totals")
session.register("SELECT account, amount FROM Trades WHERE amount > 9990", name="large")
session.register("SELECT account, MAX(price) AS most FROM Prices GROUP BY account", name="dearest")
threading.Thread(target=rows_come, daemon=True).start()
%argus
"""


def test_what_waits_and_what_was_left_out_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "load"
    folder.mkdir()
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(metadata=kernel), folder / "load.ipynb")
    with lab(folder / "load.ipynb", tmp_path / "lab") as jupyter:
        place = jupyter.run_cell(BEGUN, 300_000)
        output = jupyter.output(place)
        output.get_by_role("tab", name="Streams").click()
        jupyter.ask("session.player.play(latency=0.5)")
        until = time.monotonic() + 240
        while not jupyter.ask("session.streams['Trades'].left_out"):
            assert time.monotonic() < until, "nothing was left out"
            time.sleep(1)
        trades = output.locator("tr:visible", has_text="Trades").first.locator("td")
        while trades.nth(LEFT_OUT).inner_text() in ("", "0"):
            assert time.monotonic() < until, "the page does not say so"
            time.sleep(0.2)
        output.locator("h4:visible", has_text="Live sources").wait_for(timeout=60_000)
        output.scroll_into_view_if_needed()
        jupyter.page.screenshot(path=f"{WHERE}/streams.png")
        jupyter.ask("session.player.pause()")
        assert jupyter.complaints == []
