"""Run what shows that answers are right, and write the counts into docs/trust.md.

    .venv/bin/python scripts/trust_page.py [--sequences 200] [--kills 10] [--plans 2000] [--only NAME …]

Each part is a run of tests. The page keeps, for each, how many there were, how many answers were compared, the seed of
what is random, and how many failed. What is known to be wrong or was not proved is written by hand below the table.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "trust.md"
BEGIN, END = "<!-- counts -->", "<!-- end of counts -->"


@dataclass(frozen=True)
class Part:
    """A run of tests.

    Attributes:
        name: what it is called on the page.
        shows: what its tests show.
        tests: arguments of pytest.
        variables: of its environment.
    """

    name: str
    shows: str
    tests: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Counts:
    """What a run gave; ``answers`` and ``rows`` are those that were compared."""

    tests: int
    failed: int
    left_out: int
    answers: int
    rows: int
    seconds: float


def parts(sequences: int, kills: int, plans: int, seed: int) -> Iterator[Part]:
    """All parts, in the order of the page."""
    random = {"ARGUS_FUZZ": str(sequences), "ARGUS_SEED": str(seed)}
    oracle = ["tests/oracle", "--ignore=tests/oracle/test_fuzz.py", "--ignore=tests/oracle/test_grammar.py"]
    yield Part("classes of queries", "every class, batch by batch, against DuckDB on the same prefix", oracle)
    yield Part(
        "sequences",
        "what an analyst does, at random: inputs, corrections, late rows, queries, views, functions, batches, going "
        "back, sinks, save and open, planning anew; every answer against DuckDB",
        ["tests/oracle/test_fuzz.py"],
        random,
    )
    yield Part(
        "grammar",
        "random queries of all functions and operators: loaded at once, row by row, in another order, taken back and "
        "inserted again; split in three by a condition; rewritten; in three dialects",
        ["tests/oracle/test_grammar.py"],
        random,
    )
    yield Part(
        "networks",
        "random networks, every node against its very original form, in exact arithmetic and without Spark",
        ["tests/sharing"],
        {"ARGUS_PLANS": str(plans)},
    )
    yield Part(
        "faults",
        "processes killed and stopped, disks that are full, damaged files, two openers",
        ["tests/session/directory", "tests/session/failures"],
        {"ARGUS_KILLS": str(kills)},
    )
    yield Part("rows that come", "odd input of every kind of source, brokers, servers, databases", ["tests/streams"])
    yield Part("functions", "values on extreme rows, texts that are refused", ["tests/sql"])


def run(part: Part) -> Counts:
    """Run a part."""
    with tempfile.TemporaryDirectory() as folder:
        report, compared = Path(folder) / "report.xml", Path(folder) / "compared"
        environment = os.environ | dict(part.variables) | {"ARGUS_COMPARED": str(compared)}
        started = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", f"--junitxml={report}"]
        subprocess.run([*command, *part.tests], cwd=ROOT, env=environment, check=False)
        suite = ElementTree.parse(report).getroot()[0]
        lines = compared.read_text().splitlines() if compared.exists() else []
        answers, rows = (sum(int(line.split()[i]) for line in lines) for i in (0, 1))
        tests, failed = int(suite.attrib["tests"]), int(suite.attrib["failures"]) + int(suite.attrib["errors"])
        return Counts(tests, failed, int(suite.attrib["skipped"]), answers, rows, time.monotonic() - started)


def row(part: Part, counts: Counts) -> str:
    """A line of the table."""
    given = ", ".join(f"`{name}={value}`" for name, value in part.variables.items())
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    cells = [part.name, part.shows, given, f"{counts.tests - counts.left_out:,}", f"{counts.answers:,}"]
    cells += [f"{counts.rows:,}", f"**{counts.failed}**", f"{counts.seconds:.0f} s"]
    return "| " + " | ".join([*cells, f"{dt.date.today()}, {commit.strip()}"]) + " |"


def write(lines: Mapping[str, str], order: Sequence[str]) -> None:
    """Put lines of parts into the table of the page; those of other parts stay."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    table, after = rest.split(END)
    kept = {line.split(" | ")[0].removeprefix("| "): line for line in table.splitlines()[3:]}
    heads = ["part", "what it shows", "with", "tests", "answers compared", "rows compared", "wrong", "took", "run"]
    shown = [line for name in order if (line := lines.get(name, kept.get(name)))]
    made = ["", "| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *shown, ""]
    PAGE.write_text(before + BEGIN + "\n".join(made) + END + after, encoding="utf-8")


def main() -> None:
    """Run the parts that are asked for, and write the page when all of them were."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sequences", type=int, default=200)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--plans", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=time.time_ns() // 1_000_000 % 1_000_000_000)
    parser.add_argument("--only", nargs="*", help="names of parts; lines of others stay as they are")
    args = parser.parse_args()
    known = tuple(parts(args.sequences, args.kills, args.plans, args.seed))
    for part in known:
        if not args.only or part.name in args.only:
            write({part.name: row(part, run(part))}, [each.name for each in known])


if __name__ == "__main__":
    main()
