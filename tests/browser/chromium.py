"""One Chromium, without a window, for all tests of a module."""

from __future__ import annotations

import shutil

from playwright.sync_api import Browser, Playwright, sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_STARTED: list[tuple[Playwright, Browser]] = []


def chromium() -> Browser:
    """The Chromium of this module's tests, which is started when one first asks for it."""
    if not _STARTED:
        playwright = sync_playwright().start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        _STARTED.append((playwright, browser))
    return _STARTED[0][1]


def end_chromium() -> None:
    """End it: while Playwright is there, nothing else of the thread may have a loop of events."""
    while _STARTED:
        playwright, browser = _STARTED.pop()
        browser.close()
        playwright.stop()
