"""A subquery that is a value: while it has one row it is read like any other; when it has several its query stops."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

from workbench.errors import QueryError
from workbench.session.session import Session

LINKED = "SELECT id, (SELECT name FROM U WHERE U.id = T.k) AS name FROM T"
ROWS = {"id": [1, 2, 3, 4], "k": [10, 20, None, 40]}
NAMES = {"id": [10, 20, 20, 30, 30], "name": ["a", "b", None, "d", "d"]}
"""The second 20 comes in the second batch; 30 is in no row."""


@pytest.fixture
def session(spark) -> Iterator[Session]:
    with Session(spark=spark) as session:
        session.add_stream("T", pd.DataFrame(ROWS).astype("Int64"), history=2, batch=1)
        names = pd.DataFrame(NAMES).astype({"id": "Int64"})
        session.add_stream("U", names.iloc[[0, 1, 3, 4, 2]], history=0, batch=2)
        yield session


def test_a_query_runs_until_its_value_has_two_rows(session: Session) -> None:
    linked = session.register(LINKED, name="linked")
    view = session.register("SELECT COUNT(*) AS n FROM linked WHERE name = 'a'", name="view")
    most = session.register("SELECT id FROM T WHERE k >= (SELECT MAX(id) FROM U)", name="most")
    alone = session.register("SELECT (SELECT k FROM T WHERE id = 1) AS one, COUNT(*) AS n FROM U", name="alone")
    unkept = session.register(LINKED, name="unkept", results="off")
    assert linked.result().name.isna().all()
    session.run(2)
    assert dict(zip(*linked.result().values.T, strict=True)) == {1: "a", 2: "b", 3: None, 4: None}
    assert unkept.result().shape == (4, 2)
    assert alone.result().values.tolist() == [[10, 4]]
    assert set(session.network.node(session.network.results["linked"][0]).queries) >= {"linked"}
    assert set(session.network.results) == {"linked", "view", "most", "alone"}
    assert session.reoptimize().batch == 2  # plans checks anew, too
    session.run(1)
    assert [linked.status, view.status] == ["a subquery that is a value has several rows"] * 2
    assert [most.status, alone.status] == ["active"] * 2
    assert set(session.network.results) == {"most", "alone"}
    with pytest.raises(QueryError, match="several rows"):
        linked.result()
    with pytest.raises(QueryError, match="several rows"):
        unkept.result()
    late = session.register(LINKED, name="late")
    assert late.status == "a subquery that is a value has several rows"
    session.drop("linked")
    session.drop("alone")


def test_checks_go_with_their_query_and_come_back_with_it(session: Session, tmp_path, spark) -> None:
    session.register(LINKED, name="linked")
    session.register(LINKED.replace("name FROM U", "MIN(name) FROM U"), name="least")
    session.save(tmp_path / "saved")
    session.drop("linked")
    session.run(3)
    assert session.query("least").status == "active"
    with Session.open(tmp_path / "saved", spark) as again:
        again.run(2)
        assert again.query("linked").result().shape == (4, 2)
        again.run(1)
        assert again.query("linked").status == "a subquery that is a value has several rows"
        again.seek(1)
        assert again.query("least").status == "active"
