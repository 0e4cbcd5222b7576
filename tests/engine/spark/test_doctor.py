"""The set-up of the project: what `make` offers, what the doctor sees, who may import whom."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.engine.spark import doctor, java
from workbench.errors import EnvironmentProblem

PROJECT = Path(__file__).resolve().parents[3]


# --- the doctor


def fake_java(folder: Path, version: str) -> Path:
    """A program that prints what `java -version` prints."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No Java and no dot anywhere the doctor looks; the folder returned is the usual place for Java."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("JAVA_HOME", "")
    usual = tmp_path / "jvm"
    monkeypatch.setattr(java, "JAVA_FOLDERS", (str(usual / "*"),))
    return usual


def test_every_check_that_fails_says_what_to_do() -> None:
    found = doctor.checks()
    assert [check.name for check in found][:4] == ["Python", "Java", "pyspark", "pandas"]
    assert len({check.name for check in found}) == len(found) == len(doctor.CHECKS)
    for check in found:
        assert check.detail
        assert check.ok == (check.remedy is None), check


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


@pytest.mark.parametrize(("version", "major", "ok"), [("1.8.0_392", 8, False), ("16.0.2", 16, False), ("17", 17, True)])
def test_java_must_be_17_or_newer(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, version: str, major: int, ok: bool
) -> None:
    home = fake_java(bare_machine / "x", version).parent.parent
    monkeypatch.setenv("JAVA_HOME", str(home))
    found = java.find_java()
    assert found is not None
    assert (found.version, found.where) == (major, "JAVA_HOME")
    assert {check.name: check for check in doctor.checks()}["Java"].ok is ok


def test_a_new_java_in_the_usual_folder_is_chosen_before_an_old_one_in_java_home(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java(tmp_path / "old", "11.0.2").parent.parent
    new = fake_java(bare_machine / "java-21", "21.0.1").parent.parent
    monkeypatch.setenv("JAVA_HOME", str(old))
    assert java.use_java().version == 21
    assert os.environ["JAVA_HOME"] == str(new)


def test_java_on_path_is_used_without_java_home(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java(tmp_path / "old", "11.0.2").parent.parent
    on_path = fake_java(tmp_path / "new", "17.0.15").parent
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", str(on_path))
    assert java.use_java().where == "PATH"
    assert "JAVA_HOME" not in os.environ


def test_a_java_that_does_not_run_is_no_java(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = fake_java(bare_machine / "broken", "17")
    program.write_text("#!/bin/sh\nexit 1\n")
    assert java.find_java() is None


def test_the_doctor_starts_no_spark() -> None:
    imports = "import sys; from workbench.engine.spark import doctor"
    code = f"{imports}; doctor.report(); sys.exit('pyspark.java_gateway' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False).returncode == 0


# --- make and its scripts


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


# --- who may import whom

SPARK_FREE = ["sql", "network", "sharing"]
NEEDS_SPARK_OR_NOTEBOOK = {"pyspark", "py4j", "IPython", "ipywidgets", "ipykernel"}


def module_files(root: Path) -> dict[str, Path]:
    """Dotted name of every module of the package in `root`."""
    files = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def imported(name: str, path: Path) -> set[str]:
    """Dotted names a module imports anywhere in its text, relative ones resolved."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*parts, *(node.module or "").split(".")]).strip(".")
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return names


def reached(starts: list[str], files: dict[str, Path]) -> dict[str, str]:
    """Everything imported by the modules below `starts` and by what they import: name and who imports it.

    The root package is not followed: it hands out the session, and importing any module runs it.
    """
    waiting = [name for name in files if any(name == start or name.startswith(f"{start}.") for start in starts)]
    seen, found = set(waiting), {}
    while waiting:
        user = waiting.pop()
        for name in imported(user, files[user]):
            found[name] = user
            inner = name if name in files else name.rpartition(".")[0]
            if inner in files and "." in inner and inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return found


def broken(starts: list[str], forbidden: set[str], root: Path) -> list[str]:
    found = reached([f"{root.name}.{start}" for start in starts], module_files(root))
    return sorted(
        f"{user} imports {name}"
        for name, user in found.items()
        if any(name == bad or name.startswith(f"{bad}.") for bad in forbidden)
    )


def test_planning_imports_neither_spark_nor_ipython() -> None:
    assert broken(SPARK_FREE, NEEDS_SPARK_OR_NOTEBOOK, PROJECT / "workbench") == []


def test_the_engine_does_not_import_the_notebook() -> None:
    assert broken(["engine"], {"workbench.notebook"}, PROJECT / "workbench") == []


@pytest.mark.parametrize(
    "line",
    [
        "import pyspark.sql",
        "from pyspark import sql",
        "def f():\n    from IPython.display import display",
        "from ..engine import run",
        "from ..engine.run import go",
        "from workbench.engine.run import go",
    ],
)
def test_the_import_rule_sees_direct_and_indirect_imports(tmp_path: Path, line: str) -> None:
    root = tmp_path / "workbench"
    for name, text in {"sql/parse.py": line, "engine/run.py": "import pyspark\n", "engine/__init__.py": ""}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert len(broken(["sql"], NEEDS_SPARK_OR_NOTEBOOK, root)) == 1
    assert broken(["engine"], {"workbench.notebook"}, root) == []
