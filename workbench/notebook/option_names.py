"""What the options of commands are called elsewhere, and what is given in another way than by an option."""

from __future__ import annotations

SYNONYMS = {
    "delimiter": "sep", "separator": "sep", "delim": "sep", "dtype": "type", "types": "type", "columns": "type",
    "format": "type", "timestamp": "time", "event-time": "time", "index": "key", "id": "key", "primary-key": "key",
    "overwrite": "replace", "every": "batch", "chunk": "batch", "interval": "batch", "watermark": "lateness",
    "delay": "lateness", "order-by": "sort", "orderby": "sort", "ascending": "desc", "descending": "desc",
    "dialekt": "dialect", "lang": "dialect", "language": "dialect", "force": "replace", "mode": "changes",
    "charset": "encoding", "rows": "batch", "size": "batch", "header": "no-header", "null": "nan", "na": "nan",
    "head": "limit", "top": "limit", "n": "limit", "plot": "chart", "kind": "chart", "from": "since", "after": "since",
    "delta": "changes", "as": "name", "remove": "stop", "off": "stop", "end": "stop", "verbose": "all",
    "width": "grid", "rate": "speed",
}  # fmt: skip
"""What options are called elsewhere."""
HOW_GIVEN = {
    "when": "a condition stands behind the name, as in %argus notify NAME kg > 3",
    "name": "the name stands alone, as in %%argus NAME",
    "columns": "a query chooses its columns: %%argus NAME, and SELECT a, b FROM … in the lines below",
    "typecolumns": '--type "kg=double" says the type of a column; all are read, and a query chooses some',
    **dict.fromkeys(("format", "csv"), 'session.query("NAME").save("rows.csv") writes an answer as its ending says'),
    "typeformat": '--type "day=date d.M.yyyy" says how a column is written',
    **dict.fromkeys(("where", "filter", "select", "query"),
                    "conditions stand in queries; CREATE VIEW v AS SELECT … WHERE … names rows that several read"),
    **dict.fromkeys(("sheet", "sheet-name"), "pandas.read_excel(…, sheet_name=…) makes a DataFrame, added by its name"),
    **dict.fromkeys(("time", "timetimestamp", "timeevent-time"),
                    "event times are of streams: %argus stream NAME SOURCE --time COLUMN"),
}  # fmt: skip
"""Of such an option, with what it is called here before it, how it is given."""
