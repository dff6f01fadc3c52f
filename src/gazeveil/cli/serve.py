# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil serve``: run the gateway of a policy until it is stopped."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from gazeveil.cli.page import open_page
from gazeveil.cli.policy import in_words
from gazeveil.errors import OptionError, OutputError
from gazeveil.gateway.telemetry import Log, log_to
from gazeveil.terminal.printing import AsJson, command_app, print_json

if TYPE_CHECKING:
    from gazeveil.gateway.control.recovery import RecoveryProgram
    from gazeveil.gateway.policy.settings import Policy
    from gazeveil.gateway.serve import Gateway


app = command_app()
USUAL, FIRST = 0, -10
"""The usual niceness of a program, and that of a gateway: gaze would be late while busy programs go first."""


@app.command(epilog="Example: `gazeveil serve policy.toml --create-ledger`")
def serve(
    policy: Annotated[
        Path | None, typer.Argument(metavar="[POLICY]", help="The gateway's policy, a TOML file; not for --demo.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Play: simulated gaze, your mouse and two demo apps. Nothing is kept.")
    ] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the demo's link.")] = False,
    log_file: Annotated[
        Path | None,
        typer.Option("--log", help="Append the log here; else standard error, or nowhere for --demo."),
    ] = None,
    create_ledger: Annotated[
        bool,
        typer.Option("--create-ledger", help="Make the ledger if there is none."),
    ] = False,
    nice: Annotated[
        int | None,
        typer.Option(
            "--nice",
            min=-20,
            max=19,
            help=f"Niceness; {FIRST} if the system allows it and no other is set.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the gateway of a policy until it is stopped.

    Stop it with Ctrl-C or SIGTERM; SIGHUP, or `gazeveil policy reload`, reads the policy again. With --demo no
    policy is needed.
    """
    import asyncio

    if (policy is None) != demo:
        raise OptionError("give a policy or --demo", hint="gazeveil serve policy.toml, or gazeveil serve --demo")
    with contextlib.ExitStack() as stack:
        log = log_to(None if log_file is None else stack.enter_context(_open_log(log_file)))
        if demo and log_file is None:
            log = _no_log
        stack.enter_context(niceness(nice, log))
        if policy is None:
            run_demo(log, to_open=not no_open, quiet=as_json)
        else:
            asyncio.run(_until_stopped(policy, log, create_ledger=create_ledger, quiet=as_json))
    if as_json:
        print_json({"stopped": True, "policy": policy, "demo": demo})


@contextlib.contextmanager
def niceness(nice: int | None, log: Log) -> Iterator[None]:
    """Run with a higher priority, if the system allows it; a niceness that `nice` or a service manager set stays."""
    if not hasattr(os, "setpriority"):  # Windows
        if nice is not None:
            raise OptionError(
                "there is no --nice on this system", hint="start /abovenormal gazeveil serve …, in the command prompt"
            )
        yield
        return
    before = os.nice(0)
    if nice is None and before == USUAL:
        nice = FIRST
    try:
        if nice is not None:
            os.setpriority(os.PRIO_PROCESS, 0, nice)
    except OSError:
        log("no priority", why="the system does not allow it; gaze may be late beside busy programs")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, before)


async def _until_stopped(policy: Path, log: Log, *, create_ledger: bool, quiet: bool) -> None:
    import asyncio

    from gazeveil.gateway.machine_checks import can_be_bypassed
    from gazeveil.gateway.serve import serve as run
    from gazeveil.process import STOP, called_on

    stop, again = asyncio.Event(), asyncio.Event()

    def say(setting: Policy) -> None:
        print("\n".join(in_words(setting)))
        if can_be_bypassed(setting):
            print(f"can apps go round this gateway? gazeveil doctor {policy} --as-user NAME tries it as their user")
        sys.stdout.flush()

    def say_link(link: str) -> None:
        if sys.stdout.isatty():  # a link that opens the page is for a person's eyes, and not for files
            print(f"control page: {link}\n  (works once, for ten minutes; gazeveil page {policy} makes another)")

    opened = (lambda setting: None) if quiet else say  # with --json standard output is for one object
    linked = (lambda link: None) if quiet else say_link
    with called_on({**dict.fromkeys(STOP, stop.set), "SIGHUP": again.set}):
        await run(
            policy, log, stop, again=again, create_ledger=create_ledger, opened=opened, linked=linked, undo=preview()
        )


def _open_log(path: Path) -> IO[str]:
    try:
        return path.open("a", encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(f"cannot write the log {path}: {error.strerror}") from error


def _no_log(event: str, **fields: object) -> None:
    """Log nothing: a demo's terminal shows its link."""


def preview() -> RecoveryProgram | None:
    """Return the program that shows on the control page how much noise an attack removes; None without the lab."""
    from gazeveil.gateway.control.recovery import RecoveryProgram

    try:
        live = importlib.import_module("gazeveil.lab.attacks.live_filter")
    except ModuleNotFoundError as missing:
        if str(missing.name).startswith("gazeveil.lab"):
            return None
        raise
    return RecoveryProgram(live.__name__, live.filter_for)


# --- The demo.


DEMO_NOTICE = """\
This is a demo. Gaze is simulated, your mouse, or a recording of simulated gaze. The privacy budget is made up.
Everything is in a temporary folder, which is removed at the end."""


def run_demo(log: Log, *, to_open: bool, quiet: bool) -> None:
    """Run the demo until Ctrl-C or SIGTERM."""
    import asyncio

    if not quiet:
        print(f"{DEMO_NOTICE}\nStarting; the very first start may take a minute.", flush=True)
    from gazeveil.gateway.serve import demo_folder

    with demo_folder() as policy:
        asyncio.run(_play(policy, log, to_open=to_open, quiet=quiet))


async def _play(policy: Path, log: Log, *, to_open: bool, quiet: bool) -> None:
    import asyncio

    from gazeveil.gateway.serve import play_demo
    from gazeveil.process import STOP, called_on

    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def opened(gateway: Gateway) -> None:
        if not quiet:
            for demo_app in gateway.status()["demo_apps"]:
                print(f"app {demo_app['app']}: {demo_app['title']}, {demo_app['url']}")
        _show(gateway.link(), to_open=to_open, quiet=quiet)
        if not quiet and sys.stdin is not None and sys.stdin.isatty():
            try:
                loop.add_reader(sys.stdin, lambda: _show_another_link(gateway))
                print("Enter makes another link, Ctrl-C ends the demo.", flush=True)
            except NotImplementedError:  # Windows waits for no keys beside sockets
                print("Ctrl-C ends the demo.", flush=True)

    try:
        with called_on(dict.fromkeys((*STOP, "SIGHUP"), stop.set)):
            await play_demo(policy, log, stop, opened, preview())
    finally:
        if not quiet:
            print("the demo is over; nothing of it was kept", flush=True)


def _show_another_link(gateway: Gateway) -> None:
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
