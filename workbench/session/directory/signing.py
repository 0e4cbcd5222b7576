"""Signatures of the functions in a folder, with a key that only their user has.

Loading a function runs code. The owner of a file need not have written what is in it, since the user who unpacks an
archive owns the files. So ``Session.open`` loads what was signed with the key of the user who opens, unless it is told
otherwise. The key is 32 random bytes in ``argus/signing.key`` of the user's configuration (``$XDG_CONFIG_HOME``, or
``~/.config``), readable by no other user, made when it is first needed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from workbench.files.writing import NewFile, make_folder

_KEY_BYTES = 32


def signature(*parts: bytes, new_key: bool) -> str | None:
    """This user's signature of some bytes.

    Args:
        parts: the bytes; each is signed with its length, so no other parts have the same signature.
        new_key: whether to make a key where there is none.

    Returns:
        ``None`` where there is no key that is the user's alone, and no place for a new one.
    """
    key = _key(new_key)
    if key is None:
        return None
    return hmac.new(key, b"".join(len(part).to_bytes(8, "big") + part for part in parts), hashlib.sha256).hexdigest()


def key_file() -> Path:
    """Where the key is."""
    configuration = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(configuration) / "argus" / "signing.key"


def _key(make: bool) -> bytes | None:
    """The key; ``None`` where there is none, or one that others can read."""
    file = key_file()
    try:
        status, key = file.stat(), file.read_bytes()
    except FileNotFoundError:
        return _new_key(file) if make else None
    except OSError:
        return None
    if len(key) == _KEY_BYTES and status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077:
        return key
    return _new_key(file) if make else None


def _new_key(file: Path) -> bytes | None:
    part = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    try:
        make_folder(file.parent)
        os.chmod(file.parent, 0o700)
        with NewFile(part) as new:
            new.write(secrets.token_bytes(_KEY_BYTES))
        if file.exists():
            os.replace(part, file)  # others could read it, or it was cut short
        else:
            with suppress(FileExistsError):  # another process has just made one
                os.link(part, file)
        return file.read_bytes()
    except OSError:
        return None
    finally:
        part.unlink(missing_ok=True)
