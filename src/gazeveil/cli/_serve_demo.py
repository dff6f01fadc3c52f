# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil serve --demo``: a gateway to play with, opened in the browser by a link that works once."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from gazeveil.cli._browser import open_page
from gazeveil.gateway.logs import Log

if TYPE_CHECKING:
    from gazeveil.gateway.serve import Gateway

WORDS = """\
This is a demo. Gaze is simulated, your mouse, or a recording of simulated gaze. The privacy budget is made up.
Everything is in a temporary folder, which is removed at the end."""


def run_demo(log: Log, *, to_open: bool, quiet: bool) -> None:
    """Run the demo until Ctrl-C or SIGTERM."""
    import asyncio

    if not quiet:
        print(f"{WORDS}\nStarting; the very first start may take a minute.", flush=True)
    from gazeveil.gateway.demo import demo_folder

    with demo_folder() as policy:
        asyncio.run(_play(policy, log, to_open=to_open, quiet=quiet))


async def _play(policy: Path, log: Log, *, to_open: bool, quiet: bool) -> None:
    import asyncio

    from gazeveil._signals import STOP, called_on
    from gazeveil.cli._undo import UNDO
    from gazeveil.gateway.demo import play

    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def opened(gateway: Gateway) -> None:
        if not quiet:
            for toy in gateway.status()["toys"]:
                print(f"app {toy['app']}: {toy['title']}, {toy['url']}")
        _show(gateway.link(), to_open=to_open, quiet=quiet)
        if not quiet and sys.stdin is not None and sys.stdin.isatty():
            try:
                loop.add_reader(sys.stdin, lambda: _again(gateway))
                print("Enter makes another link, Ctrl-C ends the demo.", flush=True)
            except NotImplementedError:  # Windows waits for no keys beside sockets
                print("Ctrl-C ends the demo.", flush=True)

    try:
        with called_on(dict.fromkeys((*STOP, "SIGHUP"), stop.set)):
            await play(policy, log, stop, opened, UNDO)
    finally:
        if not quiet:
            print("the demo is over; nothing of it was kept", flush=True)


def _again(gateway: Gateway) -> None:
    import asyncio

    if sys.stdin.readline():
        _show(gateway.link(), to_open=False, quiet=False)
    else:  # the terminal is gone, and would say so for ever
        asyncio.get_running_loop().remove_reader(sys.stdin)


def _show(link: str, *, to_open: bool, quiet: bool) -> None:
    if not quiet:
        print(f"open {link}\n  (works once, for ten minutes)", flush=True)
    if to_open:  # a browser that starts slowly must not hold up gaze
        threading.Thread(target=open_page, args=(link,), daemon=True).start()
