"""The file that was meant by a path at which there is none."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import nearest


def nearest_file(path: Path) -> str | None:
    """A hint that names the file beside a path whose name is nearest, whatever its ending; ``None`` where none is.

    Where there is no such folder, the current one is looked through.
    """
    folder = path.parent if path.parent.is_dir() else Path()
    others = sorted(folder.iterdir(), key=lambda other: (other.suffix == path.suffix, other.name))
    names = {_stem(other): other for other in others}
    return nearest(_stem(path), names, shown=lambda stem: str(names[stem]))


def _stem(path: Path) -> str:
    return path.name.partition(".")[0] or path.name
