# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A link to a tracker over ZeroMQ ends when it is told to, however busy the tracker is."""

from __future__ import annotations

import asyncio
import io

import pytest

from gazeveil.gateway.logs import log_to
from gazeveil.gateway.meters import Meters
from gazeveil.gateway.protocols.pupil import PupilSource
from gazeveil.gateway.sample import RawSample
from tests.gateway.loopback import SCREEN

for _package in ("zmq", "msgspec"):
    pytest.importorskip(_package)


def test_a_link_that_is_cancelled_while_gaze_pours_in_ends() -> None:
    import msgspec
    import zmq

    from gazeveil.gateway.messages import PupilLink

    gaze = msgspec.msgpack.encode({"norm_pos": [0.5, 0.5], "confidence": 1.0, "timestamp": 1.0})

    async def run() -> None:
        loop = asyncio.get_running_loop()
        with zmq.asyncio.Context() as context, context.socket(zmq.REP) as requests, context.socket(zmq.PUB) as data:
            port = requests.bind_to_random_port("tcp://127.0.0.1")
            data_port = data.bind_to_random_port("tcp://127.0.0.1")

            async def answer() -> None:
                while True:
                    await requests.recv()
                    await requests.send(b"%d" % data_port)

            async def pour() -> None:
                while True:
                    for _ in range(20):
                        await data.send_multipart([b"gaze.", gaze])
                    await asyncio.sleep(0.001)

            def came(samples: list[RawSample], now: float) -> None:
                if not arrived.done():
                    arrived.set_result(None)

            helpers = [asyncio.create_task(answer()), asyncio.create_task(pour())]
            for number in range(30):
                arrived: asyncio.Future[None] = loop.create_future()
                link = PupilLink(
                    lambda: PupilSource(SCREEN), "127.0.0.1", port,
                    name="desk", push=came, lost=lambda why: None, meter=Meters().trackers["desk"],
                    log=log_to(io.StringIO()),
                )  # fmt: skip
                task = asyncio.create_task(link.run())
                await asyncio.wait([arrived], timeout=20)
                assert arrived.done()
                await asyncio.sleep(0.0013 * (number % 10))
                task.cancel()
                _, going_on = await asyncio.wait([task], timeout=5)
                assert not going_on, f"it goes on after {number + 1} tries"
                assert task.cancelled()
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)

    import zmq.asyncio

    asyncio.run(run())
