"""Without DuckDB and matplotlib, experiments and benchmarks say what to install, and those that need neither run."""

from __future__ import annotations

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["duckdb"] = sys.modules["matplotlib"] = None
from benchmarks.gate.__main__ import main as gate
from benchmarks.registry import BENCHMARKS
from benchmarks.studies.cacq import TupleState
from benchmarks.__main__ import main as benchmark
from workbench.experiments.registry import EXPERIMENTS
from workbench.experiments.__main__ import main as experiment

print("gate", gate([]))
for main, studies in ((benchmark, BENCHMARKS), (experiment, EXPERIMENTS)):
    for name in (name for name, study in studies.items() if study.needs):
        print(name, main([name]))
print(TupleState.name, 0 if TupleState(queries=(5,), batch=50).report(print).text else 1)
"""


def test_what_is_not_installed_is_said() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    ended = dict(line.rsplit(" ", 1) for line in run.stdout.splitlines() if line[-2:] in (" 0", " 1"))
    assert run.returncode == 0 and "Traceback" not in run.stderr, run.stderr
    assert {name for name, status in ended.items() if status == "0"} == {"cacq-state"}
    assert len(ended) > 12
    hints = run.stderr.count("pip install 'argus-workbench[experiments]'")
    assert hints == run.stderr.count("not installed here") >= len(ended) - 1
    assert "speed needs duckdb and matplotlib, not installed here" in run.stderr
    assert "network-size needs matplotlib, not installed here" in run.stderr
