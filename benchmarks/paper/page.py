"""The page of the papers' experiments, ``docs/papers.md``, and its drawings, from the results that are kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from benchmarks.paper import results
from benchmarks.paper.exhibits import Exhibit, Judgement, Verdict
from benchmarks.paper.registry import EXHIBITS, RUNS
from workbench.experiments.report import draw, number_text

PAGE, DRAWINGS = Path("docs/papers.md"), Path("docs/img/papers")
SOURCES: Mapping[str, str] = {
    "ARGUS": "Chapter 10 and Appendix C of C. Jin, *Optimizing Multiple Continuous Queries*, 2006.",
    "PSoup": "Section 5 of S. Chandrasekaran, M. Franklin, *Streaming Queries over Streaming Data*, VLDB 2002; the"
    " extended version in VLDB Journal 12(2), 2003, has the same experiments.",
    "CACQ": "S. Madden, M. Shah, J. Hellerstein, V. Raman, *Continuously Adaptive Continuous Queries over Streams*,"
    " SIGMOD 2002.",
    "TelegraphCQ": "S. Chandrasekaran et al., *TelegraphCQ*, CIDR 2003, which has no measurements; its texts are run.",
}
_ABOUT = """# The papers, experiment by experiment

This page repeats every experiment of five papers: the thesis on ARGUS, PSoup in its two versions, CACQ and
TelegraphCQ. For each it has what the paper found, the numbers that the paper printed (columns that begin with *T*, of
the thesis, or *P*, of another paper), what is measured here, and whether the trend is the same. `make paper` measures
all of them and writes the page; `make paper ARGS=--quick` takes smaller sizes, for a quarter of an hour on two cores.
Each result says which of the two sizes it has. [What is left out](comparison.md#left-out-on-purpose) stands in the
comparison.

The machines and databases of 2001 to 2006 are gone, so seconds of a paper are not compared with seconds of today:
counts and ratios are. Times are seconds of a processor, which depend little on what else the machine does. Most
sessions need no Spark at these sizes. Answers to the thesis's queries are compared with DuckDB's before a time is
given.

| verdict | meaning |
|---|---|
| **holds** | the trend is the paper's, and the gain is at least a third of the paper's |
| **holds weaker** | the trend is the paper's, but the gain is smaller, or too small to be told from noise |
| **reversed** | the trend is opposite, by at least a quarter; the reason is given |
| **not reproducible** | it cannot be measured here; the reason is given |
"""


def judged(exhibit: Exhibit, folder: Path = results.RESULTS) -> tuple[str, Judgement] | None:
    """The outcome of an experiment and the size of its runs; ``None`` where one of them is missing."""
    found = [results.latest(name, folder) for name in exhibit.runs]
    figures = [each for each in found if each is not None]
    if len(figures) < len(found):
        return None
    sizes = {size for size, _ in figures}
    return " and ".join(sorted(sizes)), exhibit.judge(*(each for _, each in figures))


def write(page: Path = PAGE, drawings: Path = DRAWINGS, folder: Path = results.RESULTS) -> Counter[Verdict]:
    """Write the page and its drawings.

    Returns:
        How many experiments have each verdict; those that are not measured yet have none.
    """
    outcomes = {exhibit.name: judged(exhibit, folder) for exhibit in EXHIBITS}
    drawings.mkdir(parents=True, exist_ok=True)
    drawn = set[str]()
    for exhibit in EXHIBITS:
        outcome = outcomes[exhibit.name]
        if outcome is not None and outcome[1].charts:
            drawn.add(f"{exhibit.name}.svg")
            (drawings / f"{exhibit.name}.svg").write_text(_svg(outcome[1]), encoding="utf-8")
    for file in drawings.glob("*.svg"):
        if file.name not in drawn:
            file.unlink()
    page.write_text(text(outcomes, folder), encoding="utf-8")
    return Counter(outcome[1].verdict for outcome in outcomes.values() if outcome is not None)


def text(outcomes: Mapping[str, tuple[str, Judgement] | None], folder: Path = results.RESULTS) -> str:
    """The page, of the outcomes and of what is kept of the runs."""
    counts = Counter(outcome[1].verdict for outcome in outcomes.values() if outcome is not None)
    parts = [
        _ABOUT,
        f"Of {len(EXHIBITS)} experiments: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict) + ".\n",
        "| paper | number | what is compared | verdict |\n|---|---|---|---|",
    ]
    for exhibit in EXHIBITS:
        outcome = outcomes[exhibit.name]
        verdict = "not measured yet" if outcome is None else str(outcome[1].verdict)
        parts.append(f"| {exhibit.paper} | [{exhibit.number}](#{exhibit.anchor}) | {exhibit.title} | {verdict} |")
    for paper, source in SOURCES.items():
        parts.append(f"\n## {paper}\n\n{source}")
        parts += [_section(each, outcomes[each.name]) for each in EXHIBITS if each.paper == paper]
    parts += _runs(folder)
    return "\n".join(parts) + "\n"


def _runs(folder: Path) -> list[str]:
    """What each run took, and where it was measured."""
    kept = {name: found for name in RUNS if (found := results.latest_kept(name, folder)) is not None}
    timed = [(name, size, each) for name, (size, each) in kept.items() if "seconds" in each]
    if not timed:
        return []
    machines = dict.fromkeys(_machine(each["machine"]) for _, _, each in timed)
    return [
        f"\n## Runs\n\nThe machine: {'; '.join(machines)}. *Load* is how many processes ran or waited, of all users, in"
        " the last quarter of an hour of a run: where it is above the number of cores, others worked beside it, and it"
        " took so much longer by the clock. Why a whole size is less than the paper's stands in"
        " `benchmarks/paper/registry.py`.\n",
        "| run | size | seconds by the clock | load |\n|---|---|---|---|",
        *(f"| {name} | {size} | {each['seconds']:,} | {each['load']} |" for name, size, each in timed),
    ]


def _machine(machine: Mapping[str, object]) -> str:
    return (
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}, Python {machine['python']},"
        f" Spark {machine['pyspark']}, DuckDB {machine['duckdb']}"
    )


def _section(exhibit: Exhibit, outcome: tuple[str, Judgement] | None) -> str:
    """One experiment."""
    lines = [f"\n### {exhibit.heading}\n", f"*Paper*: {exhibit.claim}\n"]
    if outcome is None:
        return "\n".join([*lines, f"Not measured yet: {command(exhibit)}."])
    size, came = outcome
    lines.append(f"**{came.verdict}** ({size} size). {came.trend}\n")
    if exhibit.finding:
        lines.append(f"{exhibit.finding}\n")
    if came.charts:
        about = f"{exhibit.number}: {', '.join(chart.title for chart in came.charts)}"
        lines.append(f"![{about}](img/papers/{exhibit.name}.svg)\n")
    lines += [f"| {' | '.join(came.columns)} |", f"|{'---|' * len(came.columns)}"]
    lines += [f"| {' | '.join(map(number_text, row))} |" for row in came.rows]
    return "\n".join([*lines, "", f"Again: {command(exhibit)}."])


def command(exhibit: Exhibit) -> str:
    """What measures an experiment again."""
    names = " ".join(f'"{name}"' if " " in name else name for name in exhibit.runs)
    return f"`python -m benchmarks.paper --again {names}`"


def _svg(outcome: Judgement) -> str:
    """The drawing as SVG whose letters are text, the same for the same figures."""
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "papers", "path.simplify": True}):
        out = StringIO()
        draw(outcome.charts, columns=3).savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(r"[ \t]+\n", "\n", out.getvalue())


def missing(size: str, folder: Path = results.RESULTS) -> list[str]:
    """The runs without a current result."""
    return [name for name in RUNS if not results.is_current(name, size, folder)]
