# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Microseconds a sample: the veils of gazeveil.js in Chromium, with WebCrypto's randomness.

The peer is the aim itself, 5 µs a sample. A row has the best of five rounds of 100,000 samples; the notes say how long
the first round took, before the browser had compiled the code, and how long a veil takes to start.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gazeveil
from benchmarks.harness import Row
from tests.page.browser import opened_browser, opened_page

MODULE = Path(gazeveil.__file__).parent / "gateway" / "web" / "gazeveil.js"
SAMPLES = 100_000
AIM_US = 5.0
SPACE = {"kind": "screen", "width": 1920, "height": 1080, "pixels_per_degree": 37.5}
KALEIDO: dict[str, Any] = {"mechanism": "clock", "epsilon": "1.5", "window": "1.5", "radius": "60px"}
VEILS: dict[str, dict[str, Any]] = {
    "clock": KALEIDO,
    "clock, looking back 0.25 s": {**KALEIDO, "lag": 0.25},
    "gaussian": {"mechanism": "gaussian", "sigma": 1.0},
    "temporal": {"mechanism": "temporal"},
    "spatial": {"mechanism": "spatial"},
    "smoothing": {"mechanism": "smoothing"},
}
_TIME = """async ([recipe, samples]) => {
  const { startVeil } = await import("/gazeveil.js");
  const begun = performance.now();
  const veil = startVeil(recipe);
  const started = performance.now() - begun;
  const rounds = [];
  let [t, sum] = [0, 0];
  for (let round = 0; round < 5; round++) {
    const since = performance.now();
    for (let i = 0; i < samples; i++) {
      const [x, y] = veil.step((t += 1 / 120), 900 + (i % 97), 500 - (i % 89));
      sum += x + y; // or the browser would see that nobody looks, and leave work out
    }
    rounds.push((performance.now() - since) / 1000);
  }
  return { started, rounds, sum };
}"""


def run() -> list[Row]:
    rows = []
    with opened_browser() as browser, opened_page(browser) as (page, _):
        page.route("**/*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
        page.route("**/gazeveil.js", lambda route: route.fulfill(path=MODULE, content_type="text/javascript"))
        page.goto("http://127.0.0.1/")
        for name, recipe in VEILS.items():
            told = page.evaluate(_TIME, [{**recipe, "space": SPACE}, SAMPLES])
            ours, first = min(told["rounds"]), told["rounds"][0]
            each, cold = 1e6 * ours / SAMPLES, 1e6 * first / SAMPLES
            note = f"{each:.2f} µs a sample (first round {cold:.2f}); starts in {told['started']:.0f} ms"
            aim = AIM_US * 1e-6 * SAMPLES
            rows.append(Row(f"{name} in a page", "5 µs a sample", ours, aim, 1.0, SAMPLES, "samples", note))
    return rows
