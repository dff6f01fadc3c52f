# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""As much of Windows as Linux can play: what Windows lacks is hidden from gazeveil, what it forbids is forbidden.

Hidden: modules, functions and signals of Unix, handlers of signals and readers of files in event loops. Forbidden: to
open a folder, to flush what may only be read, to move or remove what is open or mapped, and names that Windows does not
take. Line ends are changed in text files, modes of files say nothing, and locks are those of ``msvcrt``.
Only the system itself can show more: the public forge runs the tests on it (.github/workflows/ci.yml).
"""

from __future__ import annotations

import asyncio
import builtins
import errno
import fcntl
import io
import os
import shutil
import signal
import socket
import sys
import tempfile
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
"""Modules that Windows does not have."""
LACKS = {
    "os": """chown fchown fork forkpty getegid geteuid getgid getgroups getloadavg getpgid getpgrp getpriority getresuid
        getsid getuid initgroups killpg lchown lockf mkfifo mknod nice openpty pathconf pidfd_open pipe2 posix_fadvise
        posix_fallocate posix_spawn pread preadv pwrite pwritev readv register_at_fork sched_getaffinity sched_yield
        sendfile setegid seteuid setgid setgroups setpgid setpriority setsid setuid statvfs sync sysconf tcsetpgrp
        ttyname uname wait wait3 wait4 writev O_ASYNC O_CLOEXEC O_DIRECT O_DIRECTORY O_DSYNC O_NOATIME O_NOCTTY
        O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC O_TMPFILE PRIO_PROCESS WNOHANG""",
    "signal": """SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH alarm
        pause pthread_kill pthread_sigmask setitimer sigwait""",
    "socket": "AF_NETLINK AF_PACKET AF_UNIX MSG_NOSIGNAL SO_BINDTODEVICE SO_REUSEPORT TCP_USER_TIMEOUT socketpair_unix",
}
"""What these modules do not have there."""
_DEVICES = {"CON", "PRN", "AUX", "NUL", *(f"{kind}{number}" for kind in ("COM", "LPT") for number in range(10))}
_held: set[tuple[int, int]] = set()
taken = 0
"""How many locks were taken here."""


def become() -> None:
    """Let this process, and those that it starts with the same environment, live on Windows from now on."""
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    sys.modules["msvcrt"] = _msvcrt()
    _hide_names()
    _forbid()
    for name in ("add_signal_handler", "remove_signal_handler", "add_reader", "add_writer"):
        setattr(asyncio.SelectorEventLoop, name, _not_implemented)
    warnings.filterwarnings("ignore", category=EncodingWarning)
    warnings.filterwarnings("error", category=EncodingWarning, module=r"gazeveil(\.|$)")


class _Lacking(ModuleType):
    """A module without some of its names."""

    def __init__(self, real: ModuleType, lacks: str, **others: object) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(others, _real=real, _lacks=frozenset(lacks.split()))

    def __getattr__(self, name: str) -> Any:
        if name in self._lacks:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on Windows")
        return getattr(self._real, name)


def _hide_names() -> None:
    others: dict[str, dict[str, object]] = {
        "os": {"O_BINARY": 0},
        "socket": {"SO_EXCLUSIVEADDRUSE": socket.SO_REUSEADDR},
    }
    lacking = {
        module.__name__: _Lacking(module, LACKS[module.__name__], **others.get(module.__name__, {}))
        for module in (os, signal, socket)
    }
    real = builtins.__import__

    def importing(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:  # noqa: A002
        found = real(name, globals, locals, fromlist, level)
        ours = globals is not None and str(globals.get("__package__")).split(".")[0] == "gazeveil"
        return lacking[name] if ours and name in lacking else found

    builtins.__import__ = importing


def _forbid() -> None:
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # these two as Python has them on Windows
    tempfile.TemporaryFile = tempfile.NamedTemporaryFile  # type: ignore[assignment]
    real_open, real_fsync, real_io_open = os.open, os.fsync, io.open

    def opened(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is None and Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", path)
        if flags & os.O_CREAT:
            _check_name(path)
        return real_open(path, flags, 0o666 if flags & os.O_CREAT else mode, dir_fd=dir_fd)

    def flushed(file: Any) -> None:
        number = file if isinstance(file, int) else file.fileno()
        if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        real_fsync(number)

    def opened_file(
        file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None, errors: str | None = None,
        newline: str | None = None, *rest: Any, **more: Any,
    ) -> Any:  # fmt: skip
        if set(mode) & set("wax"):
            if not isinstance(file, int):
                _check_name(file)
            if newline is None and not set(mode) & set("b+"):
                newline = "\r\n"
        if "b" not in mode:
            encoding = io.text_encoding(encoding, 3)
        return real_io_open(file, mode, buffering, encoding, errors, newline, *rest, **more)

    os.open, os.fsync, io.open, builtins.open = opened, flushed, opened_file, opened_file  # type: ignore[assignment]
    for name in ("unlink", "remove", "rmdir", "rename", "replace"):
        setattr(os, name, _minding_what_is_open(getattr(os, name)))
    real_mkdir = os.mkdir

    def made(path: Any, *rest: Any, **more: Any) -> None:
        _check_name(path)
        real_mkdir(path, *rest, **more)

    os.mkdir = made


def _minding_what_is_open(real: Any) -> Any:
    def done(path: Any, *others: Any, **more: Any) -> None:
        for each in (path, *others):
            if _is_open(os.path.realpath(each)):
                raise PermissionError(errno.EACCES, "The process cannot access the file because it is being used", each)
        for each in others:
            _check_name(each)
        real(path, *others, **more)

    return done


def _is_open(path: str) -> bool:
    """Tell whether this process has a file open or mapped, or one in a folder."""
    for file in Path("/proc/self/fd").iterdir():
        try:
            name = str(file.readlink())
        except OSError:  # the one that lists them
            continue
        if name == path or name.startswith(f"{path}/"):
            return True
    text = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    return f" {path}\n" in text or f" {path}/" in text


def _check_name(path: Any) -> None:
    name = Path(os.fsdecode(path)).name
    odd = (
        set(name) & set('<>:"|?*\\') or name.endswith((" ", ".")) or name.split(".", maxsplit=1)[0].upper() in _DEVICES
    )
    if odd and name not in {"", ".", ".."}:
        raise OSError(errno.EINVAL, "The filename, directory name, or volume label syntax is incorrect", path)


def _msvcrt() -> Any:
    return SimpleNamespace(LK_UNLCK=0, LK_LOCK=1, LK_NBLCK=2, LK_RLCK=3, LK_NBRLCK=4, locking=_locking)


def _locking(file: int, mode: int, count: int) -> None:
    """Lock or free bytes from where a file is at, for this handle; in truth the whole file."""
    global taken  # noqa: PLW0603
    place = (file, os.lseek(file, 0, os.SEEK_CUR))
    if mode == 0:
        if place not in _held:
            raise PermissionError(errno.EACCES, "Permission denied")
        _held.remove(place)
        fcntl.flock(file, fcntl.LOCK_UN)
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "Permission denied") from None
    _held.add(place)
    taken += 1


def _not_implemented(*_: object) -> None:
    raise NotImplementedError
