# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil budget``: what is left of today's budgets of a running gateway."""

from __future__ import annotations

from gazeveil.cli._control import Authority, Fingerprint, PolicyFile, ask, print_shut
from gazeveil.cli._output import AsJson, command_app, print_json, print_table

app = command_app()


@app.command(epilog="Example: `gazeveil budget policy.toml`")
def budget(policy: PolicyFile, ca: Authority = None, fingerprint: Fingerprint = "", as_json: AsJson = False) -> None:
    """Show what each participant spent today, and what is left.

    Past days are in the ledger: `gazeveil ledger`.
    """
    told = ask(policy, "GET", "/v1/budget", ca=ca, fingerprint=fingerprint)
    if as_json:
        print_json(told)
        return
    print_shut(told)
    rows = [
        (one["person"], one["epsilon_per_day"], one["remaining"], f"{one['radius']:g} {one['unit']}", one["spent"])
        for one in told["budgets"]
    ]
    print_table("Budgets of today (UTC)", ["person", "ε a day", "ε left", "radius", "why nothing is paid"], rows)
