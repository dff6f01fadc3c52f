# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""gazeveil.js in a real browser: its veils are Python's, and ask nobody. `test_page_parts` has its client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gazeveil
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import mechanism_from_dict
from tests.page.browser import opened_page

pytestmark = pytest.mark.timeout(300)
MODULE = Path(gazeveil.__file__).parent / "gateway" / "web" / "gazeveil.js"
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
  for (let i = 0; i < 5000; i++) own.step(i / 120, 500, 400);
  return { shown, requests: requests.length, guarantee: own.guarantee.text };
}"""


def test_a_veil_in_the_browser_is_pythons_and_makes_no_request(browser: Any) -> None:
    rng = np.random.default_rng(2)
    t = np.arange(1500) / 60
    x, y = rng.uniform(0, 1920, len(t)), rng.uniform(0, 1080, len(t))
    with opened_page(browser) as (page, seen):
        page.route("**/*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
        page.route("**/gazeveil.js", lambda route: route.fulfill(path=MODULE, content_type="text/javascript"))
        page.goto("http://127.0.0.1/")
        page.evaluate("import('/gazeveil.js')")
        seen.paths.clear()
        told = page.evaluate(VEIL, [CLOCK, t.tolist(), x.tolist(), y.tolist()])
        assert told["requests"] == 0
        assert seen.paths in ([], ["/favicon.ico"])
    shown = mechanism_from_dict(CLOCK).start(NoiseSource.seeded(11)).run(t, x, y)
    assert np.abs(np.array(told["shown"]) - np.column_stack(shown)).max() < 1e-9
    assert told["guarantee"].startswith("This veil runs in a web page")
