# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil attack``: the adversary at work. Each recogniser that is trained has a command under ``train``."""

from __future__ import annotations

from gazeveil.cli import _attack_run, _attack_table, _attack_train
from gazeveil.cli._output import command_app

app = command_app(no_args_is_help=True)


@app.callback()
def attack() -> None:
    """Try to identify participants from protected gaze."""


app.add_typer(_attack_train.app, name="train")
app.command("run", epilog="Example: `gazeveil attack run --people 8 --seconds 30 --preset mpmu --attack wavelet`")(
    _attack_run.attack_run
)
app.command("table", epilog="Example: `gazeveil attack table`")(_attack_table.attack_table)
app.command("keep", epilog="Example: `gazeveil attack keep result.json --command 'gazeveil attack run …'`")(
    _attack_table.attack_keep
)
