"""The streams and tables of a session: how they are added, changed and removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from shutil import rmtree

from workbench.engine.reports import BatchReport
from workbench.errors import StreamError, with_article
from workbench.session import transitions
from workbench.session.adding_column import NewColumn, add_column
from workbench.session.changes import Change, StateStore
from workbench.session.constraints import check_droppable, constrained
from workbench.session.directory.directory import SPOOLED
from workbench.session.directory.gate import Gate
from workbench.session.failures.batches import Batches
from workbench.session.live.sources import LiveSources, begin_live, fit_reader, keep_source, stored_schema
from workbench.session.readers_anew import with_readers_anew
from workbench.session.state import State
from workbench.session.transitions import Runtime
from workbench.session.widening import WiderColumn, widen_column
from workbench.sql.algebra.column_names import stored_name
from workbench.streams.corrections.declared import Changes, Corrections, corrections_of
from workbench.streams.corrections.update import update
from workbench.streams.event_time import read_as_times
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.files.json_schema import said_of_undeclared
from workbench.streams.ingest import Arriving, declared_types, ingest
from workbench.streams.live.reader import Reader
from workbench.streams.live.sources import named_source, open_live
from workbench.streams.nan_values import KEEP
from workbench.streams.retried_rows import Retried, keep_types, retry, waiting_for_column
from workbench.streams.source import OpenedSource
from workbench.streams.stream import Stream, replayed, static_table


class SessionStreams:
    """The methods of a session that add, change and remove its streams and tables.

    Args:
        store: the session's state.
        runtime: what transitions work with.
        batches: commits the change of a table.
        live: reads live sources.
        gate: signs what a stream's log stores of its source.
    """

    def __init__(self, store: StateStore, runtime: Runtime, batches: Batches, live: LiveSources, gate: Gate) -> None:
        self._store, self._runtime, self._batches, self._live, self._gate = store, runtime, batches, live, gate
        self._arriving: Arriving | None = None

    @property
    def arriving(self) -> Arriving | None:
        """How far the source is copied of the stream or table that is being added; ``None`` when there is none."""
        return self._arriving

    def add_stream(
        self,
        name: str,
        source: object,
        history: int | None = None,
        batch: int | str | timedelta | None = None,
        time: str | None = None,
        columns: Mapping[str, str] | None = None,
        lateness: str | timedelta | int | None = None,
        key: Sequence[str] | None = None,
        changes: str | None = None,
        weight: str | None = None,
        shed: str | None = None,
        sep: str | None = None,
        decimal: str | None = None,
        header: bool = True,
        encoding: str | None = None,
        registry: str | None = None,
        since: int | None = None,
        transaction: str | None = None,
        replace: bool = False,
        references: Mapping[str, str] | Sequence[str] | str | None = None,
        ordered: Mapping[str, object] | Sequence[str] | str | None = None,
        nan: str = KEEP,
    ) -> Stream:
        """Add a stream that is replayed in row order.

        Args:
            name: what queries call it.
            source: path or URL of a Parquet, CSV or JSON lines file, a list of dicts, a pandas, Arrow or Spark
                DataFrame. Or a live source, of which each batch brings what is there by then: a topic of Kafka
                (``"kafka://host:port/topic"``), a table that PostgreSQL publishes
                (``"postgresql://host/database?table=orders&publication=shop"``), a socket of JSON lines
                (``"socket://host:port"``), rows that programs send by HTTP (``"listen://127.0.0.1:8080/trades"``), a
                document that is polled (``"poll+https://host/trades.json?every=60s"``), a remote table that is asked by
                key (``"lookup+https://host/rates/{currency}?of=trades.currency"``, or a ``RemoteLookup``), a pattern of
                paths (``"in/*.csv"``), the change data feed of a Delta table, a ``PolledQuery``, an iterator or
                generator of dicts or tables, or a streaming DataFrame of Spark.
            history: the first rows, already there as batch 0; none when ``None``, but of a table of PostgreSQL all that
                it has.
            batch: rows that arrive with each batch; or the event time that a batch covers, ``"1h"`` or a ``timedelta``:
                all streams with one replay in step, each with its rows before the end of that hour. Not for live ones.
            time: the column with the event time.
            columns: SQL types of columns that should not be inferred. A live source may have nothing yet when they are
                those of all columns.
            lateness: how far the event time of a row may be behind the latest before it: ``"2 days"``, a ``timedelta``,
                or a number where event times are numbers. Later rows are quarantined and counted when they
                arrive. ``None``: there is no limit.
            key: the columns that say which row a change means; none: the whole row says it.
            changes: how the source writes changes of earlier rows. ``"upsert"``: a row replaces the one of its key, and
                takes it back where it has nothing but the key; ``"cdf"``: a change data feed with the column
                ``_change_type``; ``"debezium"``: envelopes with ``op``, ``before`` and ``after``. ``None``: rows are
                only added, and the stream is append-only.
            weight: instead of these, the column that says how often a row comes, or goes where it is negative. An
                update is two rows in the log, the old one with weight -1 and the new one, which arrive together.
            shed: what live running leaves out when rows come faster than they can be answered for long: ``"oldest"``,
                all but a ``"sample"`` of rows, or all but those of some keys: ``"sample by account"``. ``catch_up``
                takes them later. ``None``: nothing.
            sep: what separates the values of a CSV file, where it is not to be found out.
            decimal: the sign before the fraction of a CSV file's numbers: ``","`` reads ``1.234,5``.
            header: whether a line of a CSV file names its columns; else they are ``column_1`` and so on.
            encoding: of a CSV file, as Python calls it.
            registry: the URL of the schema registry that has the schemas of a topic's messages (Avro, Protobuf).
            since: the first version of a Delta table whose changes are read, with ``changes="cdf"`` and the table's
                folder. ``None``: the stream begins with the rows that the table has. Its later changes follow.
            transaction: the column that says which rows belong together: those that follow each other with one value
                arrive in one batch, also in all streams whose column is called alike. Of envelopes of Debezium
                ``"transaction"`` is the transaction that they tell. A table of PostgreSQL says it itself.
            replace: whether it takes the place of a stream of that name, if there is one. Batches that were run have
                brought none of its rows. Queries that read it are computed anew, and keep their names and sinks.
            references: a foreign key for columns: ``{"tailnum": "planes.tailnum"}``, of several columns ``{"a, b":
                "other(x, y)"}``. After each batch there is exactly one such row of the other stream or table for each
                row that has no NULL there; with ``"planes.tailnum within 100 rows"`` it may come later, before 100
                further rows have come here. Plans rely on it, and it is verified as rows arrive: what breaks it is told
                by a ``ConstraintWarning`` and in ``constraints``, and plans do without it from then on.
            ordered: columns that arrive in order, each with how much a value may be less than one that came earlier:
                ``{"ts": "1 hour"}``; ``"ts"`` where none may be less. Relied on and verified in the same way.
            nan: ``"null"`` reads NaN of the source as NULL in columns of numbers, and says in how many rows;
                ``"keep"``: it is a number, and makes sums NaN. In pandas it is NULL always.

        Raises:
            StreamError: the source cannot be read, a column's type is not supported, the lateness does not go with the
                event times, how rows change is not clear, or the name is taken; a query cannot read the new stream.
                Nothing has changed then.
        """
        source = named_source(source, changes, since, registry)
        options = CsvOptions(sep, decimal, header, encoding)
        of_rows = columns if changes != Changes.DEBEZIUM else None
        with self._store.exclusively():
            before = self._replaced(name, replace)
            name = name if before is None else before.name
            with ExitStack() as failing, self._adding_log(name, before) as (change, folder):
                live = open_live(source, None, self._spooled(name, fresh=True), options, of_rows)
                if live is not None and before is None:
                    self._live.attach(name, live)
                    failing.push(lambda kind, *_: None if kind is None else self._live.detach(name))
                corrections = _corrections(live, key, changes, weight)
                copied = source
                if live is not None:
                    notes = said_of_undeclared(live.notes, {*map(stored_name, columns or {})})
                    copied = OpenedSource(live.schema, iter(()), live.inferred, notes)
                    copied, columns = read_as_times(time, columns or {}, copied)
                    asked = {} if corrections is None else corrections.asked
                    live.declare({**declared_types(columns), **asked})
                    copied = OpenedSource(live.schema, iter(()), live.inferred, copied.notes)
                log = ingest(
                    name,
                    copied,
                    folder,
                    columns=columns,
                    time=time,
                    lateness=lateness,
                    corrections=corrections,
                    options=options if live is None else None,
                    progress=self._arrives,
                    transactions=transaction or (live.transactions if live is not None else None),
                    nan=nan,
                )
                if live is not None:
                    try:
                        log = begin_live(log, live, source, history or 0, self._durable, self._gate)
                    except BaseException:
                        live.forget({})
                        raise
                    history = log.rows if live.begins_whole and history is None else history
                stream = constrained(change.state, replayed(log, history, batch, time, shed), references, ordered)
                change.state = self._added(change.state, stream, before)
            if live is not None and before is not None:
                self._live.attach(name, live)
        return change.state.streams[stream.name]

    def attach(self, name: str, source: object) -> None:
        """Give a stream another live source, such as an iterator after the session was opened again.

        A source that begins from its beginning is read past the rows that the stream has already.

        Raises:
            StreamError: there is no such stream, it is not live, or the source is not.
        """
        with self._store.exclusively():
            stream = self._store.state.stream(name)
            corrections = stream.log.corrections
            source = named_source(source, None if corrections is None else corrections.changes, None, None)
            reader = open_live(source, stored_schema(stream.log.tail), self._spooled(stream.name))
            if reader is None or stream.table or not stream.log.is_live:
                what = with_article(type(source).__name__) if reader is None else stream.name
                raise StreamError(
                    f"{what} is not live",
                    hint="live are topics, sockets, patterns of paths, polled queries, iterators and spark.readStream",
                )
            fit_reader(reader, stream.log)
            if self._store.directory.read_only is None:
                keep_source(stream.log, reader, source, self._gate)
            self._live.attach(stream.name, reader)

    def add_table(
        self,
        name: str,
        source: object,
        columns: Mapping[str, str] | None = None,
        key: Sequence[str] | None = None,
        sep: str | None = None,
        decimal: str | None = None,
        header: bool = True,
        encoding: str | None = None,
        replace: bool = False,
        references: Mapping[str, str] | Sequence[str] | str | None = None,
        nan: str = KEEP,
    ) -> Stream:
        """Add a table: all of its rows are there from the start, until ``update_table``.

        Arguments and errors as ``add_stream``. With a key, a row replaces an earlier one of its key, and rows can be
        replaced and deleted later; without one they can only be added.
        """
        corrections = corrections_of(None, key, None, table=True)
        options = CsvOptions(sep, decimal, header, encoding)
        with self._store.exclusively(), self._adding_log(name, before := self._replaced(name, replace)) as adding:
            change, folder = adding
            name = name if before is None else before.name
            log = ingest(
                name, source, folder, columns=columns, corrections=corrections, growing=True, options=options,
                progress=self._arrives, nan=nan,
            )  # fmt: skip
            table = constrained(change.state, static_table(log), references, None)
            change.state = self._added(change.state, table, before)
        return table

    def update_table(self, name: str, rows: object = None, delete: object = None) -> BatchReport:
        """Change rows of a table; the change is a batch, in which no stream brings a row.

        Args:
            name: of the table.
            rows: to add; with a key, each replaces the row of its key. Any source that ``add_table`` takes.
            delete: the keys of rows to delete, with the columns of the key. They go before ``rows`` come.

        Raises:
            StreamError: there is no such table, a row does not fit, or one to delete is not there; nothing has changed.
            EngineError: the batch could not be evaluated. The change is in the log, and arrives with the next batch.

        Example:
            >>> session.update_table("zips", [{"zip": "02139", "state": "MA"}])  # doctest: +SKIP
        """
        with self._store.exclusively():
            table = self._store.state.stream(name)
            if not table.table:
                hint = 'rows come to it from its source, corrected ones too where it has a key and changes="upsert"'
                raise StreamError(f"{table.name} is a stream", hint=hint)
            self._store.directory.check_writable()
            log = table.log.growing(self._durable)
            update(log, rows, delete)
            grown = replace(table, log=log)
            sizes = {grown.name: grown.waiting}
            return self._batches.commit(lambda state: transitions.run(self._runtime, state.with_stream(grown), sizes))

    def add_column(self, stream: str, column: str, type: str | None = None) -> NewColumn:
        """Make a member of a stream's records a column, which the source had not when it was added.

        The rows so far have the value that was kept with them, or NULL. Registered queries go on as they are, and
        ``SELECT *`` of them stays what it was; those that are registered from now on have the column over all rows.

        Args:
            stream: its name.
            column: the name of the member, or of a column of a table; ``"geo.zip"`` is the field of a struct.
            type: its SQL type, also of a time in a form, as ``columns`` of ``add_stream`` have it. A value that is none
                is NULL in rows that are there, and its row is quarantined from now on. ``None``: what its first values
                suggest.

        Returns:
            What it has; printed, it says what became of it.

        Raises:
            StreamError: there is no such stream, it has the column, or there is no such type.

        Example:
            >>> print(session.add_column("trades", "note", "string"))  # doctest: +SKIP
            trades has the column note string: 12 rows have a value, the others NULL; queries go on as they are
        """
        with self._store.changing() as change:
            change.state, added = add_column(self._runtime, change.state, stream, column, type)
        return added

    def widen_column(self, stream: str, column: str, type: str | None = None) -> WiderColumn:
        """Make the type of a column another one, which has all of its values, and take in the rows that wait for it.

        Rows that were quarantined for their value of the column come in a batch of their own, after those that wait.
        Queries that read the stream are computed anew, so their answers are those over all rows with the wider type;
        ``SELECT *`` has it, too. What may take rows back begins its changes anew. Where the type is the same, only
        rows are taken in.

        Args:
            stream: its name.
            column: of the stream's source.
            type: its SQL type, also of a time in a form. ``None``: one that has the values that are there, and those
                that wait: whole numbers and fractions are doubles, and decimals where a double loses digits.

        Returns:
            What has changed; printed, it says what became of the rows.

        Raises:
            StreamError: there is no such column or type, a value that is there is none of the type, or a query that
                reads the stream cannot be bound to it; nothing has changed.
            EngineError: queries could not be computed; nothing has changed.

        Example:
            >>> print(session.widen_column("trades", "amount", "decimal(12,2)"))  # doctest: +SKIP
            trades: amount is decimal(12,2), and was integer; 3 quarantined rows came in a batch
        """
        with self._store.exclusively():
            before = self._store.state.stream(stream)
            keep_types(before.log)
            with self._store.changing(f"{before.name}.{column} was made wider") as change:
                change.state, answer = widen_column(self._runtime, change.state, stream, column, type)
            self._live.refit(self._store.state.stream(stream).log)
            return self._retried(answer, self._store.state.stream(stream))

    def _retried(self, answer: WiderColumn, stream: Stream) -> WiderColumn:
        """Take in what waits for a column."""
        waiting = waiting_for_column(stream.log, stored_name(answer.column))
        if not waiting or stream.log.transactions is not None:
            return answer.retried(Retried(0, tuple(dict.fromkeys(one.reason for one in waiting))), waits=False)
        log, behind = stream.log.growing(self._durable), stream.waiting
        retried = retry(log, waiting, stream.table)
        grown = replace(stream, log=log)
        if behind or not grown.waiting:
            with self._store.changing() as change:
                change.state = change.state.with_stream(grown)
        else:
            sizes = {grown.name: grown.waiting}
            self._batches.commit(lambda state: transitions.run(self._runtime, state.with_stream(grown), sizes))
        return answer.retried(retried, waits=bool(behind))

    def drop_stream(self, name: str) -> None:
        """Forget a stream or table, and its rows. Queries and views that read it must be dropped first.

        Raises:
            StreamError: there is no such stream, or a query or view reads it.
        """
        with self._store.exclusively():
            stream = self._store.state.stream(name)
            with self._store.changing() as change:
                change.state = transitions.drop_stream(self._runtime, change.state, name)
            self._forget(stream)
            rmtree(self._spooled(stream.name), ignore_errors=True)

    def _forget(self, stream: Stream) -> None:
        """Remove what there is of a stream that is no part of the session any more."""
        self._live.forget(stream.log)
        self._live.detach(stream.name)
        if stream.log.tail is not None:
            stream.log.tail.close()
        transitions.remove_log(stream.log.folder)

    def set_batch(self, stream: str, batch: int | str | timedelta) -> Stream:
        """Set the rows of a stream, or the event time, that arrive with each batch from now on.

        Raises:
            StreamError: there is no such stream, or its batches cannot be of that size.
        """
        with self._store.changing() as change:
            changed = change.state.stream(stream).in_batches_of(batch)
            change.state = change.state.with_stream(changed)
        return changed

    def _spooled(self, name: str, fresh: bool = False) -> Path:
        """The folder for what Spark writes of a stream; a fresh one has nothing of an earlier stream of that name."""
        folder = self._store.directory.path / SPOOLED / stored_name(name)
        if fresh:
            rmtree(folder, ignore_errors=True)
        return folder

    def _arrives(self, arriving: Arriving) -> None:
        self._arriving = arriving

    @property
    def _durable(self) -> bool:
        return self._store.directory.durable

    def _replaced(self, name: str, wanted: bool) -> Stream | None:
        """The stream or table that a new one is to replace; ``None`` where there is none of that name.

        Raises:
            StreamError: Spark writes its rows, into a folder that the new one would have.
        """
        known = {other.lower(): stream for other, stream in self._store.state.streams.items()}
        found = known.get(name.lower()) if wanted else None
        if found is not None and self._spooled(found.name).exists():
            raise StreamError(f"{found.name} is written by Spark, and is not replaced", hint="drop it, and add another")
        return found

    @contextmanager
    def _adding_log(self, name: str, replaced: Stream | None) -> Iterator[tuple[Change, Path]]:
        """A change that adds a stream, or replaces another one, and the folder for its log."""
        state = self._store.state
        others = state if replaced is None else state.without_stream(replaced.name)
        try:
            with (
                transitions.new_log(others, self._store.directory.streams, name) as path,
                self._store.changing() as change,
            ):
                yield change, path
        finally:
            self._arriving = None
        if replaced is not None:
            self._forget(replaced)

    def _added(self, state: State, stream: Stream, replaced: Stream | None) -> State:
        """The state with a stream, in place of another one."""
        if replaced is None:
            return transitions.add_stream(self._runtime, state, stream)

        check_droppable(state, replaced)

        def exchanged(bare: State) -> State:
            self._runtime.engine.drop_stream(replaced.name)
            return transitions.add_stream(self._runtime, bare.without_stream(replaced.name), stream)

        return with_readers_anew(self._runtime, state, replaced, exchanged)


def _corrections(
    live: Reader | None, key: Sequence[str] | str | None, changes: str | None, weight: str | None
) -> Corrections | None:
    """How rows are corrected, as the source or its declaration says."""
    said = None if live is None else live.corrections([key] if isinstance(key, str) else key or ())
    if said is None:
        return corrections_of(changes, key, weight)
    if changes not in (None, said.changes) or weight is not None:
        raise StreamError("the source says itself how its rows change", hint="leave changes and weight out")
    return said
