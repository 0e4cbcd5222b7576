"""Names of files that a folder gives stay inside of it, and nothing in it leads elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path


def path_inside(folder: Path, name: str) -> Path:
    """The path of a file or folder by its name as another file has it, checked to lie inside the folder.

    Raises:
        ValueError: the name leads out of the folder, which was changed by hand, or made to do harm.

    Example:
        >>> path_inside(Path("s/state"), "S1/0.arrow").as_posix()
        's/state/S1/0.arrow'
        >>> path_inside(Path("s/state"), "../../x")
        Traceback (most recent call last):
        ...
        ValueError: '../../x' leads out of s/state
    """
    return Path(name_inside(str(folder), name))


def name_inside(folder: str, name: str) -> str:
    """``path_inside`` as a text, which takes a tenth of the time.

    Example:
        >>> name_inside("s/state", "S1/0.arrow")
        's/state/S1/0.arrow'
    """
    if not name or name.startswith("/") or ".." in name.split("/") or "\0" in name:
        raise ValueError(f"{name!r} leads out of {folder}")
    return f"{folder}/{name}"


def what_leads_out(paths: Iterable[Path]) -> str:
    """Which of these is a link, a pipe or a device, that would read, write or wait elsewhere; "" for none.

    Args:
        paths: files, and folders with all that is in them.
    """
    for path in _walked(paths):
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            return f"{path} is {'a symbolic link' if stat.S_ISLNK(mode) else 'no file'}"
    return ""


def _walked(paths: Iterable[Path]) -> Iterator[Path]:
    for top in paths:
        if os.path.lexists(top):
            yield top
        if top.is_dir() and not top.is_symlink():
            for folder, folders, files in os.walk(top):
                yield from (Path(folder, name) for name in (*folders, *files))
