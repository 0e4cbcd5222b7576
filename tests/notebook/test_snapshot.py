"""A session as one page: what it shows, that it loads nothing, and that what is served follows the session."""

from __future__ import annotations

import re
from urllib.error import HTTPError
from urllib.request import urlopen

import pandas as pd
import pytest

from workbench.errors import MagicError, QueryError
from workbench.notebook.dashboard_grid import DashboardGrid
from workbench.notebook.panel.dashboard_view import DashboardView
from workbench.notebook.panel.live_chart import ChartWidget
from workbench.notebook.panel.parameter_sliders import ParameterSliders
from workbench.notebook.panel.view import Live
from workbench.notebook.serving import PAGE_PATH, SessionPages
from workbench.notebook.slider_ranges import SliderRange
from workbench.notebook.snapshot import snapshot_page
from workbench.session.directory.directory import PREFIX
from workbench.session.session import Session
from workbench.web.listening import listen

TOKEN = "0123456789abcdef-of-a-test"


@pytest.fixture
def session(in_process, tmp_path):
    days = pd.to_datetime(["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"])
    rows = pd.DataFrame({"id": range(4), "day": days, "name": ["<script>x</script>", "b", "NULL", None]})
    with Session(in_process, tmp_path / "session") as made:
        made.add_stream("T", rows, history=2, batch=1, time="day")
        made.register("SELECT day, COUNT(*) AS n FROM T GROUP BY day", "by_day")
        made.register("SELECT id, name FROM T", "names")
        yield made


def test_a_page_has_answers_charts_network_and_of_when_they_are(session):
    session.run(1)
    page = snapshot_page(session)
    sections = re.findall(r'<section[^>]*aria-label="([^"]*)"', page)
    assert sections == ["by_day", "names", "Network", "Streams"]
    assert page.count("as of batch 1 · T 2026-03-03 · all is well") == 2
    assert page.count('role="img"') >= 1 and "n by day" in page and "γ" in page
    assert "&lt;script&gt;" in page and "<script" not in page and "&#x27;NULL&#x27;" in page
    assert not re.search(r'(?:src|href)="(?!#|data:)|url\(|@import', page), "it loads something"
    assert "connect-src" in page and "light dark" in page
    one = snapshot_page(session, ["names"], rows=1)
    assert "by_day" not in one.partition('aria-label="Network"')[0] and "1 of 3 rows" in one
    with pytest.raises(QueryError, match="there is no query name"):
        snapshot_page(session, ["name"])


def test_a_query_that_does_not_run_says_so_in_its_place(session):
    session.suspend("by_day")
    session.run(1)
    assert "as of batch 0, 1 batch behind: suspended" in snapshot_page(session)


def test_a_served_page_follows_the_writer_and_needs_the_token(session, in_process):
    with Session.open(session.path, in_process, trust=False, reading=True) as read:
        assert read.read_only == "it was opened to be read" and session.read_only is None
        endpoint = listen(SessionPages(read), PAGE_PATH, token=TOKEN)
        try:
            with pytest.raises(HTTPError, match="403"):
                urlopen(endpoint.url)
            asked = f"?token={TOKEN}"
            first, page = (urlopen(endpoint.url + path + asked).read().decode() for path in ("/batch", ""))
            assert "as of batch 0" in page
            session.run(1)
            second, page = (urlopen(endpoint.url + path + asked).read().decode() for path in ("/batch", ""))
            assert first != second and "as of batch 1" in page and "follow()" in page
        finally:
            endpoint.close()


def shown(view):
    """The HTML of the answers' boxes, in their order."""
    boxes = view.widget.children[1].children
    return "".join(part.value for box in boxes for part in box.children if hasattr(part, "value"))


def charts(view):
    """The charts that are seen."""
    parts = [part for box in view.widget.children[1].children for part in box.children]
    return [part for part in parts if isinstance(part, ChartWidget) and part.layout.display != "none"]


def test_a_dashboard_follows_the_batches_and_keeps_its_order(session):
    view = DashboardView(session, session.player, ["names", "by_day"], 10)
    dashboard = Live(view)
    dashboard.refresh()
    assert re.findall(r"<h2[^>]*>([^<]*)", shown(view)) == ["names", "by_day"]
    before, chart = shown(view), charts(view)[-1]
    spec, points = chart.spec, chart.points
    session.run(1)
    dashboard.refresh()
    assert chart.spec is spec and chart.points != points and chart is charts(view)[-1], "it moves"
    assert before != shown(view) and shown(view).count("as of batch 1") == 2
    assert "names: as of batch 1" in view.static_view().text
    session.drop("names")
    dashboard.refresh()
    assert re.findall(r"<h2[^>]*>([^<]*)", shown(view)) == ["by_day"]
    dashboard.close()


def test_a_grid_places_answers_and_sliders_in_the_notebook_and_on_the_page(session):
    grid = DashboardGrid.parsed(["names least by_day", "names . by_day"])
    assert (grid.names, grid.area("by_day")) == (("names", "least", "by_day"), "1 / 3 / 3 / 4")
    text = "SELECT * FROM T WHERE id > {}"
    sliders = ParameterSliders(
        session, [SliderRange.parsed("least=0:10")], lambda at: text.format(at["least"]), "spark", str, {}, 3
    )
    view = DashboardView(session, session.player, grid.names, 10, grid, {"least": sliders})
    view.refresh()
    box = view.widget.children[1]
    assert [child.layout.grid_area for child in box.children] == [grid.area(name) for name in grid.names]
    assert box.layout.grid_template_columns == "repeat(3, minmax(0, 1fr))"
    assert sliders.widget in box.children[1].children
    sliders.sliders[0].value = 7
    sliders.settle()
    assert "least = 7, after batch 0" in sliders.answer.value
    session.run(1)
    view.refresh()
    sliders.settle()
    assert "least = 7, after batch 1" in sliders.answer.value
    page = snapshot_page(session, grid=DashboardGrid.parsed(["names by_day by_day"]))
    assert re.findall(r'--argus-area: ([^"]*)" aria-label="([^"]*)"', page) == [
        ("1 / 1 / 2 / 2", "names"), ("1 / 2 / 2 / 4", "by_day"),
    ]  # fmt: skip
    assert 'aria-label="Network"' not in page


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["a b", "a"], "not of one width"),
        ([""], "not of one width"),
        (["a b", "b a"], "the places of a in the grid are no rectangle"),
        (["a a", "a b"], "the places of a in the grid are no rectangle"),
    ],
)
def test_a_grid_that_is_none_is_refused(rows, said):
    with pytest.raises(MagicError, match=said) as caught:
        DashboardGrid.parsed(rows)
    assert "--grid" in caught.value.hint


def test_a_page_of_a_folder_that_nobody_named_has_no_name_of_it(in_process, tmp_path):
    with Session(in_process, tmp_path / f"{PREFIX}o4k904va") as session:
        assert "<h1>Answers after batch 0</h1>" in snapshot_page(session)
