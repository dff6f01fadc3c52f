# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Over ZeroMQ: a link to a tracker ends when it is told to, and an outlet suits a demanding client."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import pytest

from gazeveil.gateway.protocol import PROTOCOLS, StreamFacts
from gazeveil.gateway.protocols.pupil import PupilSource
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.telemetry import Meters, log_to
from gazeveil.testing import veiled_sample
from tests.gateway.loopback import SCREEN

for _package in ("zmq", "msgspec"):
    pytest.importorskip(_package)


def test_a_link_that_is_cancelled_while_gaze_pours_in_ends() -> None:
    import msgspec
    import zmq

    from gazeveil.gateway.message_transports import PupilLink

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


def test_an_outlet_leads_the_conversation_that_psychopys_plugin_expects() -> None:
    """G4: a calibration ends, and a point on the surface names gaze that has come before, with pupils in it."""
    import msgspec
    import zmq
    import zmq.asyncio

    from gazeveil.gateway.message_transports import PupilOutlet

    async def run() -> None:
        shown = StreamFacts(SCREEN, name="psychopy", shown_as="psychopy_iohub_surface", blank_pupils=True)
        outlet = PupilOutlet(PROTOCOLS["pupil"], shown, Meters(), log_to(io.StringIO()))
        await outlet.listen("127.0.0.1", 0)
        with zmq.asyncio.Context() as context, context.socket(zmq.REQ) as requests, context.socket(zmq.SUB) as data:
            requests.connect(f"tcp://127.0.0.1:{outlet.port}")

            async def ask(what: bytes) -> bytes:
                await requests.send(what)
                return await requests.recv()

            async def hear() -> tuple[str, dict[str, Any]]:
                topic, packed = await data.recv_multipart()
                return topic.decode(), msgspec.msgpack.decode(packed)

            data.connect(f"tcp://127.0.0.1:{int(await ask(b'SUB_PORT'))}")
            for topic in (b"notify.calibration", b"gaze.3d.", b"surfaces.psychopy_iohub_surface"):
                data.subscribe(topic)
            while not outlet.is_watched:
                await asyncio.sleep(0.01)
                outlet.tick(0.0)
            assert await ask(b"C") == b"OK"
            assert (await hear())[0] == "notify.calibration.successful"
            told = float(await ask(b"t"))
            outlet.show(veiled_sample(3.0, 480.0, 270.0))
            (gaze_topic, gaze), (_, surface) = await hear(), await hear()
            (point,) = surface["gaze_on_surfaces"]
            assert point["base_data"] == [gaze_topic, gaze["timestamp"]]
            assert [pupil["id"] for pupil in gaze["base_data"]] == [0, 1]
            assert 0.0 <= gaze["timestamp"] - told < 60.0
        await outlet.close("the test is over")

    asyncio.run(asyncio.wait_for(run(), 60))
