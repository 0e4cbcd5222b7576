"""Chromium is started once for the tests of a module that show widgets and pages without JupyterLab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def chromium_ends_with_the_module() -> Iterator[None]:
    yield
    from browser.chromium import end_chromium

    end_chromium()
