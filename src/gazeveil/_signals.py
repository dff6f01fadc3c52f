# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Signals for programs that run until they are told to stop, on every system."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Final

STOP: Final = ("SIGTERM", "SIGINT", "SIGBREAK")
"""What tells a program to stop: a service manager, Ctrl-C, and Ctrl-Break or a closed window on Windows."""


@contextmanager
def called_on(calls: Mapping[str, Callable[[], None]]) -> Iterator[None]:
    """Call functions in the running loop when signals come, until the block ends.

    Args:
        calls: By the signal's name. Signals that this system does not have (SIGHUP on Windows) never come.
    """
    loop = asyncio.get_running_loop()
    with ExitStack() as undo:
        for name, call in calls.items():
            number: int | None = getattr(signal, name, None)
            if number is None:
                continue
            undo.callback(signal.signal, number, signal.getsignal(number))
            try:
                loop.add_signal_handler(number, call)
            except NotImplementedError:  # Windows
                signal.signal(number, lambda *_, call=call: loop.call_soon_threadsafe(call))
            else:
                undo.callback(loop.remove_signal_handler, number)
        yield
