# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""An app on a WebSocket that keeps every byte, for as long as a test runs."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np


class Listener:
    """Connects as an app, again and again if it must, and keeps what it hears."""

    def __init__(self, port: int) -> None:
        self.heard: list[str] = []
        self._port, self._over = port, threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        from websockets.exceptions import ConnectionClosed
        from websockets.sync.client import connect

        while not self._over.wait(0.05):
            with contextlib.suppress(OSError, ConnectionClosed), connect(f"ws://127.0.0.1:{self._port}") as socket:
                while not self._over.is_set():
                    with contextlib.suppress(TimeoutError):
                        self.heard.append(str(socket.recv(timeout=0.2)))

    def close(self) -> None:
        """Hang up."""
        self._over.set()
        self._thread.join()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Everything heard so far."""
        return [json.loads(text) for text in list(self.heard)]

    def steps(self, last: int) -> np.ndarray:
        """Return how far the last points lay apart, as shares of the screen."""
        points = [(one["x"], one["y"]) for one in self.messages if one.get("valid")][-last:]
        across, down = np.diff(np.array(points).reshape(-1, 2), axis=0).T
        return np.asarray(np.hypot(across, down))


@contextlib.contextmanager
def listening(port: int) -> Iterator[Listener]:
    """Listen until the block ends."""
    app = Listener(port)
    try:
        yield app
    finally:
        app.close()
