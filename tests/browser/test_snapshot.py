"""A snapshot and a served page in a browser: nothing is asked for, all can use them, and the served one follows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from long import one_in

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.axe import grave
from browser.axe import problem as no_axe
from browser.chromium import CHROMIUM, chromium
from browser.widget_page import static
from playwright.sync_api import Page, expect

from workbench.engine.spark.in_process import InProcess
from workbench.notebook.dashboard_grid import DashboardGrid
from workbench.notebook.panel.dashboard_view import DashboardView
from workbench.notebook.serving import PAGE_PATH, SessionPages
from workbench.notebook.snapshot import snapshot_page
from workbench.session.session import Session
from workbench.web.listening import listen

TOKEN = "0123456789abcdef-of-a-test"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium")


@pytest.fixture
def session(in_process: InProcess) -> Iterator[Session]:
    rows = pd.DataFrame({"day": pd.date_range("2026-03-01", periods=40), "n": range(40)})
    with Session(in_process) as made:
        made.add_stream("T", rows, history=20, batch=5, time="day")
        made.register("SELECT day, SUM(n) AS total FROM T GROUP BY day", "by_day")
        made.register("SELECT * FROM T WHERE n > 2", "rows")
        yield made


@pytest.fixture
def pages() -> Iterator[list[Page]]:
    opened = [
        chromium().new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
        for scheme, width in (("light", 1280), ("dark", 1920))
    ]
    yield opened
    for page in opened:
        page.close()


def test_a_snapshot_asks_for_nothing_and_fits(session: Session, pages: list[Page], tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(snapshot_page(session), encoding="utf-8")
    for page in pages:
        asked = list[str]()
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(file.as_uri())
        expect(page.get_by_role("region", name="by_day", exact=True)).to_contain_text("all is well")
        assert asked == [file.as_uri()]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert no_axe() is not None or grave(page) == []


TOUCHING = """() => {
  const shown = document.querySelectorAll('.role-axis-label text:not([opacity="0"])');
  const labels = [...shown].map((text) => text.getBoundingClientRect());
  return labels.some((one, at) => labels.slice(at + 1).some((other) => one.width && other.width &&
    Math.abs(one.top - other.top) < 2 && one.left < other.right && other.left < one.right));
}"""


@pytest.mark.parametrize("most", one_in(3, [0.131, 29.7, 122.43, 1_199.9, 99_000, 1_300_000, 2.5e9]))
def test_numbers_of_an_axis_do_not_touch(session: Session, pages: list[Page], tmp_path: Path, most: float) -> None:
    """The page's letters are wider than those that the picture was laid out with."""
    session.add_table("Kept", pd.DataFrame({"who": ["a", "Dr. Abel", "b"], "mean": [most * 0.95, most * 0.5, most]}))
    session.register("SELECT who, mean FROM Kept", "means")
    file = tmp_path / "page.html"
    file.write_text(snapshot_page(session, ["means"]), encoding="utf-8")
    for page in pages:
        page.goto(file.as_uri())
        assert page.locator(".role-axis-label text").count()
        assert not page.evaluate(TOUCHING)


def test_a_served_page_follows_the_batches(session: Session, pages: list[Page]) -> None:
    endpoint = listen(SessionPages(session), PAGE_PATH, token=TOKEN)
    try:
        page = pages[0]
        page.goto(f"{endpoint.url}?token={TOKEN}")
        answer = page.get_by_role("region", name="by_day", exact=True)
        expect(answer).to_contain_text("as of batch 0")
        page.wait_for_event("response", lambda answer: "/batch" in answer.url)  # it has seen the first state
        session.run(1)
        expect(answer).to_contain_text("as of batch 1")
        expect(answer).to_contain_text("25 rows")
        expect(page.get_by_role("heading", level=1)).to_have_text("Answers after batch 1")
    finally:
        endpoint.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_dashboard_is_for_all_in_both_themes(session: Session, theme: str) -> None:
    view = DashboardView(session, session.player, ["rows", "by_day"], 10)
    view.refresh()
    with static(view.static_view().html, theme) as page:
        assert page.get_by_role("region").first.get_attribute("aria-label") == "rows"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert no_axe() is not None or grave(page) == []


@pytest.mark.parametrize(("width", "columns"), [(1_900, 3), (992, 2), (800, 1)])
def test_a_dashboard_has_two_columns_in_a_cell_of_a_notebook(session: Session, width: int, columns: int) -> None:
    """It had one at a usual width, and six answers were 3,700 pixels tall."""
    names = [*session.queries]
    for place in range(4 - len(names)):
        session.register("SELECT day, MAX(n) AS most FROM T GROUP BY day", f"more_{place}")
    view = DashboardView(session, session.player, [*session.queries], 10)
    view.refresh()
    with static(view.static_view().html) as page:
        page.set_viewport_size({"width": width, "height": 900})
        tops = [corner["y"] for corner in corners(page, *session.queries)]
    assert tops.count(tops[0]) == columns


GRID = DashboardGrid.parsed(["by_day by_day rows", "again again rows"])


def corners(page: Page, *names: str) -> list[dict[str, float]]:
    return [page.get_by_role("region", name=name, exact=True).bounding_box() for name in names]


def test_a_grid_stands_in_a_served_page_as_it_is_written(session: Session, pages: list[Page]) -> None:
    session.register("SELECT day, MAX(n) AS most FROM T GROUP BY day", "again")
    endpoint = listen(SessionPages(session, grid=GRID), PAGE_PATH, token=TOKEN)
    try:
        for page in pages:
            page.goto(f"{endpoint.url}?token={TOKEN}")
            above, below, beside = corners(page, "by_day", "again", "rows")
            assert above["x"] == below["x"] < beside["x"] and above["y"] == beside["y"] < below["y"]
            assert abs(above["width"] / beside["width"] - 2) < 0.2
            assert beside["height"] > above["height"]
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert no_axe() is not None or grave(page) == []
        page.wait_for_event("response", lambda answer: "/batch" in answer.url)  # it has seen the first state
        session.run(1)
        expect(page.get_by_role("region", name="again", exact=True)).to_contain_text("as of batch 1")
        assert corners(page, "rows")[0]["x"] == beside["x"], "what is replaced stays in its place"
    finally:
        endpoint.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_saved_dashboard_keeps_its_grid(session: Session, theme: str) -> None:
    session.register("SELECT day, MAX(n) AS most FROM T GROUP BY day", "again")
    view = DashboardView(session, session.player, GRID.names, 10, GRID)
    view.refresh()
    with static(view.static_view().html, theme) as page:
        above, below, beside = corners(page, "by_day", "again", "rows")
        assert above["x"] == below["x"] < beside["x"] and above["y"] == beside["y"] < below["y"]
        assert no_axe() is not None or grave(page) == []
