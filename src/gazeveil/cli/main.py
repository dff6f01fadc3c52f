# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The ``gazeveil`` program: runs a command, and turns errors into words and exit codes.

Commands are listed in `gazeveil.cli._program`. Only the file of the command that runs is imported, so the program
starts quickly.
"""

from __future__ import annotations

import signal
import sys
import traceback
from typing import Annotated

import typer

from gazeveil import __version__
from gazeveil.cli._program import Program
from gazeveil.errors import GazeveilError, InputError, InternalError, MissingExtra, OutputError
from gazeveil.terminal.printing import (
    EXIT_INPUT,
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_OUTPUT,
    EXIT_REFUSED,
    EXIT_USAGE,
    print_error,
    use_utf8,
)

program = typer.Typer(
    cls=Program,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gazeveil {__version__}")
        raise typer.Exit


@program.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """The privacy layer for eye tracking: gaze in, protected results out, with their privacy guarantee."""


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit."""
    signal.signal(signal.SIGTERM, _stop)
    use_utf8()
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def _stop(number: int, frame: object) -> None:
    """End as Ctrl-C does, tidying up on the way, so that nothing half written stays behind."""
    sys.exit(128 + number)


def run(arguments: list[str]) -> int:
    """Run the program and return its exit code. Typer itself reports usage errors, with exit code 2."""
    as_json = "--json" in arguments
    try:
        program(arguments, prog_name="gazeveil")
    except SystemExit as end:
        if end.code == EXIT_USAGE and as_json:
            print_error(InputError("the command line is wrong; see standard error"), as_json=True)
        return end.code if isinstance(end.code, int) else EXIT_OK
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except GazeveilError as error:
        print_error(error, as_json=as_json)
        return exit_code(error)
    except Exception:  # noqa: BLE001  (the last stop: what gets here is our fault, and has an exit code of its own)
        traceback.print_exc()
        print_error(InternalError("gazeveil made a mistake; please report the lines above"), as_json=as_json)
        return EXIT_INTERNAL
    return EXIT_OK


def exit_code(error: GazeveilError) -> int:
    """Return the exit code that stands for an error."""
    if isinstance(error, InternalError):
        return EXIT_INTERNAL
    if isinstance(error, InputError):
        return EXIT_INPUT
    if isinstance(error, OutputError):
        return EXIT_OUTPUT
    if isinstance(error, MissingExtra):
        return EXIT_USAGE
    return EXIT_REFUSED
