"""A session that a kernel left behind is named to the notebook's next kernel; an old one is removed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from fake_session import FakeSession

from workbench.catalog.catalog import Catalog
from workbench.notebook import extension
from workbench.notebook.context import NotebookContext
from workbench.notebook.left_sessions import KEPT_FOR, left_sessions, mark, notebook_of, what_is_left
from workbench.session.directory.directory import CATALOG, PREFIX, SessionDirectory
from workbench.session.directory.identity import IDENTITY

NOTEBOOK = "work/fraud.ipynb"


def leave(folder: Path, name: str, notebook: str = NOTEBOOK, queries: int = 1, days: float = 0.0) -> Path:
    """A session that was left a number of days ago."""
    path = folder / f"{PREFIX}{name}"
    directory = SessionDirectory.new(path)
    with Catalog(path / CATALOG) as catalog, catalog.transaction():
        for i in range(queries):
            values = (f"q{i}", i, "SELECT", "spark", 0, "active", "{}", "lazy", "[]", str(i), 0, None, 0, "UTC")
            catalog.database.run(f"INSERT INTO registrations VALUES ({', '.join('?' * len(values))})", values)
    if notebook:
        mark(path, notebook)
    directory.close()
    for file in path.glob(f"{CATALOG}*"):
        os.utime(file, (then := time.time() - days * 86_400, then))
    return path


def test_a_notebook_hears_of_its_last_session_and_of_no_other(tmp_path):
    mine, other = leave(tmp_path, "mine", queries=2), leave(tmp_path, "other", "work/fees.ipynb")
    said = what_is_left(NOTEBOOK, tmp_path)
    assert "after batch 0, 0 streams and tables, 2 queries" in said and f"%argus open {mine} goes on" in said
    assert "removed" not in said.replace("it is removed", "") and other.exists()
    assert what_is_left("", tmp_path) == "" and mine.exists()


def test_older_ones_of_the_notebook_and_empty_ones_are_removed(tmp_path):
    newest, older = leave(tmp_path, "newest"), leave(tmp_path, "older", days=1)
    empty = leave(tmp_path, "empty", queries=0)
    said = what_is_left(NOTEBOOK, tmp_path)
    assert str(newest) in said and "removed 2 sessions that were left" in said
    assert newest.exists() and not older.exists() and not empty.exists()


def test_what_nobody_came_back_for_is_removed_unless_it_was_opened(tmp_path):
    days = KEPT_FOR / 86_400 + 1
    script, opened = leave(tmp_path, "script", notebook="", days=days), leave(tmp_path, "opened", days=days)
    (opened / IDENTITY).write_text("{}")
    said = what_is_left(NOTEBOOK, tmp_path).splitlines()
    assert said[1] == f"%argus open {opened} goes on with it"
    assert said[2].startswith("removed 1 session that was left in temporary folders")
    assert opened.exists() and not script.exists()


def test_a_session_that_a_process_has_open_is_left_alone(tmp_path):
    path = leave(tmp_path, "busy", days=100)
    directory = SessionDirectory.existing(path)
    assert left_sessions(tmp_path) == [] and what_is_left(NOTEBOOK, tmp_path) == "" and path.exists()
    directory.close()


def test_sessions_of_others_are_named_where_they_take_much(tmp_path):
    little, much = leave(tmp_path, "little", notebook=""), leave(tmp_path, "much", "work/fees.ipynb")
    assert what_is_left(NOTEBOOK, tmp_path) == ""
    with (much / "rows").open("wb") as rows:
        rows.truncate(71 * 10**9)  # no byte of it is written
    said = what_is_left(NOTEBOOK, tmp_path)
    assert said == (
        f"2 sessions of other notebooks and scripts that have ended take 71.0 GB of {tmp_path} (most of it: {much}); "
        "delete what you do not need, the rest goes after 7 days"
    )
    assert little.exists() and what_is_left("work/fees.ipynb", tmp_path).startswith("this notebook's last session")


def test_other_folders_are_no_sessions(tmp_path):
    (tmp_path / f"{PREFIX}else").mkdir()
    (tmp_path / "argus-spark-x").mkdir()
    assert what_is_left(NOTEBOOK, tmp_path) == "" and len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(("notebook", "stays"), [(NOTEBOOK, True), ("", False)])
def test_a_kernel_that_ends_leaves_an_unsaved_session_to_its_notebook(tmp_path, notebook, stays):
    directory = SessionDirectory.new(None)
    session = FakeSession()
    session.add_stream("t", None, None, None, None)
    session.temporary, session.path = True, directory.path
    session.keep, session.close = directory.keep, directory.close
    context = NotebookContext({}, lambda: session)
    assert context.session is session
    extension.leave(context, notebook)
    assert directory.path.exists() == stays
    if stays:
        directory.temporary = True
        directory.close()


def test_who_says_which_notebook_it_is(monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert notebook_of({}) == "" and notebook_of({"__vsc_ipynb_file__": "/a.ipynb"}) == "/a.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", NOTEBOOK)
    assert notebook_of({}) == NOTEBOOK
