# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Write files and folders so that they are there whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from gazeveil.errors import OutputError

_SYNCS_AT_ONCE = 16
_DEVICES = re.compile(r"(?i)con|prn|aux|nul|com\d|lpt\d")
_IS_UNIX = hasattr(os, "getuid")
_FREE_S, _PAUSE_S = 1.0, 0.02
"""For how long a move is tried again on Windows while another program, such as a virus scanner, has the file open."""


@contextmanager
def replacing(target: Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Give a temporary path beside ``target``; on success fsync it and rename it to ``target``.

    Works for a file or a folder, whichever the caller creates. On any error the temporary path is removed and
    ``target`` stays what it was.

    Raises:
        OutputError: If the target exists and may not be overwritten, or cannot be written.
    """
    target = Path(target)
    if target.exists() and not overwrite:
        raise OutputError(f"{target} exists already", hint="choose another name, or allow overwriting")
    temporary = target.parent / f".{target.name}.{uuid.uuid4().hex[:12]}.partial"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        _sync_tree(temporary)
        if target.is_dir() and not target.is_symlink():
            _replace_folder(temporary, target)
        else:
            _moved(temporary, target)
        sync(target.parent)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(
            f"cannot write {target}: {error.strerror or error}", hint="check free space and permissions"
        ) from error
    finally:
        _remove(temporary)


def write_all(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """Write files by name into a folder, each of them whole or not at all; return their names."""
    for name, content in files.items():
        with replacing(folder / name) as temporary:
            temporary.write_bytes(content)
    return list(files)


def write_private(path: Path, text: str) -> None:
    """Write a text that its owner alone may read; it is there whole or not at all.

    Windows has no such modes: there whoever may read the folder may read the file (docs/reference/platforms.md).
    """
    with replacing(path) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_text(
            text, encoding="utf-8", newline="\n", errors="backslashreplace"
        )  # names of files are any bytes


def is_device(name: str) -> bool:
    """Return whether Windows takes a name for a device, whatever comes after its first dot."""
    return _DEVICES.fullmatch(name.split(".", maxsplit=1)[0]) is not None


def others_may_read(path: Path) -> bool:
    """Return whether the mode of a file lets others read or write it; False on Windows, where modes mean nothing."""
    return _IS_UNIX and bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def sync(path: Path) -> None:
    """Wait until a file or a folder is on disk. Windows syncs folders itself, and lets nobody open them."""
    if not _IS_UNIX and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY if _IS_UNIX else os.O_RDWR)  # Windows syncs only what is open for writing
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _moved(source: Path, target: Path) -> None:
    """Give a file or folder another name; what is there is replaced, unless it is a folder."""
    end = time.monotonic() + _FREE_S
    while True:
        try:
            source.replace(target)
            return
        except PermissionError:
            if _IS_UNIX or time.monotonic() > end:
                raise
            time.sleep(_PAUSE_S)


def _replace_folder(new: Path, target: Path) -> None:
    """Swap in a new folder; the old one is set aside first, so one of the two is always whole."""
    aside = target.parent / f".{target.name}.{uuid.uuid4().hex[:12]}.old"
    _moved(target, aside)
    try:
        _moved(new, target)
    except OSError:
        _moved(aside, target)
        raise
    _remove(aside)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):  # an earlier error is the one to report, not that there is nothing to remove
            path.unlink()


def _sync_tree(path: Path) -> None:
    everything = [*path.rglob("*"), path] if path.is_dir() else [path]
    if len(everything) < _SYNCS_AT_ONCE:
        for each in everything:
            sync(each)
        return
    # a disk that is asked for many files at once writes them together: one by one, 10,000 files take minutes
    with ThreadPoolExecutor(_SYNCS_AT_ONCE) as pool:
        for _ in pool.map(sync, everything):
            pass  # an error comes out here
