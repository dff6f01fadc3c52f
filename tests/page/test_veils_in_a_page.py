# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""gazeveil.js in a real browser: served by the gateway, its veils ask nobody, its client gets an app's veiled gaze."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import mechanism_from_dict
from tests.page.browser import opened_page
from tests.page.running import Running

pytestmark = pytest.mark.timeout(300)
CLOCK = {
    "mechanism": "clock", "space": {"kind": "screen", "width": 1920, "height": 1080},
    "epsilon": "1.5", "window": "1.5", "radius": "60px", "lag": 0.25,
}  # fmt: skip
VEIL = """async ([recipe, t, x, y]) => {
  const { NoiseSource, startVeil } = await import("/gazeveil.js");
  const requests = [];
  new PerformanceObserver((list) => requests.push(...list.getEntries())).observe({ type: "resource" });
  const veil = startVeil(recipe, await NoiseSource.seeded(11));
  const shown = t.map((now, i) => veil.step(now, x[i], y[i]));
  const own = startVeil(recipe);
  const begun = performance.now();
  for (let i = 0; i < 20000; i++) own.step(i / 120, 500, 400);
  const each = (performance.now() - begun) / 20;
  return { shown, each, requests: requests.length, guarantee: own.guarantee.text };
}"""
CONNECT = """(port) => new Promise(async (done) => {
  const { connect } = await import("/gazeveil.js");
  const seen = { samples: [], states: [] };
  const line = connect(`ws://127.0.0.1:${port}`, {
    hello: (hello) => (seen.promise = hello.promise),
    state: (state) => { seen.states.push(state); if (state === "closed") done(seen); },
    sample: (sample) => { if (seen.samples.push(sample) === 5) line.close(); },
  });
})"""


def test_a_veil_in_the_browser_is_pythons_and_makes_no_request(browser: Any, gateway: Running) -> None:
    rng = np.random.default_rng(2)
    t = np.arange(1500) / 60
    x, y = rng.uniform(0, 1920, len(t)), rng.uniform(0, 1080, len(t))
    with opened_page(browser) as (page, seen):
        page.goto(gateway.address)
        page.evaluate("import('/gazeveil.js')")
        seen.paths.clear()
        told = page.evaluate(VEIL, [CLOCK, t.tolist(), x.tolist(), y.tolist()])
        assert told["requests"] == 0
        assert seen.paths in ([], ["/favicon.ico"])
    shown = mechanism_from_dict(CLOCK).start(NoiseSource.seeded(11)).run(t, x, y)
    assert np.abs(np.array(told["shown"]) - np.column_stack(shown)).max() < 1e-9
    assert told["guarantee"].startswith("This veil runs in a web page")
    assert told["each"] < 1000  # µs: the benchmark `page_veils` says how fast it is; a busy machine is no failure


def test_the_client_gets_what_the_gateway_shows_an_app(browser: Any, gateway: Running) -> None:
    with opened_page(browser) as (page, _):
        page.goto(gateway.address)
        told = page.evaluate(CONNECT, gateway.ports["targets"])
    assert told["states"] == ["connecting", "open", "closed"]
    assert "factor of at most" in told["promise"] or "ε" in told["promise"]
    assert [set(sample) for sample in told["samples"]] == [{"t", "x", "y", "unit", "valid"}] * 5
