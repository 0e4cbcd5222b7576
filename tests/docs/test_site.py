"""The site is built without a warning, and its pages load nothing from the network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser.chromium import CHROMIUM
from doc_pages import ROOT, pages

LOADED = re.compile(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"(https?:[^\"]*)|<link\b[^>]*\bhref=\"(https?:[^\"]*)")


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, which is built without a warning."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def test_the_site_is_complete_and_needs_no_network(site: Path) -> None:
    for page in pages():
        html = (site / page).with_suffix(".html").read_text(encoding="utf-8")
        loaded = [address for pair in LOADED.findall(html) for address in pair if address]
        assert not loaded, page
        assert "```" not in re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL), page
    assert "add_stream" in (site / "reference/api/session.html").read_text(encoding="utf-8")


def test_each_notebook_is_a_page_with_its_outputs_and_needs_no_network(site: Path) -> None:
    listed = (site / "gallery/index.html").read_text(encoding="utf-8")
    names = [path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    assert len(names) >= 8
    for name in names:
        html = (site / "gallery" / f"{name}.html").read_text(encoding="utf-8")
        assert f'href="{name}.html"' in listed and "jp-OutputArea-output" in html
        assert not [address for pair in LOADED.findall(html) for address in pair if address], name


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: sh scripts/system-packages.sh chromium")
def test_search_works_in_a_folder_without_a_server(site: Path) -> None:
    from playwright.sync_api import sync_playwright

    requests: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.click(".md-search__input")
        page.keyboard.type("semijoin")
        page.wait_for_selector('.md-search-result a[href*="design/joins.html"]', state="attached")
        browser.close()
    assert [url for url in requests if not url.startswith("file:")] == []
