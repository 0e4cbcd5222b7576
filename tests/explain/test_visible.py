"""The visible part of a network: rows of constants are one box, and what watches over limits is not drawn."""

from __future__ import annotations

import pyarrow as pa

from workbench.engine.spark.in_process import InProcess
from workbench.explain.dot import to_dot
from workbench.explain.visible import visible
from workbench.session.session import Session

ROWS = pa.table({"id": [1, 2, 3], "a": [[1, 2], [], None]})


def drawn(*texts: str) -> tuple[list[str], str]:
    """The kinds of the nodes that a drawing of some queries shows, and the drawing."""
    with Session(InProcess()) as session:
        session.add_stream("t", ROWS, history=2, batch=1)
        for text in texts:
            session.register(text)
        session.run(1)
        network = session.network
        assert len(visible(network, full=True).boxes) == len(network.nodes)
        shown = [node.kind for tree in visible(network).trees for node in tree.shown]
        return shown, to_dot(network)


def test_the_places_of_elements_are_one_box() -> None:
    shown, dot = drawn("SELECT id, e FROM t LATERAL VIEW EXPLODE(a) x AS e WHERE id > 1")
    assert sorted(shown) == ["distinct", "join", "selection", "source"]
    assert dot.count("rows of constants") == 1 and "false" not in dot


def test_queries_over_constants_are_shown() -> None:
    shown, dot = drawn("VALUES (1), (2)", "SELECT id FROM t WHERE 1 = 0")
    assert sorted(shown) == ["selection", "set operator", "source"]
    assert "rows of constants" in dot and "false" in dot
