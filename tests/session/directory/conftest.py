"""One session in a folder, registered and run once; every test works on a copy of it."""

from __future__ import annotations

import datetime as dt
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from oracle.class_queries import ALL
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from oracle.test_windows import CASES as WINDOWS
from oracle.test_windows import F
from pyspark.sql import SparkSession

from workbench import Session
from workbench.files.packs import bytes_of
from workbench.files.writing import checksum_of
from workbench.session.directory.identity import IDENTITY, read_identity

CASES = {
    "join_self": ALL["join_self"],
    "by_group": Case("SELECT g, COUNT(*) AS n, SUM(amount) AS s, MIN(k) AS lo FROM t GROUP BY g"),
    "of_groups": Case(
        "SELECT n, COUNT(*) AS groups FROM (SELECT g, COUNT(*) AS n FROM t GROUP BY g) v GROUP BY n",
    ),
    "except_all": Case("SELECT k FROM t WHERE k > 2 EXCEPT ALL SELECT k FROM u"),
    "lately": WINDOWS["by bank"],
}
BATCHES, AHEAD = 2, 4


@pytest.fixture(scope="session")
def kept(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    """The session, closed after two batches; DuckDB knows the answers of some more."""
    feeds = {
        "t": Feed(stream(130, seed=61), history=30, batch=12),
        "u": Feed(stream(90, seed=62), history=10, batch=8),
        "names": Feed(names(63), static=True),
        "f": Feed(F, history=30, batch=12, time="d", lateness=dt.timedelta(days=3)),
    }
    with Oracle(spark, feeds, path=tmp_path_factory.mktemp("kept") / "s") as made:
        made.register(CASES, check=False)
        made.run(BATCHES, check=False)
        made.foresee(AHEAD)
        made.session.close()
        yield made


@pytest.fixture
def folder(kept: Oracle, tmp_path: Path) -> Path:
    """A copy of the session's folder, in which each segment is a file of its own, as older versions wrote them."""
    return unpacked(copied(kept.session.path, tmp_path / "s"))


Follow = Callable[[Session], Oracle]


@pytest.fixture
def following(kept: Oracle) -> Iterator[Follow]:
    """Lets the oracle follow a session that was opened from a copy, until the test ends."""
    before, opened = kept.session, []

    def follow(session: Session) -> Oracle:
        opened.append(session)
        kept.follow(session)
        return kept

    yield follow
    for session in opened:
        session.close()
    kept.session = before


def copied(folder: Path, into: Path) -> Path:
    """A copy of a session's folder as it is."""
    return Path(shutil.copytree(folder, into, copy_function=_link))


def unpacked(folder: Path) -> Path:
    """A session's folder without packs: their parts become files."""
    connection = sqlite3.connect(folder / "catalog.sqlite")
    named = connection.execute("SELECT DISTINCT file FROM segments WHERE file LIKE '%.arrow@%'").fetchall()
    (folder / "state" / "parts").mkdir(exist_ok=True)
    for number, (name,) in enumerate(named):
        file = f"state/parts/{number}.arrow"
        (folder / file).write_bytes(bytes_of(str(folder / name)).to_pybytes())
        connection.execute("UPDATE segments SET file = ? WHERE file = ?", (file, name))
    connection.commit()
    connection.close()
    shutil.rmtree(folder / "state" / "packs", ignore_errors=True)
    identity = read_identity(folder)
    assert identity is not None
    (folder / IDENTITY).write_text(replace(identity, catalog=checksum_of(folder / "catalog.sqlite")).text)
    return folder


def _link(source: str, target: str) -> None:
    # Segments are never changed; all else is.
    if source.endswith((".arrow", ".parquet")):
        Path(target).hardlink_to(source)
    else:
        shutil.copyfile(source, target)
