"""``python -m workbench.experiments NAME``: run an experiment, print its figures, and write them as JSON."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from workbench.experiments import full_size, network_size, speed
from workbench.experiments.measure import machine
from workbench.experiments.query_sets import QUERY_SETS


def main(arguments: list[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m workbench.experiments")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("build/experiments"), help="folder for the JSON files"
    )
    experiments = parser.add_subparsers(dest="experiment", required=True)
    sizes = experiments.add_parser("full-size", help="Appendix B at the thesis's sizes: time per batch and memory")
    sizes.add_argument("--stream", choices=sorted(full_size.SETTINGS), default="fed")
    sizes.add_argument("--batches", type=int, default=5)
    networks = experiments.add_parser("network-size", help="weighted size of the network by configuration (T10.4.4)")
    networks.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(QUERY_SETS)}; all if none")
    networks.add_argument("--configuration", action="append", choices=list(network_size.CONFIGURATIONS))
    registering = experiments.add_parser("register", help="time to register 1,000 queries into one network, no data")
    registering.add_argument("--set", choices=QUERY_SETS, default="fed-uniform")
    speeds = experiments.add_parser("speed", help="time per batch of a query set, beside DuckDB, Spark and unshared")
    speeds.add_argument("sets", nargs="+", choices=QUERY_SETS, metavar="SET", help=f"of {', '.join(QUERY_SETS)}")
    speeds.add_argument("--history", type=int, help="rows of history; the thesis's number unless given")
    speeds.add_argument("--queries", type=int, help="the first so many queries of the set; all unless given")
    speeds.add_argument("--batches", type=int, default=10)
    speeds.add_argument("--sample", type=int, default=16, help="queries the slow competitors run, 0 for none")
    chosen = parser.parse_args(arguments)
    match chosen.experiment:
        case "full-size":
            name, figures = f"full-size-{chosen.stream}-{chosen.batches}", _full_size(chosen)
        case "network-size":
            name, figures = "network-size", _network_size(chosen)
        case "speed":
            name, figures = f"speed-{'-'.join(chosen.sets)}", _speed(chosen)
        case _:
            name, figures = f"register-{chosen.set}", _register(chosen)
    chosen.output.mkdir(parents=True, exist_ok=True)
    file = chosen.output / f"{name}.json"
    file.write_text(json.dumps(figures, indent=2))
    print(f"written to {file}")


def _full_size(chosen: argparse.Namespace) -> dict[str, object]:
    figures = full_size.measure(chosen.stream, chosen.batches)
    for name, value in figures.items():
        print(f"{name:18} {value}")
    return figures


def _network_size(chosen: argparse.Namespace) -> dict[str, object]:
    wanted = chosen.configuration or list(network_size.CONFIGURATIONS)
    configurations = {name: network_size.CONFIGURATIONS[name] for name in wanted}
    figures: dict[str, object] = {"machine": machine()}
    for name in chosen.sets or QUERY_SETS:
        grown = network_size.measure(name, configurations)
        print(f"\n{name}\n{network_size.table(name, grown)}")
        for configuration, growth in grown.items():
            print(f"{configuration:14} {growth.rules}")
        figures[name] = {configuration: asdict(growth) for configuration, growth in grown.items()}
    return figures


def _speed(chosen: argparse.Namespace) -> dict[str, object]:
    figures: dict[str, object] = {}
    for name in chosen.sets:
        measured = speed.measure(
            name, history=chosen.history, queries=chosen.queries, batches=chosen.batches, sample=chosen.sample
        )
        print(measured)
        figures[name] = speed.as_json(measured)
    return figures


def _register(chosen: argparse.Namespace) -> dict[str, object]:
    growth = network_size.growth(chosen.set, network_size.CONFIGURATIONS["Restructuring"], known=False)
    for (number, size), seconds in zip(growth.sizes.items(), growth.seconds, strict=True):
        print(f"{number:>5} queries  {seconds:6.2f} s for the last hundred  weighted size {size:,}")
    print(
        f"{sum(growth.seconds):.1f} s in all; last hundred / first hundred {growth.seconds[-1] / growth.seconds[0]:.2f}"
    )
    return {"machine": machine(), **asdict(growth)}


if __name__ == "__main__":
    main()
