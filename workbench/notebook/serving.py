"""The page of a session in a browser without Jupyter: read-only, and following the session as batches come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any

from workbench.errors import WorkbenchError
from workbench.notebook.dashboard_grid import DashboardGrid
from workbench.notebook.display import plain
from workbench.notebook.snapshot import SNAPSHOT_ROWS, snapshot_page
from workbench.session.session import Session

PAGE_PATH = "/session"
_FOLLOW = """<script>
"use strict";
let seen = null;
async function follow() {
  const query = location.search, at = location.pathname.replace(/\\/$/, "");
  try {
    const now = await (await fetch(at + "/batch" + query)).text();
    if (seen !== null && now !== seen) {
      const page = new DOMParser().parseFromString(await (await fetch(at + query)).text(), "text/html");
      for (const part of page.querySelectorAll("section")) {
        const old = [...document.querySelectorAll("section")].find((one) => one.ariaLabel === part.ariaLabel);
        const top = old?.querySelector(".rows")?.scrollTop;
        if (old && !old.contains(document.activeElement)) {
          old.replaceWith(part);
          if (top) part.querySelector(".rows").scrollTop = top;
        } else if (!old) document.querySelector("main").append(part);
      }
      document.querySelector("h1").textContent = document.title = page.title;
    }
    seen = now;
  } catch { document.querySelector("h1").textContent = "the session is served no more"; }
  setTimeout(follow, 1000);
}
addEventListener("load", follow);
</script>"""


class SessionPages:
    """The application that answers requests for a session's page.

    Args:
        session: the session.
        rows: how many rows of an answer at most.
        grid: where answers stand; ``None``: all of them one after the other, with the network and the streams.
    """

    def __init__(self, session: Session, rows: int = SNAPSHOT_ROWS, grid: DashboardGrid | None = None) -> None:
        self._session, self._rows, self._grid = session, rows, grid
        self._lock = Lock()
        self._made: tuple[str, str] = ("", "")

    def __call__(self, request: Mapping[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request, as WSGI calls it."""
        if request["REQUEST_METHOD"] != "GET":
            start("405 Method Not Allowed", [("Content-Type", "text/plain"), ("Allow", "GET")])
            return [b"the page is read by GET\n"]
        wanted, kind = request.get("PATH_INFO", "").removeprefix(PAGE_PATH).strip("/"), "text/plain"
        try:
            with self._lock:  # one page is made at a time, for all who ask
                state = self._version()
                if wanted != "batch" and self._made[0] != state:
                    self._made = state, snapshot_page(self._session, (), self._rows, _FOLLOW, self._grid)
                kind, body = ("text/plain", state) if wanted == "batch" else ("text/html", self._made[1])
        except WorkbenchError as problem:
            start("503 Service Unavailable", [("Content-Type", "text/html; charset=utf-8")])
            return [(plain(str(problem)).html or "").encode()]
        headers = [("Content-Type", f"{kind}; charset=utf-8"), ("Cache-Control", "no-store"),
                   ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff")]  # fmt: skip
        start("200 OK", headers)
        return [body.encode()]

    def _version(self) -> str:
        """What changes where the page does."""
        session = self._session
        states = (f"{name}:{query.batch}:{query.status}:{query.suspended}" for name, query in session.queries.items())
        problems = (source.problem for source in session.sources.values())
        return f"{session.batch} {hash((*states, *problems, *session.streams))}"
