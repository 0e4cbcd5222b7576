"""A widget of the panel in Chromium without JupyterLab: a page with its theme, and Python in the kernel's place.

What is chosen in the page is set on the widget, and what the widget then changes goes back to the page. As in
JupyterLab, an answer does not undo what was chosen after its question. No Spark and no kernel, so it takes a second or
two.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anywidget
from browser.chromium import chromium
from playwright.sync_api import Page, expect

expect.set_options(timeout=60_000)

THEMES = Path(sys.prefix) / "share" / "jupyter" / "lab" / "themes" / "@jupyterlab"
BODY = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Argus</title><style>{theme}</style>
<style>body {{ background: var(--jp-layout-color0); margin: 12px }} {style}</style></head>
<body><main id="widget"></main></body></html>"""
RENDER = """async ([code, state]) => {
  const heard = {};
  window.unanswered = 0;
  const changed = (values) => {
    const names = Object.keys(values).filter((name) => JSON.stringify(values[name]) !== JSON.stringify(state[name]));
    for (const name of names) state[name] = values[name];
    for (const name of names) for (const action of heard[`change:${name}`] ?? []) action();
  };
  let waiting = {};
  const asked = {};
  const answered = (sent, values) => {
    for (const name of Object.keys(sent)) asked[name] -= 1;
    changed(Object.fromEntries(Object.entries(values).filter(([name]) => !(name in waiting) && !asked[name])));
  };
  window.model = {
    get: (name) => state[name],
    set: (name, value) => { waiting[name] = value; changed({ [name]: value }); },
    on: (name, action) => (heard[name] ??= []).push(action),
    off: (name, action) => { heard[name] = (heard[name] ?? []).filter((other) => other !== action); },
    save_changes: () => {
      const sent = waiting;
      waiting = {};
      for (const name of Object.keys(sent)) asked[name] = (asked[name] ?? 0) + 1;
      window.unanswered += 1;
      window.kernel(sent).then((values) => answered(sent, values)).finally(() => { window.unanswered -= 1; });
    },
    changed,
  };
  const { default: widget } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const begun = performance.now();
  await widget.render({ model: window.model, el: document.querySelector("#widget") });
  return performance.now() - begun;
}"""


@dataclass
class WidgetPage:
    """A page with one widget.

    Attributes:
        page: Playwright's page.
        widget: the widget in Python.
        milliseconds: how long the page took to show it.
        complaints: errors in the browser's console.
    """

    page: Page
    widget: anywidget.AnyWidget
    milliseconds: float = 0
    complaints: list[str] = field(default_factory=list)

    def state(self) -> dict[str, Any]:
        """What the page knows of the widget."""
        names = set(self.widget.keys) - {name for name in self.widget.keys if name.startswith("_")}
        return dict(self.widget.get_state(names - {"layout", "tabbable", "tooltip"}))

    def take(self, values: dict[str, Any]) -> dict[str, Any]:
        """Set what was chosen in the page; what the widget is afterwards."""
        with self.widget.hold_trait_notifications():
            for name, value in values.items():
                setattr(self.widget, name, value)
        return json.loads(json.dumps(self.state(), default=list))

    def settle(self) -> None:
        """Wait until Python has heard of everything that was chosen, and the page of what that changed."""
        self.page.wait_for_function("() => !window.unanswered", timeout=120_000)

    def until(self, done: Callable[[], bool]) -> None:
        """Wait until something is so that the page does after a moment."""
        end = time.monotonic() + 120
        while not done():
            assert time.monotonic() < end, "it does not come"
            self.page.wait_for_timeout(20)
        self.settle()

    def push(self) -> None:
        """Send the page what Python changed, as the kernel does."""
        self.page.evaluate("(state) => window.model.changed(state)", self.take({}))


@contextmanager
def static(html: str, theme: str = "light") -> Iterator[Page]:
    """A page of JupyterLab's theme with an output that needs no kernel."""
    variables = (THEMES / f"theme-{theme}-extension" / "index.css").read_text(encoding="utf-8")
    with chromium().new_page(viewport={"width": 1280, "height": 720}) as page:
        page.set_content(BODY.format(theme=variables, style=""))
        page.evaluate("(html) => { document.querySelector('#widget').innerHTML = html; }", html)
        yield page


@contextmanager
def shown(
    widget: anywidget.AnyWidget, theme: str = "light", width: int = 1280, height: int = 720
) -> Iterator[WidgetPage]:
    """The widget in a page.

    Args:
        widget: what to show.
        theme: ``light``, ``dark`` or ``dark-high-contrast``.
        width, height: of the page, in pixels.
    """
    sent = widget.get_state(["_css", "_esm"])
    variables = (THEMES / f"theme-{theme}-extension" / "index.css").read_text(encoding="utf-8")
    with chromium().new_page(viewport={"width": width, "height": height}, accept_downloads=True) as page:
        made = WidgetPage(page, widget)
        page.on("console", lambda said: said.type == "error" and made.complaints.append(said.text))
        page.on("pageerror", lambda error: made.complaints.append(str(error)))
        page.set_content(BODY.format(theme=variables, style=sent["_css"]))
        page.expose_function("kernel", made.take)
        made.milliseconds = page.evaluate(RENDER, [sent["_esm"], made.take({})])
        yield made
