"""JupyterLab in a headless Chromium, as an analyst has it: what the browser tests drive."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from browser.chromium import chromium
from playwright.sync_api import Browser, Page

PROJECT = Path(__file__).parents[2]
MARK = "\x00"
"""Before an answer: the kernel's threads print too."""
READY = """() => {
  const panel = window.jupyterapp && window.jupyterapp.shell.currentWidget;
  const context = panel && panel.sessionContext;
  return context && context.isReady && context.session.kernel.status === "idle";
}"""
"""The notebook's own word that its kernel is connected; the indicator says idle before that."""

# What Jupyter's server and browser say of themselves while a kernel is started anew or a page is left.
HARMLESS = re.compile(r"WebSocket|Connection lost|favicon|preload|ResizeObserver|net::ERR_ABORTED|AbortError")


@dataclass
class Lab:
    """One page of JupyterLab with one notebook.

    Attributes:
        browser: Playwright's.
        server: the address of JupyterLab's server.
        width: of a new page, in pixels.
        page: Playwright's page, the one that was opened last.
        elsewhere: requests that would have left this machine; they are refused.
        complaints: errors in the browser's console.
    """

    browser: Browser
    server: str
    width: int
    page: Page = field(init=False)
    elsewhere: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def run_all(self, timeout: float) -> None:
        """Run all cells and wait until the kernel has nothing left to do."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        self.ready(timeout)

    def run_cell(self, source: str, timeout: float = 120_000) -> int:
        """Append a cell, run it, wait until it is done; its place in the notebook."""
        place = self.page.evaluate(
            """async (source) => {
              const panel = window.jupyterapp.shell.currentWidget;
              const model = panel.content.model.sharedModel;
              model.insertCell(model.cells.length, {cell_type: "code", source});
              panel.content.activeCellIndex = model.cells.length - 1;
              await window.jupyterapp.commands.execute("notebook:run-cell");
              return model.cells.length - 1;
            }""",
            source,
        )
        self.ready(timeout)
        return int(place)

    def run_code(self, code: str, timeout: float = 120_000) -> None:
        """Run code as a cell would, without changing the notebook or where the page stands."""
        self.page.evaluate(
            """async (code) => {
              const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
              const reply = await kernel.requestExecute({code}).done;
              if (reply.content.status !== "ok") throw new Error(reply.content.evalue);
            }""",
            code,
        )
        self.ready(timeout)

    def ask(self, expression: str) -> Any:
        """What an expression is worth in the kernel, also while something plays there; anything JSON can hold."""
        said = self.page.evaluate(
            """async (code) => {
              const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
              const asked = kernel.requestExecute({ code, silent: false, store_history: false });
              let said = "";
              asked.onIOPub = (message) => {
                if (message.header.msg_type === "stream") said += message.content.text;
              };
              await asked.done;
              return said;
            }""",
            f"import json; print({MARK!r} + json.dumps({expression}))",
        )
        return json.loads(said.split(MARK)[1])

    def look(self, theme: str, width: int) -> None:
        """Give the page a theme of JupyterLab's and a width."""
        self.page.set_viewport_size({"width": width, "height": 1000})
        self.page.evaluate("(theme) => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        light = str(theme.endswith("Light")).lower()
        self.page.locator(f"body[data-jp-theme-light='{light}']").wait_for(state="attached")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")  # it covers the page while a theme is loaded

    def open(self, name: str) -> None:
        """Open a notebook of the folder in a page of its own, as one who comes to it anew."""
        self.page = self.browser.new_page(viewport={"width": self.width, "height": 1000})
        _watch(self)
        self.page.goto(f"{self.server}/lab/tree/{name}?reset")
        self.ready()

    def save(self) -> None:
        """Save the notebook."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    def restart(self) -> None:
        """Restart the kernel."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
        self.ready()

    def output(self, place: int):
        """The output area of a cell."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(place).locator(".jp-Cell-outputArea")

    def ready(self, timeout: float = 60_000) -> None:
        """Wait until the notebook's kernel is connected and idle."""
        self.page.wait_for_function(READY, timeout=timeout)


@contextmanager
def lab(notebook: Path, folder: Path, theme: str = "JupyterLab Light", width: int = 1400) -> Iterator[Lab]:
    """JupyterLab with one notebook open.

    Args:
        notebook: the notebook's file.
        folder: for the settings and the runtime files of this server.
        theme: JupyterLab's theme.
        width: of the page, in pixels.
    """
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": theme}), encoding="utf-8")
    notification = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(notification), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH")])),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", f"--ServerApp.port={port}"]
    command += ["--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True"]
    command += [f"--LabApp.user_settings_dir={folder / 'settings'}", f"--ServerApp.root_dir={notebook.parent}"]
    command += [f"--LabApp.workspaces_dir={folder / 'workspaces'}", "--allow-root"]
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            _answers(f"http://127.0.0.1:{port}/api", server)
            opened = Lab(chromium(), f"http://127.0.0.1:{port}", width)
            opened.open(notebook.name)
            yield opened
            opened.page.close()
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(30)
            server.kill()


def _watch(made: Lab) -> None:

    def go(route) -> None:
        if urlparse(route.request.url).hostname in ("127.0.0.1", "localhost", None):
            route.continue_()
        else:
            made.elsewhere.append(route.request.url)
            route.abort()

    def told(message) -> None:
        if message.type == "error" and not HARMLESS.search(message.text):
            made.complaints.append(message.text)

    made.page.route("**/*", go)
    made.page.on("console", told)
    made.page.on("pageerror", lambda error: made.complaints.append(str(error)))


def _answers(url: str, server: subprocess.Popen[bytes], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert server.poll() is None, "JupyterLab did not start"
        with suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(0.2)
    raise TimeoutError(url)
