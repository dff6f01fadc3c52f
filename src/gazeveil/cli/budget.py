# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil budget``: what is left of the budgets of a running gateway, and when it comes back."""

from __future__ import annotations

from gazeveil.cli.policy import Authority, Fingerprint, PolicyFile, print_if_shut
from gazeveil.gateway.client import ask
from gazeveil.terminal.printing import AsJson, command_app, print_json, print_table

app = command_app()


@app.command(epilog="Example: `gazeveil budget policy.toml`")
def budget(policy: PolicyFile, ca: Authority = None, fingerprint: Fingerprint = "", as_json: AsJson = False) -> None:
    """Show what is left of each participant's budget of 24 hours, and what comes back when.

    What was spent before is in the ledger: `gazeveil ledger`.
    """
    answer = ask(policy, "GET", "/v1/budget", ca=ca, fingerprint=fingerprint)
    if as_json:
        print_json(answer)
        return
    print_if_shut(answer)
    rows = [
        (
            one["participant"],
            one["epsilon_per_day"],
            one["remaining"],
            one["back"],
            f"{one['radius']:g} {one['unit']}",
            one["spent"],
        )
        for one in answer["budgets"]
    ]
    columns = ["participant", "ε in 24 h", "ε left", "comes back next", "radius", "why nothing is paid"]
    print_table("Budgets of any 24 hours", columns, rows)
