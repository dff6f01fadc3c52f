# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil live page``: open the control page of a running gateway."""

from __future__ import annotations

from typing import Annotated

import typer

from gazeveil.cli._browser import open_page
from gazeveil.cli._control import Authority, Fingerprint, PolicyFile, ask
from gazeveil.cli._output import AsJson, command_app, print_json

app = command_app()


@app.command(epilog="Example: `gazeveil live page policy.toml`")
def page(
    policy: PolicyFile,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the link.")] = False,
    ca: Authority = None,
    fingerprint: Fingerprint = "",
    as_json: AsJson = False,
) -> None:
    """Open the control page of a running gateway in the browser.

    The link works once, for ten minutes. With --json it is only printed.
    """
    told = ask(policy, "POST", "/v1/page/link", ca=ca, fingerprint=fingerprint)
    if as_json:
        print_json(told)
        return
    print(f"{told['url']}\n(works once, for ten minutes)")
    if not no_open and not open_page(told["url"]):
        print("no browser could be opened: open the link yourself")
