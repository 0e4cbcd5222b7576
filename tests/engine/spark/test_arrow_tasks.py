"""A worker that takes too much memory fails its task, and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

TAKEN = {
    "numpy": "import numpy; numpy.ones(2**28)",
    "arrow": "import pyarrow.compute as pc; pc.binary_repeat(['x' * 2**20], 1900)",
    "python": "[b'x' * 2**20 + bytes([n % 9]) for n in range(2000)]",
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds what a process takes")
@pytest.mark.parametrize("kind", TAKEN)
def test_what_takes_more_memory_than_a_worker_may_raises(kind: str) -> None:
    bound = "from workbench.engine.spark.arrow_tasks import bound_memory; bound_memory(2**30)"
    taken = f"""
{bound}
try:
    {TAKEN[kind]}
except MemoryError:
    print("MemoryError")
print(len(b"x" * 2**20))
"""
    done = subprocess.run([sys.executable, "-c", taken], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["MemoryError", str(2**20)], done.stderr
