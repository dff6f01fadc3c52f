# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil completion``: commands, options and names that a shell completes with the tabulator key."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from gazeveil.cli._program import COMPLETION_VARIABLE
from gazeveil.terminal.printing import AsJson, command_app, print_json

app = command_app()


class Shell(StrEnum):
    """Shells that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


@app.command(epilog="Example: `gazeveil completion bash >> ~/.bashrc`, or `--install`; then open a new terminal")
def completion(
    shell: Annotated[Shell, typer.Argument(help="bash, zsh, fish or powershell.")],
    install: Annotated[
        bool, typer.Option("--install", help="Write it where the shell finds it, instead of printing it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the script that completes gazeveil's commands in a shell."""
    from typer import _completion_shared as scripts

    if install:
        _, path = scripts.install(shell.value, "gazeveil", COMPLETION_VARIABLE)
        if as_json:
            print_json({"shell": shell, "installed": path})
        else:
            print(f"wrote {path}: {shell} completes gazeveil from the next terminal on")
        return
    script = scripts.get_completion_script(prog_name="gazeveil", complete_var=COMPLETION_VARIABLE, shell=shell.value)
    if as_json:
        print_json({"shell": shell, "script": script})
    else:
        print(script)
