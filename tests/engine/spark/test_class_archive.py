"""The archive of classes: used only when it is whole and the user's own, and written by one process at a time."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from pathlib import Path

import pytest

from workbench.engine.spark.class_archive import (
    KEPT_UNUSED,
    RETRIED_AFTER,
    ClassArchive,
    archive_options,
    cache_folder,
    recording,
)
from workbench.engine.spark.java import Java, find_java


@pytest.fixture
def archive(tmp_path: Path) -> ClassArchive:
    return ClassArchive(tmp_path / "argus", "key")


def written(archive: ClassArchive, content: bytes = b"classes") -> Path:
    before = set(archive.folder.glob("*.jsa"))
    with archive.writing() as file:
        assert file is not None
        file.write_bytes(content)
    (new,) = set(archive.folder.glob("*.jsa")) - before
    return new


def test_what_was_written_is_used_and_is_for_its_user_alone(archive: ClassArchive) -> None:
    assert archive.options() == ()
    file = written(archive)
    assert archive.options()[-1] == f"-XX:SharedArchiveFile={file}"
    assert {stat.S_IMODE(path.stat().st_mode) for path in (archive.folder, file)} == {0o700, 0o600}
    assert list(archive.folder.iterdir()) == [file]


@pytest.mark.parametrize("damaged", [b"", b"class", b"classes and more", b"glasses"])
def test_a_damaged_archive_is_removed_and_not_used(archive: ClassArchive, damaged: bytes) -> None:
    file = written(archive)
    file.write_bytes(damaged)
    assert archive.options() == ()
    assert not file.exists()


@pytest.mark.parametrize("others_write", ["argus", "argus/{file}"])
def test_an_archive_that_others_may_write_is_not_used(archive: ClassArchive, others_write: str) -> None:
    file = written(archive)
    archive.folder.parent.joinpath(others_write.format(file=file.name)).chmod(0o770)
    assert archive.options() == ()


def test_one_process_writes_at_a_time(archive: ClassArchive) -> None:
    with archive.writing() as first, archive.writing() as second:
        assert first is not None and second is None
        first.write_bytes(b"classes")
    assert archive.options()


def test_of_two_that_were_written_all_the_same_one_is_used_whole(archive: ClassArchive) -> None:
    files = {written(archive, b"one"), written(archive, b"two")}
    files.pop().write_bytes(b"x")
    assert archive.options()[-1] == f"-XX:SharedArchiveFile={files.pop()}"


def test_what_failed_leaves_nothing_and_is_tried_again_after_a_day(archive: ClassArchive) -> None:
    def failing() -> None:
        with archive.writing() as file:
            assert file is not None
            file.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        failing()
    assert archive.options() == () and not list(archive.folder.glob("*.jsa"))
    with archive.writing() as file:
        assert file is None
    (claim,) = archive.folder.iterdir()
    earlier = time.time() - RETRIED_AFTER - 1
    os.utime(claim, (earlier, earlier))
    assert written(archive).exists()


def test_archives_go_that_were_not_used_for_a_month(archive: ClassArchive) -> None:
    old, used = (written(ClassArchive(archive.folder, key), key.encode()) for key in ("old", "used"))
    earlier = time.time() - KEPT_UNUSED - 1
    for file in (old, used):
        os.utime(file, (earlier, earlier))
    assert ClassArchive(archive.folder, "used").options()
    new = written(archive)
    assert {path for path in archive.folder.iterdir() if path.suffix == ".jsa"} == {used, new}


def test_another_java_or_spark_has_another_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    jar, program = tmp_path / "jars" / "spark.jar", tmp_path / "java"
    jar.parent.mkdir()
    for file in (jar, program):
        file.write_bytes(b"1")
    java, keys = Java(program, 17, "PATH"), set()
    for changed in (None, jar, program, jar.with_name("more.jar")):
        if changed is not None:
            changed.write_bytes(b"22")
        keys.add(ClassArchive.of(java).key)
    assert len(keys) == 4
    assert cache_folder() == ClassArchive.of(java).folder == tmp_path / "cache" / "argus"
    program.unlink()
    assert archive_options(java) == ()


def test_a_jvm_uses_it_and_one_of_other_classes_does_without_quietly(archive: ClassArchive, tmp_path: Path) -> None:
    java = find_java()
    assert java is not None

    def run(*options: str, jar: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / jar).touch()
        command = [str(java.program), *options, "-cp", str(tmp_path / jar), "-version"]
        return subprocess.run(command, capture_output=True, text=True, check=True)

    with archive.writing() as file:
        assert file is not None
        run(*recording(file), jar="one.jar")
        assert file.exists()
    used = run(*archive.options(), "-Xshare:on", "-Xlog:cds=info", jar="one.jar")
    assert f"Opened archive {archive.folder}" in used.stdout and "Mapped dynamic region" in used.stdout
    other = run(*archive.options(), jar="two.jar")
    assert other.stdout == "" and "sharing" in other.stderr and "warning" not in other.stderr
