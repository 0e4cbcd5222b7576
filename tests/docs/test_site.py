"""The site is built without a warning, and its pages load nothing from the network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from doc_pages import ROOT, pages

LOADED = re.compile(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"(https?:[^\"]*)|<link\b[^>]*\bhref=\"(https?:[^\"]*)")


@pytest.mark.slow
def test_the_site_is_complete_and_needs_no_network(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    for page in pages():
        html = (tmp_path / page).with_suffix(".html").read_text(encoding="utf-8")
        loaded = [address for pair in LOADED.findall(html) for address in pair if address]
        assert not loaded, page
        assert "```" not in re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL), page
    assert "add_stream" in (tmp_path / "reference/api/session.html").read_text(encoding="utf-8")
    assert "var __index" in (tmp_path / "search" / "search_index.js").read_text(encoding="utf-8")
