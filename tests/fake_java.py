"""A Java that only prints a version."""

from __future__ import annotations

from pathlib import Path


def fake_java(folder: Path, version: str) -> Path:
    """A program that prints what `java -version` prints."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    return program
