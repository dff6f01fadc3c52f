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

PATIENCE_S = 60.0


class Listener:
    """Connects as an app, again and again if it must, and keeps what it hears."""

    def __init__(self, port: int) -> None:
        self.heard: list[str] = []
        self._more = threading.Condition()
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
                        text = str(socket.recv(timeout=0.2))
                        with self._more:
                            self.heard.append(text)
                            self._more.notify_all()

    def hear(self, n: int) -> None:
        """Wait until so many more messages came."""
        with self._more:
            enough = len(self.heard) + n
            assert self._more.wait_for(lambda: len(self.heard) >= enough, PATIENCE_S), self.heard[-3:]

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
