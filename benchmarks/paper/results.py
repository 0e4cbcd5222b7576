"""Results of runs as small files of JSON, one for each run and size: what was stopped goes on with what is missing.

A result says its options and the version of the package; one of others is not used.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.paper.exhibits import Figures, PaperRun
from benchmarks.paper.registry import RUNS
from workbench.experiments.measure import machine
from workbench.experiments.study import Study

RESULTS = Path(str(resources.files("benchmarks.paper"))) / "results"
DISTRIBUTION = "argus-workbench"
SIZES = ("quick", "whole")
KEPT_DIGITS = 4
"""Of a float that is kept: more are not measured."""


def study(run: PaperRun, size: str) -> Study:
    """The study of a run at a size."""
    return run.study(**(run.quick if size == "quick" else run.whole))


def stored(name: str, size: str, folder: Path = RESULTS) -> Mapping[str, Any] | None:
    """What is kept of a run: ``options, version, machine, figures``; ``None`` where there is nothing."""
    file = _file(name, size, folder)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def is_current(name: str, size: str, folder: Path = RESULTS) -> bool:
    """Whether a result is kept, and is of these options and of this version."""
    result = stored(name, size, folder)
    options = _plain(asdict(study(RUNS[name], size)))
    return result is not None and (result["options"], result["version"]) == (options, version(DISTRIBUTION))


def measure(name: str, size: str, progress: Callable[[str], None], folder: Path = RESULTS) -> Figures:
    """Run, and keep the result, the seconds that it took, and the machine's load over its last quarter of an hour."""
    chosen = study(RUNS[name], size)
    started = time.monotonic()
    _, figures, _ = chosen.run(progress)
    _, _, load = os.getloadavg()
    kept = {
        "options": _plain(asdict(chosen)),
        "version": version(DISTRIBUTION),
        "machine": machine(),
        "seconds": round(time.monotonic() - started),
        "load": round(load, 1),
        "figures": _short(_plain(figures)),
    }
    file = _file(name, size, folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    figures_: Figures = kept["figures"]
    return figures_


def latest(name: str, folder: Path = RESULTS) -> tuple[str, Figures] | None:
    """The figures to show, those of the whole size where they are kept, with their size."""
    kept = latest_kept(name, folder)
    return None if kept is None else (kept[0], kept[1]["figures"])


def latest_kept(name: str, folder: Path = RESULTS) -> tuple[str, Mapping[str, Any]] | None:
    """All that is kept of a run at the size to show."""
    for size in reversed(SIZES):
        result = stored(name, size, folder)
        if result is not None:
            return size, result
    return None


def _file(name: str, size: str, folder: Path) -> Path:
    return folder / size / f"{name.replace(' ', '-')}.json"


def _plain(value: object) -> Any:
    """As JSON gives it back."""
    return json.loads(json.dumps(value, default=str))


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_short(each) for each in value]
    return float(f"{value:.{KEPT_DIGITS}g}") if isinstance(value, float) else value
