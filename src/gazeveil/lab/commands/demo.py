# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil demo``: the whole workflow on simulated participants."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gazeveil.terminal.printing import AsJson, command_app, print_json, progress

app = command_app()


@app.command(epilog="Example: `gazeveil demo --out demo`, then open demo/report.html")
def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the study and the report.")] = Path("demo"),
    participants: Annotated[int, typer.Option("--participants", help="How many participants.")] = 24,
    stimuli: Annotated[int, typer.Option("--stimuli", help="How many pictures they see.")] = 6,
    sessions: Annotated[int, typer.Option("--sessions", help="On how many days.")] = 2,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same report.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Simulate a small study and write a report with pictures."""
    from gazeveil.lab.demo import run_demo

    with progress("demo", quiet=as_json) as tell:
        result = run_demo(out, participants=participants, stimuli=stimuli, sessions=sessions, seed=seed, tell=tell)
    if as_json:
        print_json(result)
        return
    print(
        f"{result['participants']} simulated participants, {result['recordings']} recordings, "
        f"{result['samples']:,} samples"
    )
    print(
        f"fixations found by I-VT: {result['fixations']:,}; agreement with what the eyes really did: "
        f"kappa {result['kappa']:.2f}"
    )
    print(f"look at {result['report']}")
    command = sys.argv[0] if Path(sys.argv[0]).stem == "gazeveil" else "gazeveil"
    print(f"to try live gaze, with your mouse as the eye: {command} serve --demo")
