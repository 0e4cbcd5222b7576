"""Drawings that are saved with a notebook, in JupyterLab's themes: read in all of them."""

from __future__ import annotations

import os

import example_network
import pytest
from long import some

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.axe import least_contrast
from browser.chromium import CHROMIUM
from browser.widget_page import static

from workbench.explain.describe import NetworkView
from workbench.notebook.drawing import picture
from workbench.notebook.panel.widgets import STYLE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium"),
    pytest.mark.timeout(300),
]


@pytest.mark.parametrize("theme", some(["dark", "light", "dark-high-contrast"], always=2))
def test_a_static_drawing_follows_the_theme(theme: str) -> None:
    example = example_network.example()
    network = NetworkView(example, [example_network.report(example)])
    for query in (None, "rich_days"):
        with static(picture(network, query).html or "", theme) as page:
            if where := os.environ.get("ARGUS_SCREENSHOTS"):
                page.screenshot(path=f"{where}/static-{theme}-{query}.png")
            assert least_contrast(page, "#widget") >= 4.5


OVERFLOWING = """() => [...document.querySelectorAll('svg g.node')].filter(node => {
    const box = node.querySelector('path, polygon').getBoundingClientRect();
    return [...node.querySelectorAll('text')].some(text => text.getBoundingClientRect().width > box.width + 1);
}).map(node => node.textContent)"""
"""Nodes with text that is wider than their box."""


def test_text_fits_into_its_node_in_the_panel() -> None:
    html = picture(NetworkView(example_network.example())).html
    with static(f'<div class="argus"><style>{STYLE}</style>{html}</div>') as page:
        assert page.locator("svg g.node").count() > 10
        assert page.evaluate(OVERFLOWING) == []
