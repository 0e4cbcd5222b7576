"""A process that ends removes the temporary folders of the sessions that it did not close, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import atexit, os, sys
from workbench.session.directory.directory import SessionDirectory

kept_later = []
atexit.register(lambda: kept_later[0].keep())  # as a notebook's kernel does, once this module is there
made = {name: SessionDirectory.new(None) for name in ("left", "kept", "kept as it ends", "closed")}
kept_later.append(made["kept as it ends"])
made["kept"].keep()
made["closed"].close()
made["named"] = SessionDirectory.new(os.path.join(sys.argv[1], "named"))
if not os.fork():
    sys.exit()
os.wait()
print(all(made[name].path.is_dir() for name in ("left", "kept", "named")), *(made[n].path for n in made), sep="\\n")
if sys.argv[2] == "fails":
    raise ValueError("the script fails")
"""


@pytest.mark.parametrize("end", ["fails", "ends"])
def test_what_a_script_leaves(tmp_path: Path, end: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), end],
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    there, *paths = ended.stdout.split("\n")[:6]
    assert (there, ended.returncode) == ("True", int(end == "fails")), ended.stderr
    assert [Path(path).is_dir() for path in paths] == [False, True, True, False, True]
