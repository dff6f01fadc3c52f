# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Opens the control page in a browser without showing its key to other users of the machine.

A browser's command line is there for all users to read. So it is given a file that its owner alone may read, and the
file leads to the link.
"""

from __future__ import annotations

import html
import webbrowser

from gazeveil.errors import GazeveilError
from gazeveil.files import write_private

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
