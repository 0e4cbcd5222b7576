"""The set-up of the project: what `make` offers, and what its scripts install."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fake_java import fake_java

PROJECT = Path(__file__).resolve().parents[1]


def test_make_alone_lists_the_verbs() -> None:
    listed = subprocess.run(["make"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    for verb in ["help", "demo", "lab", "test", "lint", "bench", "clean"]:
        assert f"make {verb} " in listed


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with the plain tools only: no Java, no dot, no package manager."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for tool in ["sh", "sed", "head", "dirname", "ln", "mkdir"]:
        program = shutil.which(tool)
        assert program
        (folder / tool).symlink_to(program)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("ARGUS_JAVA_FOLDERS", "")
    for name in ["JAVA_HOME", "ARGUS_INSTALL", "PYTHON"]:
        monkeypatch.delenv(name, raising=False)
    return folder


def add_tool(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def system_packages(*needs: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(PROJECT / "scripts" / "system-packages.sh"), *needs]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_what_is_there_is_left_alone(tools: Path) -> None:
    add_tool(tools, "java", "echo 'openjdk version \"17.0.15\"' >&2")
    add_tool(tools, "dot", "exit 0")
    add_tool(tools, "id", "echo 0")
    add_tool(tools, "apt-get", "echo must not run; exit 1")
    done = system_packages("java", "dot")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_root_gets_what_is_missing_from_apt(tools: Path, tmp_path: Path) -> None:
    java = fake_java(tmp_path / "package", "17.0.15")
    add_tool(tools, "id", "echo 0")
    add_tool(tools, "apt-get", f"ln -s {java} {tools}/java")
    done = system_packages("java")
    assert "installing openjdk-17-jre-headless with apt-get" in done.stderr
    assert done.returncode == 0, done.stderr


def test_a_release_without_java_17_gets_the_next(tools: Path, tmp_path: Path) -> None:
    java = fake_java(tmp_path / "package", "21.0.1")
    add_tool(tools, "id", "echo 0")
    add_tool(tools, "apt-get", f'case "$*" in *-21-*) ln -s {java} {tools}/java ;; *) exit 100 ;; esac')
    done = system_packages("java")
    assert "installing openjdk-21-jre-headless with apt-get" in done.stderr
    assert done.returncode == 0, done.stderr


def test_a_package_that_brings_an_old_java_is_not_enough(tools: Path, tmp_path: Path) -> None:
    old = fake_java(tmp_path / "old", "11.0.2")
    add_tool(tools, "id", "echo 0")
    add_tool(tools, "apt-get", f"ln -sf {old} {tools}/java")
    done = system_packages("java")
    assert done.returncode == 1
    assert "install it with:  apt-get install -y --no-install-recommends openjdk-21-jre-headless" in done.stderr


def test_sudo_without_a_password_is_used_and_the_command_to_type_may_ask_for_one(tools: Path) -> None:
    add_tool(tools, "id", "echo 1000")
    add_tool(tools, "sudo", 'echo "as root: $*" >&2; [ "$*" = "-n true" ]')
    add_tool(tools, "apt-get", "echo must not run >&2")
    done = system_packages("java")
    assert "as root: -n apt-get install -y --no-install-recommends openjdk-17-jre-headless" in done.stderr
    assert "install it with:  sudo apt-get install" in done.stderr
    assert done.returncode == 1


def test_absent_package_lists_are_fetched_once(tools: Path, tmp_path: Path) -> None:
    java = fake_java(tmp_path / "package", "17.0.15")
    lists = tmp_path / "lists"
    add_tool(tools, "id", "echo 0")
    add_tool(
        tools, "apt-get", f'if [ "$1" = update ]; then mkdir {lists}; else [ -d {lists} ] && ln -s {java} {tools}/; fi'
    )
    done = system_packages("java")
    assert lists.is_dir()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("why", ["no rights", "not wanted"])
def test_what_cannot_be_installed_is_named_with_the_command(
    tools: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    add_tool(tools, "id", "echo 1000" if why == "no rights" else "echo 0")
    add_tool(tools, "apt-get", "echo must not run >&2")
    if why == "not wanted":
        monkeypatch.setenv("ARGUS_INSTALL", "no")
    done = system_packages("java")
    assert done.returncode == 1
    assert "apt-get install -y --no-install-recommends openjdk-17-jre-headless" in done.stderr
    assert "must not run" not in done.stderr


def test_a_missing_dot_stops_nothing(tools: Path) -> None:
    add_tool(tools, "id", "echo 1000")
    done = system_packages("dot")
    assert done.returncode == 0
    assert "going on without it" in done.stderr


def test_an_old_python_is_not_taken(tools: Path) -> None:
    add_tool(tools, "python3", "exit 1")
    find = ["sh", str(PROJECT / "scripts" / "find-python.sh")]
    assert subprocess.run(find, capture_output=True, check=False).returncode == 1
    (tools / "python3.11").symlink_to(sys.executable)
    assert subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip() == str(tools / "python3.11")


@pytest.mark.parametrize(("tests", "lint"), [(0, 0), (0, 1), (1, 0)])
def test_the_suite_fails_with_the_tests_and_with_what_is_checked_beside_them(
    tmp_path: Path, tests: int, lint: int
) -> None:
    shutil.copy(PROJECT / "Makefile", tmp_path)
    for name in ["scripts/system-packages.sh", "requirements.lock", "pyproject.toml"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (programs := tmp_path / ".venv" / "bin").mkdir(parents=True)
    for name in ["mypy", "lint-imports"]:
        add_tool(programs, name, f"echo {name} was run")
    add_tool(programs, "ruff", f"exit {lint}")
    add_tool(programs, "python", f'case "$2" in pytest) echo pytest was run; exit {tests};; esac')
    (tmp_path / ".venv" / ".up-to-date").touch()
    done = subprocess.run(["make", "test"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "pytest was run" in done.stdout
    assert (done.returncode == 0, "mypy was run" in done.stdout) == (tests + lint == 0, lint == 0), done.stderr
