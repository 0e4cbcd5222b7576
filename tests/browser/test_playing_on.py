"""The panel open while a session plays on and on: what memory does, and which batches the page never showed.

``ARGUS_PLAY=60 pytest tests/browser/test_playing_on.py -s`` plays for an hour and prints a line for each sample.
Without the variable it is skipped: the quickstart's test plays for some seconds.
"""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from pyarrow import parquet

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.chromium import CHROMIUM
from browser.lab import Lab, lab

from workbench.experiments.sample_streams.fed import fed

MINUTES = float(os.environ.get("ARGUS_PLAY", 0))
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
    pytest.mark.skipif(not MINUTES, reason="ARGUS_PLAY=60 plays for an hour"),
    pytest.mark.timeout(60 * MINUTES + 900),
]
SAMPLES = 30
STEADY = 5
"""Minutes from which on memory is said to be steady or not: before, caches fill."""
ROWS_A_MINUTE = 30_000
COLUMNS = ("batch", "on the page", "kernel MB", "of it mapped", "Spark MB", "page MB", "elements")
BEGUN = """
%load_ext workbench
%argus stream FedWireTrans fed.parquet --history 5000 --batch 100 --time tran_date
session = __import__("workbench.notebook.extension", fromlist=["get_session"]).get_session()
session.register_many({
    "big": "SELECT tranid, amount FROM FedWireTrans WHERE amount > 9000000",
    "bigger": "SELECT tranid, amount FROM FedWireTrans WHERE amount > 9500000",
    "rich_days": "SELECT rbank_aba, tran_date, SUM(amount) s FROM FedWireTrans GROUP BY rbank_aba, tran_date",
    "passed_on": "SELECT r.tranid, s.tranid other FROM FedWireTrans r, FedWireTrans s WHERE r.rbank_aba = s.sbank_aba "
                 "AND r.benef_account = s.orig_account AND r.amount > 1000000 AND s.amount > 500000",
    "lately": "SELECT rbank_aba, COUNT(*) n FROM FedWireTrans WHERE tran_date > now() - 2 GROUP BY rbank_aba",
})
%argus
"""
WATCH = """() => {
  const line = [...document.querySelectorAll("[role=status]")].find((one) => one.querySelector("progress"));
  const area = line.closest(".jp-OutputArea");
  const said = () => area.querySelector("[role=status] progress").parentElement.innerText;
  const batch = () => Number(/batch ([0-9]+)/.exec(said())[1]);
  window.shown = { first: batch(), last: batch(), seen: 1, gap: 0 };
  new MutationObserver(() => {
    const now = batch(), { last, seen, gap } = window.shown;
    if (now !== last) Object.assign(window.shown, { last: now, seen: seen + 1, gap: Math.max(gap, now - last) });
  }).observe(area, { subtree: true, childList: true, characterData: true });
}"""


def test_memory_is_steady_while_a_session_plays_on(tmp_path: Path) -> None:
    folder = tmp_path / "play"
    folder.mkdir()
    parquet.write_table(fed(rows=int(5_000 + ROWS_A_MINUTE * MINUTES)), folder / "fed.parquet")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(metadata=kernel), folder / "play.ipynb")
    with lab(folder / "play.ipynb", tmp_path / "lab") as jupyter:
        place = jupyter.run_cell(BEGUN, 300_000)
        tabs = itertools.cycle(jupyter.output(place).get_by_role("tab").all())
        jupyter.page.evaluate(WATCH)
        jupyter.ask("session.player.play()")
        begun, samples = time.monotonic(), list[dict[str, float]]()
        print(f"\n{'minute':>8}" + "".join(f"{name:>{len(name) + 3}}" for name in COLUMNS))
        while (past := time.monotonic() - begun) < 60 * MINUTES:
            time.sleep(min(60 * MINUTES / SAMPLES, max(0.0, 60 * MINUTES - past)))
            next(tabs).click()
            samples.append(sample(jupyter))
            cells = (f"{value:>{len(name) + 3},.0f}" for name, value in samples[-1].items())
            print(f"{(time.monotonic() - begun) / 60:8.1f}{''.join(cells)}", flush=True)
        jupyter.ask("session.player.pause()")
        assert jupyter.ask("session.player.wait(300)")
        jupyter.page.wait_for_function("(batch) => window.shown.last === batch", arg=jupyter.ask("session.batch"))
        shown = jupyter.page.evaluate("() => window.shown")
        played = shown["last"] - shown["first"]
        print(f"{played:,} batches played, {shown['seen'] - 1:,} of them shown, at most {shown['gap']} in one step")
        assert played and jupyter.ask("str(session.player.position.state)") in ("paused", "at the end")
        assert jupyter.complaints == [] and jupyter.elsewhere == []
    if MINUTES >= STEADY:
        early, late = samples[SAMPLES // 4], samples[-1]
        assert late["page MB"] < 1.5 * early["page MB"] + 20 and late["elements"] < 2 * early["elements"]
        own_early, own_late = (s["kernel MB"] - s["of it mapped"] for s in (early, late))
        assert own_late < 1.3 * own_early + 100


def sample(jupyter: Lab) -> dict[str, float]:
    """Where the kernel and the page are, and what they hold after a collection of garbage, in MB."""
    process = psutil.Process(jupyter.ask("__import__('os').getpid()"))
    memory = process.memory_info()
    java = [child.memory_info().rss for child in process.children(recursive=True) if "java" in child.name()]
    page = jupyter.page.context.new_cdp_session(jupyter.page)
    page.send("HeapProfiler.collectGarbage")
    heap, elements = page.send("Runtime.getHeapUsage"), page.send("Memory.getDOMCounters")
    page.detach()
    found = (
        jupyter.ask("session.batch"),
        jupyter.page.evaluate("() => window.shown.last"),
        memory.rss / 1e6,
        getattr(memory, "shared", 0) / 1e6,
        sum(java) / 1e6,
        heap["usedSize"] / 1e6,
        elements["nodes"],
    )
    return dict(zip(COLUMNS, found, strict=True))
