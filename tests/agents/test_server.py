"""Agents ask a session through the package's own client: over HTTP with a token, and over stdio."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

mcp = pytest.importorskip("mcp", reason="pip install 'argus-workbench[agents]'")

from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client  # noqa: E402

from workbench.agents.server import ServedAgents, serve_agents  # noqa: E402
from workbench.agents.verbs import Allowance  # noqa: E402
from workbench.errors import SessionError  # noqa: E402
from workbench.session.session import Session  # noqa: E402

ROWS = [{"id": k, "g": "abc"[k % 3], "n": k % 10} for k in range(60)]


@pytest.fixture
def session(spark: SparkSession) -> Iterator[Session]:
    with Session(spark) as made:
        made.add_stream("t", ROWS, history=40, batch=10)
        made.register("SELECT id, n FROM t WHERE n > 6", name="big")
        made.run(1)
        yield made


async def _asked(url: str, token: str, calls: list[tuple[str, dict[str, Any]]]) -> tuple[list[str], list[Any]]:
    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as http,
        mcp.Client(streamable_http_client(url, http_client=http)) as client,
    ):
        return await _replies(client, calls)


async def _replies(client: Any, calls: list[tuple[str, dict[str, Any]]]) -> tuple[list[str], list[Any]]:
    tools = [tool.name for tool in (await client.list_tools()).tools]
    replies = []
    for name, given in calls:
        result = await client.call_tool(name, given)
        text = result.content[0].text
        replies.append(f"refused: {text}" if result.is_error else json.loads(text))
    return tools, replies


def asked(served: ServedAgents, *calls: tuple[str, dict[str, Any]]) -> tuple[list[str], list[Any]]:
    return asyncio.run(_asked(served.url, served.token, list(calls)))


def test_agents_read_a_session(session: Session) -> None:
    served = serve_agents(session)
    tools, (queries, schema, rows, changes, explained, why, why_not, cost, typo, many) = asked(
        served,
        ("list_queries", {}),
        ("schema", {}),
        ("ask", {"query": "big", "where": "n = 9", "sort": "id", "limit": 2}),
        ("changes_since", {"query": "big", "batch": 0}),
        ("explain", {"query": "big"}),
        ("why", {"query": "big", "where": "id = 7"}),
        ("why_not", {"query": "big", "where": "id = 3"}),
        ("preview", {"sql": "SELECT g, COUNT(*) AS c FROM t GROUP BY g"}),
        ("ask", {"query": "bigg"}),
        ("ask", {"query": "big", "limit": 100_000}),
    )
    assert "register" not in tools and len(tools) == 8
    assert [query["query"] for query in queries["queries"]] == ["big"]
    assert schema["streams"][0]["columns"][0]["name"] == "id"
    assert rows["total"] == 5 and rows["rows"] == [{"id": 9, "n": 9}, {"id": 19, "n": 9}]
    assert {row["id"] for row in changes["changes"]} == {47, 48, 49}
    assert "big" in explained["explanation"]
    assert why["streams"]["t"]["rows"] == [{"batch": 0, **ROWS[7]}]
    assert "WHERE n > 6" in why_not["causes"][0]["title"]
    assert cost["rows_per_batch"] >= 0 and cost["memory"]
    assert "refused" in typo and "big" in typo
    assert "refused" in many and "1,000" in many
    assert [*session.queries] == ["big"], "nothing was registered"
    served.close()
    assert served not in session.ports


def test_a_request_needs_the_token(session: Session) -> None:
    served = serve_agents(session, token="0123456789abcdef")
    with pytest.raises(BaseExceptionGroup):
        asyncio.run(_asked(served.url, "0123456789abcdeg", [("schema", {})]))
    with pytest.raises(SessionError, match="token"):
        serve_agents(session, host="0.0.0.0")
    session.close()
    with pytest.raises(BaseExceptionGroup):
        asyncio.run(_asked(served.url, "0123456789abcdef", [("schema", {})]))


def test_agents_register_within_limits(session: Session) -> None:
    served = serve_agents(session, allowance=Allowance(queries=1, rows=10_000))
    sql = "SELECT g, COUNT(*) AS c FROM t GROUP BY g"
    tools, (taken, made, again, later) = asked(
        served,
        ("register", {"name": "BIG", "sql": sql}),
        ("register", {"name": "counts", "sql": sql}),
        ("register", {"name": "more", "sql": sql}),
        ("ask", {"query": "counts", "sort": "g", "limit": 1}),
    )
    assert "register" in tools and "there is a query BIG" in taken
    assert "refused" not in made, made
    assert made["query"] == "counts" and "may register 1" in again
    assert later["rows"] == [{"g": "a", "c": 17}]
    served.close()
    costly = serve_agents(session, allowance=Allowance(queries=1, rows=0))
    _, (refused,) = asked(costly, ("register", {"name": "other", "sql": "SELECT a.id FROM t a JOIN t b ON a.id = b.n"}))
    assert "rows more each batch, and 0 are allowed" in refused
    assert [*session.queries] == ["big", "counts"]


def test_over_stdio(tmp_path: Path) -> None:
    with Session(path=tmp_path / "s") as made:
        made.add_stream("t", ROWS, history=40, batch=10)
        made.register("SELECT id, n FROM t WHERE n > 6", name="big")

    async def ask() -> tuple[list[str], list[Any]]:
        command = ["-m", "workbench", "agents", str(tmp_path / "s")]
        parameters = mcp.StdioServerParameters(command=sys.executable, args=command)
        async with mcp.Client(parameters) as client:
            return await _replies(client, [("ask", {"query": "big", "limit": 1})])

    tools, (rows,) = asyncio.run(ask())
    assert "register" not in tools and rows["rows"] == [{"id": 7, "n": 7}]
