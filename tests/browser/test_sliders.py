"""Sliders for parameters in a real browser: moved by keyboard and by pointer, heard while they move, read aloud."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.axe import grave
from browser.chromium import CHROMIUM
from browser.widget_page import shown

from workbench.notebook.panel.widgets import SliderWidget

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
]
DRAG = """async (ends) => {
  const slider = document.querySelector("input[type=range]");
  for (let at = ends[0]; at <= ends[1]; at += 1) {
    slider.value = at;
    slider.dispatchEvent(new Event("input"));
    await new Promise((done) => setTimeout(done, 10));
  }
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_kernel_hears_where_a_live_slider_rests(theme: str) -> None:
    texts = [str(position * 50_000) for position in range(21)]
    widget, heard = SliderWidget(label="least", max=20, value=2, texts=texts, live=True), list[int]()
    widget.observe(lambda change: heard.append(change["new"]), "value")
    with shown(widget, theme) as page:
        slider = page.page.get_by_role("slider", name="least")
        assert slider.get_attribute("aria-valuetext") == "100000"
        page.page.evaluate(DRAG, [3, 12])  # it rests nowhere on the way
        page.until(lambda: bool(heard))
        assert heard == [12] and page.page.get_by_text("600000").is_visible()
        slider.focus()
        for _ in range(3):
            page.page.keyboard.press("ArrowRight")
        page.until(lambda: heard[-1] == 15)
        assert slider.get_attribute("aria-valuetext") == "750000"
        page.page.keyboard.press("Home")
        page.until(lambda: heard[-1] == 0)
        assert grave(page.page) == [] and page.complaints == []


def test_another_slider_is_heard_where_it_is_left() -> None:
    widget, heard = SliderWidget(label="After batch", max=20, value=2), list[int]()
    widget.observe(lambda change: heard.append(change["new"]), "value")
    with shown(widget) as page:
        page.page.evaluate(DRAG, [3, 12])
        page.page.wait_for_timeout(250)
        page.settle()
        assert heard == [] and page.page.get_by_text("12", exact=True).is_visible()
        page.page.get_by_role("slider", name="After batch").dispatch_event("change")
        page.settle()
        assert heard == [12]
