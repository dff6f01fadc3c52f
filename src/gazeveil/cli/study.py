# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil study``: the experiments under the name they had; the next version drops it."""

from __future__ import annotations

import sys

import typer

from gazeveil.cli._output import command_app

app = command_app(no_args_is_help=True)


@app.callback()
def study() -> None:
    """Old names of `gazeveil experiment`, for this version."""


_ANYTHING = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@app.command("features", hidden=True, context_settings=_ANYTHING)
@app.command("heatmap", hidden=True, context_settings=_ANYTHING)
@app.command("identify", hidden=True, context_settings=_ANYTHING)
@app.command("veils", hidden=True, context_settings=_ANYTHING)
def moved(context: typer.Context) -> None:
    """Run the experiment of the same name."""
    from gazeveil.cli.main import program  # noqa: PLC0415  (it imports this file)

    name = str(context.info_name)
    notice = f"`gazeveil study {name}` is now `gazeveil experiment {name}`; the old name goes with the next version"
    print(notice, file=sys.stderr)
    program(["experiment", name, *context.args], prog_name="gazeveil")
