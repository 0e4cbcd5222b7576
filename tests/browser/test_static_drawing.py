"""Drawings that are saved with a notebook, in JupyterLab's themes: read in all of them."""

from __future__ import annotations

import os

import example_network
import pytest
from long import some

pytest.importorskip("playwright", reason="Playwright is not installed")

from browser.axe import least_contrast
from browser.widget_page import CHROMIUM, static

from workbench.explain.describe import NetworkView
from workbench.notebook.drawing import picture

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
