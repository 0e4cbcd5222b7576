"""Plays many sequences: ``PYTHONPATH=..:. python -m oracle.fuzz --seeds 0-1999 --out folder`` in ``tests``.

It writes a line for each seed and a script for each failure into the folder, and goes on from there when it is run
again.
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import time
import traceback
from pathlib import Path

from oracle.fuzz.playing import Outcome, Player
from oracle.fuzz.script import rows_of, script
from oracle.fuzz.sequences import Switches, random_sequence
from oracle.fuzz.shrinking import shrink
from oracle.fuzz.steps import Sequence_
from pyspark.sql import SparkSession

SECONDS = 900
"""A sequence that takes longer hangs."""


def main() -> None:
    """Play the seeds that were not played yet."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", default="0-99", help="first and last")
    parser.add_argument("--out", type=Path, default=Path("fuzz"))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--workers", type=int, default=1, help="Spark's tasks at a time")
    parser.add_argument("--shrink", type=int, default=0, help="tries to make each failing sequence smaller")
    for switch in ("hostile", "mixed", "functions", "again", "windows", "dataframes", "corrections", "sinks"):
        parser.add_argument(f"--no-{switch}", action="store_true")
    args = parser.parse_args()
    off = {
        switch: False
        for switch in ("mixed", "functions", "again", "windows", "dataframes", "corrections", "sinks")
        if getattr(args, f"no_{switch}")
    }
    switches = Switches(hostile=0.0 if args.no_hostile else 0.25, **off)
    from workbench.engine.spark.local_session import local_spark

    logging.getLogger("py4j").setLevel(logging.ERROR)
    args.out.mkdir(parents=True, exist_ok=True)
    log = args.out / "played.jsonl"
    played = {json.loads(line)["seed"] for line in log.read_text().splitlines()} if log.exists() else set()
    first, _, last = args.seeds.partition("-")
    begun, spark = time.monotonic(), local_spark("argus-fuzz", cores=args.workers)
    for seed in range(int(first), int(last or first) + 1):
        if seed in played:
            continue
        if time.monotonic() - begun > args.seconds:
            break
        started = time.monotonic()
        outcome = played_in_time(spark, random_sequence(seed, switches), switches.dataframes)
        seconds = time.monotonic() - started
        line = {"seed": seed, "kind": outcome.kind, "seconds": round(seconds, 2), "compared": outcome.compared,
                "steps": len(outcome.sequence.steps), "refused": dict(outcome.refused)}  # fmt: skip
        with log.open("a") as file:
            file.write(json.dumps(line) + "\n")
        if outcome.failure is not None:
            print(f"seed {seed}: {outcome.kind}", flush=True)
            if args.shrink:
                outcome = shrink(outcome, lambda s: played_in_time(spark, s, switches.dataframes), args.shrink)
            (args.out / f"{seed}.py").write_text(report(outcome))


def played_in_time(spark: SparkSession, sequence: Sequence_, dataframes: bool) -> Outcome:
    """The outcome of a sequence; one that hangs is interrupted, and has failed."""

    def hangs(signum: int, frame: object) -> None:
        raise TimeoutError(f"not done after {SECONDS} seconds")

    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(SECONDS)
    try:
        return Player(spark, sequence, dataframes).play()
    finally:
        signal.alarm(0)


def report(outcome: Outcome) -> str:
    """A failure as a script, with what was expected in comments."""
    assert outcome.failure is not None
    said = "".join(traceback.format_exception(outcome.failure))
    head = (
        f"seed {outcome.sequence.seed}, step {outcome.step}, {rows_of(outcome.sequence)} rows: {outcome.kind}\n{said}"
    )
    return "\n".join(f"# {line}" for line in head.splitlines()) + f"\n\n{script(outcome.sequence, outcome.step)}\n"


if __name__ == "__main__":
    main()
