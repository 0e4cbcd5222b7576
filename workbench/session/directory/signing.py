"""Whose functions are in a folder: the bytes of each are signed with a key that only its user has.

Loading a function runs code. That a file belongs to a user says nothing about who wrote what is in it, since whoever
unpacks an archive owns the files. So ``Session.open`` loads what was signed with the key of the user who opens, unless
it is told otherwise. The key is 32 random bytes in ``argus/signing.key`` of the user's configuration
(``$XDG_CONFIG_HOME``, or ``~/.config``), for nobody else to read, made when it is first needed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from workbench.catalog.session_rows import StoredFunction
from workbench.files.writing import NewFile, make_folder

_BYTES = 32


def signed(name: str, returns: str, stored: StoredFunction) -> StoredFunction:
    """A function with this user's signature; as it is where there is no place for a key.

    Args:
        name: its id.
        returns: the type of its values.
        stored: its bytes.
    """
    key = _key(make=True)
    return replace(stored, signature=None if key is None else _signature(key, name, returns, stored))


def is_signed(name: str, returns: str, stored: StoredFunction) -> bool:
    """Whether this user signed a function: just these bytes, under this name."""
    key = _key(make=False)
    if key is None or stored.signature is None:
        return False
    return hmac.compare_digest(_signature(key, name, returns, stored), stored.signature)


def key_file() -> Path:
    """Where the key is."""
    configuration = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(configuration) / "argus" / "signing.key"


def _signature(key: bytes, name: str, returns: str, stored: StoredFunction) -> str:
    limits = f"{stored.seconds} {stored.memory}"
    parts = (name.encode(), returns.encode(), stored.python.encode(), limits.encode(), stored.pickled)
    # With their lengths no two functions give the same bytes.
    whole = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hmac.new(key, whole, hashlib.sha256).hexdigest()


def _key(make: bool) -> bytes | None:
    """The key; ``None`` where there is none, or one that others can read."""
    file = key_file()
    try:
        about = file.stat()
        key = file.read_bytes()
        if len(key) == _BYTES and about.st_uid == os.geteuid() and not stat.S_IMODE(about.st_mode) & 0o077:
            return key
        return _new_key(file) if make else None
    except FileNotFoundError:
        return _new_key(file) if make else None
    except OSError:
        return None


def _new_key(file: Path) -> bytes | None:
    part = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    try:
        make_folder(file.parent)
        os.chmod(file.parent, 0o700)
        with NewFile(part) as new:
            new.write(secrets.token_bytes(_BYTES))
        if file.exists():
            os.replace(part, file)  # it was of no use
        else:
            _first(part, file)
        return file.read_bytes()
    except OSError:
        return None
    finally:
        part.unlink(missing_ok=True)


def _first(part: Path, file: Path) -> None:
    """Give the new key its name, unless another process has just made one."""
    with suppress(FileExistsError):
        os.link(part, file)
