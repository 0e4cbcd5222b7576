"""Build the wheel and the source distribution in ``dist``, and try the wheel outside of the clone.

    .venv/bin/python scripts/release.py [PYTHON …]

Each Python gets an empty environment in a temporary folder, where the wheel is installed with what it depends on, and
a session answers a query over two batches. Unless some are named, all of Python 3.11 to 3.14 are tried that ``PATH``
has. Two versions at least are wanted: with fewer the exit status is 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
KNOWN = tuple(f"python3.{minor}" for minor in range(11, 15))
WANTED = 2
"""Versions of Python that the wheel is tried on, at least."""
TRY = """
import sys
from pathlib import Path
import pandas as pd
import workbench

assert Path(workbench.__file__).is_relative_to(sys.prefix), workbench.__file__
rows = pd.DataFrame({"k": [n % 10 for n in range(300)], "v": range(300)})
with workbench.Session() as session:
    session.add_stream("S", rows, history=100, batch=100)
    query = session.register("SELECT k, COUNT(*) AS n, SUM(v) AS total FROM S WHERE v >= 50 GROUP BY k", name="sums")
    session.run(2)
    assert query.result()["n"].sum() == 250 and query.result()["total"].sum() == sum(range(50, 300)), query.result()
print(f"Python {sys.version.split()[0]}: the wheel is installed, and a session answers")
"""


def build() -> Path:
    """The wheel, beside the source distribution.

    Raises:
        SystemExit: the wheel has what does not belong into it.
    """
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", DIST], cwd=ROOT, check=True)
    (wheel,) = DIST.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        tops = {name.split("/")[0] for name in packed.namelist()}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if tops != {"workbench", f"argus_workbench-{version}.dist-info"}:
        raise SystemExit(f"{wheel.name} has {', '.join(sorted(tops))}")
    return wheel


def version_of(python: str) -> str:
    """The version of an interpreter as ``3.12``; empty where it does not run or cannot make environments."""
    asked = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    try:
        return subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def try_wheel(python: str, wheel: Path) -> None:
    """Install a wheel into an empty environment of an interpreter, and answer a query with it.

    Raises:
        subprocess.CalledProcessError: that fails.
    """
    with tempfile.TemporaryDirectory(prefix="argus-release-") as folder:
        subprocess.run([python, "-m", "venv", "env"], cwd=folder, check=True)
        own = f"{folder}/env/bin/python"
        install = [own, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", str(wheel)]
        subprocess.run(install, cwd=folder, check=True)
        subprocess.run([own, "-c", TRY], cwd=folder, check=True, env=_clean_environment())
        without = subprocess.run(
            [own, "-m", "workbench.experiments", "speed"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env=_clean_environment(),
        )
        if "pip install 'argus-workbench[experiments]'" not in without.stderr or "Traceback" in without.stderr:
            raise SystemExit(f"an experiment without its extra says: {without.stderr}")


def _clean_environment() -> dict[str, str]:
    """The environment without what would let the clone be found."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def main() -> int:
    """Build, and try on each Python; gives the exit status."""
    found = {version: python for python in sys.argv[1:] or KNOWN if (version := version_of(python))}
    wheel = build()
    for python in found.values():
        try_wheel(python, wheel)
    print(f"{wheel.relative_to(ROOT)} was tried on Python {', '.join(found) or 'none'}")
    if len(found) < WANTED:
        print("that is fewer than two versions: name interpreters, make release ARGS='PYTHON PYTHON'", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
