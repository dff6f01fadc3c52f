# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil verify``: check that a release is complete, unchanged and charged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazeveil.terminal.printing import EXIT_FINDING, AsJson, command_app, print_json

if TYPE_CHECKING:
    from gazeveil.release.verify import Verification


app = command_app()


@app.command(epilog="Example: `gazeveil verify forest --ledger ledger.sqlite --key key.pub.pem`")
def verify(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder of a release.")],
    ledger: Annotated[
        str | None, typer.Option("--ledger", help="The ledger that was charged: a file or postgresql://…")
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="An Ed25519 public key (PEM): the record must be signed with it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that a release is whole, unchanged and charged.

    The charge is looked up if a ledger is given. Exit code 1 if something is wrong.
    """
    from gazeveil.release.verify import verify as verify_release

    found = verify_release(release, ledger=ledger, key=key)
    if as_json:
        print_json(found.to_dict())
    else:
        for finding in found.findings:
            print(f"{finding.outcome:<10}{finding.check}{f': {finding.text}' if finding.text else ''}")
        print(_verdict(found))
    if not found.ok:
        raise typer.Exit(EXIT_FINDING)


def _verdict(found: Verification) -> str:
    if not found.ok:
        return f"{found.path} is not as it was released"
    rest = ", ".join(finding.check for finding in found.unchecked)
    return f"no fault was found in {found.path}" + (f"; not checked: {rest}" if rest else "")
