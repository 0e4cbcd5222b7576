"""What targets are made of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import servers
from servers import Broker
from sink_targets import Webhook


@pytest.fixture(scope="session")
def broker() -> Broker:
    return Broker()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with servers.postgres() as address:
        yield address


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with servers.object_store(tmp_path_factory.mktemp("objects")) as address:
        yield address


@pytest.fixture
def hook() -> Iterator[Webhook]:
    served = Webhook()
    yield served
    served.close()
