"""A thousand nodes in a real browser: they are seen, and a click is answered. ``-s`` prints what took how long.

No Spark: the network is made by hand. Times are of this machine as it is now, so none is asserted.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.chromium import CHROMIUM
from browser.lab import PROJECT, lab

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
    pytest.mark.timeout(600),
]
NODES, TREES = 1_001, 40
MADE = f"""
import sys, time
sys.path[:0] = [{str(PROJECT / "tests")!r}]
import example_network as e
from fake_session import FakeSession
from workbench.notebook.panel import panel  # as after the first %argus

session = FakeSession()
session.add_stream("fed", None, 10, 10, None)
session.register("SELECT big", "q0", "spark")
joins = [e.join(e.FED, e.FED, e.conjunction(e.PASSED_ON, e.over(n))) for n in range({TREES} - 1)]
roots = [e.FED, *joins]
def selection(root, number):
    column = e.Column("amount" if root is e.FED else "amount_1", e.MONEY)
    return e.selection(root, e.where(e.Literal(column, e.Operator.GT, e.Constant(number, e.MONEY))))
nodes = [selection(roots[n % {TREES}], n) for n in range({NODES} - {TREES})]
plans = [e.plan(f"q{{n}}", node) for n, node in enumerate(nodes)]
session.plan = e.network_of([*roots, *nodes], *plans)
session.queries = dict.fromkeys((plan.name for plan in plans), session.queries["q0"])
session.reports.append(e.report(session.plan, 1))
"""
SHOWN = """
begun = time.time()
view = session.plan_view()
view.views[0].focus()  # all queries
view.refresh(resting=False)
ready = time.time()
display(view)
"""
WATCH = """() => {
  window.first = null;
  const seen = () => performance.timeOrigin + performance.now();
  new MutationObserver((_, watching) => {
    const box = document.querySelector(".argus-pane svg g.node");
    if (!box) return;
    watching.disconnect();
    box.closest(".jp-OutputArea").scrollIntoView();
    window.first = { there: seen() };
    requestAnimationFrame(() => setTimeout(() => { window.first.painted = seen(); }));
  }).observe(document.body, { subtree: true, childList: true });
}"""
CLICK = """() => {
  const begun = performance.now(), box = document.querySelector(".argus-pane svg g.node.join");
  box.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  const said = document.querySelector(".argus-side").innerText;
  return [performance.now() - begun, said];
}"""


def test_a_thousand_nodes_are_seen_and_a_click_is_answered(tmp_path: Path) -> None:
    notebook = tmp_path / "large" / "large.ipynb"
    notebook.parent.mkdir()
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(metadata=kernel), notebook)
    with lab(notebook, tmp_path / "lab") as jupyter:
        jupyter.run_cell(MADE)
        jupyter.page.evaluate(WATCH)
        jupyter.run_cell(SHOWN)
        jupyter.page.wait_for_function("() => window.first?.painted")
        begun, ready = (1000 * moment for moment in jupyter.ask("(begun, ready)"))
        first = jupyter.page.evaluate("() => window.first")
        took, said = jupyter.page.evaluate(CLICK)
        print(
            f"\n{NODES:,} nodes, {TREES} trees: drawing made after {ready - begun:.0f} ms, on the page after "
            f"{first['there'] - begun:.0f} ms, painted after {first['painted'] - begun:.0f} ms; a click {took:.0f} ms"
        )
        assert jupyter.page.locator(".argus-pane g.node.closed").count() == TREES
        assert "JOIN" in said and "Serves" in said
        # JupyterLab's own command gives the drawing a tab of its own, as docs/how-to/network.md says.
        jupyter.page.evaluate("() => window.jupyterapp.commands.execute('notebook:create-output-view')")
        tab = jupyter.page.locator(".jp-LinkedOutputView")
        tab.locator(".argus-pane g.node.closed").nth(TREES - 1).wait_for(timeout=120_000)
        assert not tab.locator("[data-argus-twin]").is_visible()
        assert jupyter.elsewhere == [] and jupyter.complaints == []
        jupyter.page.screenshot(path=tmp_path / "large.png")
