"""The kinds of addresses, each with its closed list of options.

An option that is on no list is refused, since it may load a library (``plugin.library.paths``, ``ssl.engine.location``)
or run a program (``sasl.kerberos.kinit.cmd``). A value is kept with the session and shown only where its option is on
the list of harmless ones. Sources: librdkafka's ``CONFIGURATION.md``; PostgreSQL, "Parameter Key Words".
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AddressKind:
    """A kind of address.

    Attributes:
        schemes: how it begins.
        harmless: options whose values are kept and shown.
        local: options that name something of this machine, such as a file with a key.
        secret: options whose values only the environment may have.
        free: whether it may have other options, which are the server's own, and so secret.
        user: whether it may name a user and a password.
        user_is_secret: whether a user alone may be the secret, as where a token stands in its place.
        implied: what is read from this machine whatever the address says.
    """

    schemes: tuple[str, ...]
    harmless: frozenset[str] = frozenset()
    local: frozenset[str] = frozenset()
    secret: frozenset[str] = frozenset()
    free: bool = False
    user: bool = True
    user_is_secret: bool = False
    implied: str = ""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CLIENT = _words("""
    client.id client.rack client.dns.lookup message.max.bytes message.copy.max.bytes receive.message.max.bytes
    max.in.flight.requests.per.connection max.in.flight topic.metadata.refresh.interval.ms metadata.max.age.ms
    topic.metadata.refresh.fast.interval.ms topic.metadata.refresh.sparse topic.metadata.propagation.max.ms
    metadata.recovery.strategy metadata.recovery.rebootstrap.trigger.ms topic.blacklist allow.auto.create.topics
    socket.timeout.ms socket.blocking.max.ms socket.send.buffer.bytes socket.receive.buffer.bytes
    socket.keepalive.enable socket.nagle.disable socket.max.fails socket.connection.setup.timeout.ms broker.address.ttl
    broker.address.family broker.version.fallback connections.max.idle.ms reconnect.backoff.ms reconnect.backoff.max.ms
    log.thread.name log.connection.close api.version.request api.version.request.timeout.ms api.version.fallback.ms
    enable.metrics.push security.protocol ssl.cipher.suites ssl.curves.list ssl.sigalgs.list
    ssl.endpoint.identification.algorithm enable.ssl.certificate.verification sasl.mechanism sasl.mechanisms
    sasl.username sasl.kerberos.service.name sasl.kerberos.min.time.before.relogin sasl.oauthbearer.method
    sasl.oauthbearer.client.id sasl.oauthbearer.scope sasl.oauthbearer.grant.type
    sasl.oauthbearer.token.endpoint.url sasl.oauthbearer.assertion.algorithm
    enable.sasl.oauthbearer.unsecure.jwt group.id session.timeout.ms heartbeat.interval.ms max.poll.interval.ms
    queued.min.messages queued.max.messages.kbytes fetch.wait.max.ms fetch.queue.backoff.ms fetch.message.max.bytes
    max.partition.fetch.bytes fetch.max.bytes fetch.min.bytes fetch.error.backoff.ms isolation.level check.crcs
    transaction.timeout.ms queue.buffering.max.messages queue.buffering.max.kbytes queue.buffering.max.ms
    queue.buffering.backpressure.threshold linger.ms message.send.max.retries retry.backoff.ms retry.backoff.max.ms
    compression.codec compression.type compression.level batch.num.messages batch.size delivery.report.only.error
    sticky.partitioning.linger.ms request.timeout.ms request.required.acks message.timeout.ms delivery.timeout.ms
    enable.idempotence enable.gapless.guarantee auto.offset.reset queuing.strategy
""")

KAFKA = AddressKind(
    ("kafka",),
    harmless=_CLIENT
    | _words("""
        format framing columns key headers partition offset timestamp gone registry registry_user
    """),
    local=_words("""
        schema ssl.ca.location ssl.certificate.location ssl.key.location ssl.crl.location ssl.keystore.location
        https.ca.location sasl.kerberos.keytab sasl.kerberos.principal sasl.oauthbearer.assertion.private.key.file
    """),
    secret=_words("""
        registry_password
        sasl.password ssl.key.password ssl.key.pem ssl.certificate.pem ssl.ca.pem ssl.keystore.password
        https.ca.pem sasl.oauthbearer.config sasl.oauthbearer.extensions sasl.oauthbearer.client.secret
        sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.assertion.private.key.pem
    """),
    user=False,
)
POSTGRES = AddressKind(
    ("postgresql", "postgres"),
    harmless=_words("""
        table publication slot key user host hostaddr port connect_timeout client_encoding application_name
        fallback_application_name
        keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout sslmode sslnegotiation
        sslcompression sslsni ssl_min_protocol_version ssl_max_protocol_version gssencmode krbsrvname channel_binding
        require_auth target_session_attrs load_balance_hosts
    """),
    local=_words("sslcert sslkey sslrootcert sslcrl sslcrldir sslcertmode passfile service servicefile requirepeer"),
    secret=_words("password sslpassword options oauth_client_secret"),
    implied="the password that libpq finds (PGPASSWORD, ~/.pgpass)",
)
HTTP = AddressKind(
    ("http", "https"),
    harmless=_words("api-version batch event format query source stream table topic type v version"),
    free=True,
    user_is_secret=True,
)
POLL = AddressKind(
    ("poll+http", "poll+https"),
    harmless=HTTP.harmless | _words("every rows limit offset page since from to start end order sort symbol"),
    free=True,
    user_is_secret=True,
)
LOOKUP = AddressKind(
    ("lookup+http", "lookup+https"), harmless=HTTP.harmless | _words("of ttl"), free=True, user_is_secret=True
)
LISTEN = AddressKind(("listen",), harmless=_words("rate largest waiting"), secret=_words("token"), user=False)
SOCKET = AddressKind(("socket",), user=False)
OBJECTS = AddressKind(
    ("s3", "s3a", "gs", "az", "abfs", "abfss"), implied="the credentials of this machine for object stores"
)

KINDS = {
    scheme: kind for kind in (KAFKA, POSTGRES, HTTP, POLL, LOOKUP, LISTEN, SOCKET, OBJECTS) for scheme in kind.schemes
}
"""The kinds by their schemes."""
