"""What the doctor sees, and what it says to do about it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from workbench.__main__ import main
from workbench.engine.spark import doctor, java
from workbench.errors import EnvironmentProblem

PROJECT = Path(__file__).resolve().parents[3]


def test_every_check_that_fails_says_what_to_do() -> None:
    found = doctor.checks()
    assert [check.name for check in found][:4] == ["Python", "Java", "pyspark", "pandas"]
    assert len({check.name for check in found}) == len(found) == len(doctor.CHECKS)
    for check in found:
        assert check.detail
        assert check.ok == (check.remedy is None), check


def test_another_project_of_the_same_name_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "workbench-0.8.1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: workbench\nVersion: 0.8.1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    check = {check.name: check for check in doctor.checks()}["the name workbench"]
    assert not check.ok and "workbench (0.8.1)" in check.detail and check.remedy


def test_the_command_alone_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "%load_ext workbench" in capsys.readouterr().out
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.endswith("Ready.\n")


def test_without_java_the_doctor_and_spark_say_how_to_get_it(bare_machine: Path) -> None:
    assert java.find_java() is None
    check = {check.name: check for check in doctor.checks()}["Java"]
    assert not check.ok
    assert check.required
    assert check.remedy and "openjdk-17" in check.remedy
    with pytest.raises(EnvironmentProblem, match="no Java was found"):
        java.use_java()


def test_without_dot_there_is_advice_and_nothing_more(bare_machine: Path) -> None:
    graphviz = {check.name: check for check in doctor.checks()}["Graphviz"]
    assert not graphviz.ok
    assert not graphviz.required
    assert doctor.report([graphviz]).endswith("Ready.")


def test_the_doctor_starts_no_spark() -> None:
    imports = "import sys; from workbench.engine.spark import doctor"
    code = f"{imports}; doctor.report(); sys.exit('pyspark.java_gateway' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False).returncode == 0
