# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Ports for tests: free, and another one each time."""

from __future__ import annotations

import socket

_GIVEN: set[int] = set()
"""What was given already: the system may hand out a port again as soon as its probe is closed."""


def free_port() -> int:
    """Return a port on which nobody listens, and which no other call in this process got."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port not in _GIVEN:
            _GIVEN.add(port)
            return port
