# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.page.screenshots``: the pictures of the control page in the documentation, of a real gateway."""

from __future__ import annotations

import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

from gazeveil.scene.frames import encode_png
from tests.page.browser import opened_browser, opened_page
from tests.page.listener import listening
from tests.page.running import POLICY, Running, running

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
PATIENCE_MS = 180_000
WIDE = {"viewport": {"width": 1440, "height": 1000}, "reduced_motion": "no-preference"}
LOOKS: dict[str, dict[str, Any]] = {
    "control-page": WIDE,
    "control-page-dark": WIDE | {"color_scheme": "dark"},
    "control-page-phone": WIDE | {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2},
}


def stimulus() -> bytes:
    """Return a picture that looks like a news page from afar."""
    page = np.full((540, 960, 3), 246, np.uint8)
    page[:44] = (38, 52, 92)
    page[70:300, 40:520] = (196, 212, 226)
    rows, columns = np.ogrid[:230, :480]
    page[70:300, 40:520][(rows - 150) ** 2 + (columns - 170) ** 2 < 70**2] = (226, 148, 84)
    page[70:300, 40:520][(rows > 170) & (np.abs(columns - 360) < (rows - 120))] = (84, 138, 102)
    for top in range(330, 500, 20):
        page[top : top + 8, 40 : 520 - 37 * (top % 3)] = (96, 98, 112)
    for left in (560, 760):
        page[70:190, left : left + 160] = (214, 196, 214) if left == 560 else (190, 218, 206)
        for top in range(210, 300, 18):
            page[top : top + 7, left : left + 150 - 23 * (top % 4)] = (110, 112, 126)
    page[340:480, 560:920] = (232, 222, 190)
    page[370:388, 590:800] = (120, 92, 40)
    page[404:412, 590:860] = page[424:432, 590:830] = (120, 112, 92)
    return encode_png(page)


def push(gateway: Running, picture: bytes) -> None:
    """Show a picture to the gateway as the scene of its first tracker."""
    token = (gateway.folder / "scene.token").read_text().strip()
    request = urllib.request.Request(
        f"{gateway.address}v1/trackers/desk/scene/frame", data=picture, headers={"Authorization": f"Bearer {token}"}
    )
    urllib.request.urlopen(request, timeout=30).close()


def shown(page: Any, gateway: Running) -> None:
    """Wait until everything is there that a picture should show."""
    page.click("#raw-toggle")
    page.locator("#undone-summary").filter(has_text="points per second").wait_for(timeout=PATIENCE_MS)
    push(gateway, stimulus())
    page.locator("#scene-line").filter(has_text="of interest").wait_for(timeout=PATIENCE_MS)
    page.wait_for_timeout(9000)


def main() -> int:
    """Take the pictures."""
    policy = POLICY.replace(
        'sources = ["mouse"]\n', 'sources = ["mouse"]\nscene = {{ source = "push", token_file = "scene.token" }}\n', 1
    ).replace('veil = {{ preset = "mpmu" }}', 'veil = {{ preset = "mpmu" }}\nlevels = ["lphu", "mpmu", "hplu"]', 1)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), policy) as gateway, opened_browser() as browser:
        gateway.ask("v1/apps/targets/tags", {"tags": ["demo"]})
        gateway.ask("v1/apps/study/tags", {"tags": ["lab", "pilot"]})
        with listening(gateway.ports["targets"]):
            for name, look in LOOKS.items():
                with opened_page(browser, gateway.link(), **look) as (page, _):
                    shown(page, gateway)
                    page.screenshot(path=IMAGES / f"{name}.png")
                    if name == "control-page":
                        page.locator("#demo-apps").scroll_into_view_if_needed()
                        page.wait_for_timeout(3000)
                        page.locator("#demo-apps").screenshot(path=IMAGES / "control-page-demo-apps.png")
                        page.evaluate("scrollTo(0, 0)")
                        page.click("#open-guide")
                        page.wait_for_selector("#guide h3")
                        for _ in range(3):
                            page.click("#guide-next")
                        page.wait_for_timeout(300)
                        page.screenshot(path=IMAGES / "control-page-guide.png")
                print(f"wrote {name}.png", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
