"""A sender that ends between the send and the commit: readers of committed messages see each batch once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest
from servers import ISOLATES, Broker, isolating_broker

from workbench.session.sinks.kafka import TopicTarget
from workbench.sql.algebra.types import INTEGER

pytestmark = pytest.mark.skipif(not ISOLATES, reason="pip install 'argus-workbench[faults]'")
ROWS = pa.table({"weight": [1, 1], "v": [10, 20]})
SENDER = """
import os, sys
from confluent_kafka import Producer

producer = Producer({"bootstrap.servers": sys.argv[1], "transactional.id": "argus-s"})
producer.init_transactions(30)
producer.begin_transaction()
producer.produce("out", "lost", headers={"argus-batch": "1"}, partition=0)
producer.produce("out-argus", "1", "s", partition=0)
producer.flush(30)
if sys.argv[2] == "abort":
    producer.abort_transaction(30)
os._exit(0)
"""


@pytest.fixture
def isolating() -> Iterator[Broker]:
    with isolating_broker("out") as broker:
        yield broker


def sent(broker: Broker) -> list[tuple[str, bytes]]:
    return [(dict(message.headers())["argus-batch"].decode(), message.value()) for message in broker.read("out")]


@pytest.mark.parametrize("ends", ["open", "abort"])
def test_what_was_not_committed_is_seen_by_nobody(isolating: Broker, ends: str) -> None:
    target = TopicTarget(isolating.url("out"))
    assert target.begin("s", [INTEGER]) is None
    target.write("q", 0, ROWS)
    first = sent(isolating)
    assert len(first) == ROWS.num_rows
    target.close()
    subprocess.run([sys.executable, "-c", SENDER, isolating.address, ends], check=True)
    assert sent(isolating) == first
    assert target.begin("s", [INTEGER]) == 0, "the number of the lost batch does not count"
    assert sent(isolating) == first, "what was open is aborted"
    target.write("q", 1, ROWS)
    assert sorted(batch for batch, _ in sent(isolating)) == ["0", "0", "1", "1"]
    assert target.begin("s", [INTEGER]) == 1
    target.close()
