# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil page``: open the control page of a running gateway in the browser.

A browser's command line is there for all users to read. So it is given a file that its owner alone may read, and the
file leads to the link.
"""

from __future__ import annotations

import html
import webbrowser
from typing import Annotated

import typer

from gazeveil.cli.policy import Authority, Fingerprint, PolicyFile
from gazeveil.errors import GazeveilError
from gazeveil.files import write_private
from gazeveil.gateway.client import ask
from gazeveil.terminal.printing import AsJson, command_app, print_json

app = command_app()

_LEADS = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<title>gazeveil</title><meta http-equiv="refresh" content="0; url={link}"></head>
<body><p><a href="{link}" rel="noreferrer">The control page</a></p></body></html>
"""


def open_page(link: str) -> bool:
    """Open a link that works once; return whether a browser was found."""
    from gazeveil.privacy.ledger import state_folder

    try:
        path = state_folder() / "page.html"
        write_private(path, _LEADS.format(link=html.escape(link, quote=True)))
        return webbrowser.open(path.as_uri())
    except (GazeveilError, OSError, webbrowser.Error):
        return False


@app.command(epilog="Example: `gazeveil page policy.toml`")
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
    answer = ask(policy, "POST", "/v1/page/link", ca=ca, fingerprint=fingerprint)
    if as_json:
        print_json(answer)
        return
    print(f"{answer['url']}\n(works once, for ten minutes)")
    if not no_open and not open_page(answer["url"]):
        print("no browser could be opened: open the link yourself")
