# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The ``gazeveil`` program: finds the command's file, runs it, and turns errors into words and exit codes.

A command is a file ``gazeveil/cli/NAME.py`` with a ``typer.Typer`` called ``app``. Only the file of the command
that runs is imported, so the program starts quickly.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys

import click
import typer

from gazeveil import __version__, cli
from gazeveil.cli._output import print_error
from gazeveil.errors import GazeveilError, InputError, InternalError, MissingExtra, OutputError

EXIT_OK = 0
EXIT_FINDING = 1
"""The command ran and its answer is no: a violated promise, a file with faults."""
EXIT_USAGE = 2
EXIT_INPUT = 3
EXIT_OUTPUT = 4
EXIT_REFUSED = 5
"""Refused for privacy: the budget does not allow it."""
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130


class _Commands(click.Group):
    """The commands are the modules of `gazeveil.cli`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all command names."""
        modules = (module.name for module in pkgutil.iter_modules(cli.__path__))
        return sorted(name.replace("_", "-") for name in modules if not name.startswith("_") and name != "main")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's file and return the command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"gazeveil.cli.{cmd_name.replace('-', '_')}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gazeveil")
def program() -> None:
    """The privacy layer for eye tracking: gaze in, a veiled release out, with the promise that was kept."""


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit."""
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.exit(run(arguments))


def run(arguments: list[str]) -> int:
    """Run the program and return its exit code."""
    as_json = "--json" in arguments
    try:
        result = program.main(arguments, prog_name="gazeveil", standalone_mode=False)
    except click.ClickException as error:
        if as_json:
            print_error(InputError(error.format_message()), as_json=True)
        else:
            error.show()
        return EXIT_USAGE
    except (click.Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # the reader of our output went away (`gazeveil … | head`); nothing more can be said to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except InternalError as error:
        print_error(error, as_json=as_json)
        return EXIT_INTERNAL
    except GazeveilError as error:
        print_error(error, as_json=as_json)
        return exit_code(error)
    return result if isinstance(result, int) else EXIT_OK


def exit_code(error: GazeveilError) -> int:
    """Return the exit code that stands for an error."""
    if isinstance(error, InputError):
        return EXIT_INPUT
    if isinstance(error, OutputError):
        return EXIT_OUTPUT
    if isinstance(error, MissingExtra):
        return EXIT_USAGE
    return EXIT_REFUSED
