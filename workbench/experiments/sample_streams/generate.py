"""Write an example stream to a file.

``python -m workbench.experiments.sample_streams.generate fed --rows 20000 -o fed.parquet``

The name of the file says the format: ``.parquet`` or ``.csv``. A directory that is missing is an error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from workbench.errors import StreamError, WorkbenchError
from workbench.experiments.sample_streams.fed import fed
from workbench.experiments.sample_streams.med import med
from workbench.experiments.sample_streams.prices import prices
from workbench.experiments.sample_streams.visits import visits

GENERATORS: Mapping[str, Callable[..., pa.Table]] = {"fed": fed, "med": med, "prices": prices, "visits": visits}
"""Every generator takes ``rows`` and ``seed`` and has a default for both."""


def _write(table: pa.Table, path: Path) -> None:
    """Write ``table`` as Parquet or CSV, as the suffix of ``path`` says; in CSV a NULL is an empty field.

    Raises:
        StreamError: another suffix, or the file cannot be written.
    """
    try:
        match path.suffix.lower():
            case ".parquet":
                parquet.write_table(table, path, compression="zstd", compression_level=9)
            case ".csv":
                csv.write_csv(table, path)
            case suffix:
                raise StreamError(f"unknown format {suffix or 'of ' + str(path)!r}", hint="name it .parquet or .csv")
    except OSError as error:
        raise StreamError(f"cannot write {path}: {error.strerror or error}", hint="try another folder") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 on success, 2 after printing an error."""
    parser = argparse.ArgumentParser(
        prog="python -m workbench.experiments.sample_streams.generate", description="Write an example stream to a file."
    )
    parser.add_argument("stream", choices=sorted(GENERATORS))
    parser.add_argument("--rows", type=int, help="how many rows; by default as many as in the thesis")
    parser.add_argument("--seed", type=int, help="of the random numbers; the same seed gives the same file")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="PATH", help="a .parquet or .csv file")
    chosen = parser.parse_args(arguments)
    options = {name: value for name in ("rows", "seed") if (value := getattr(chosen, name)) is not None}
    try:
        table = GENERATORS[chosen.stream](**options)
        _write(table, chosen.output)
    except WorkbenchError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{chosen.output}: {table.num_rows} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
