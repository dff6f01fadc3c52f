# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the keyframe detector's threshold does: a table of docs/results.md (``python -m benchmarks.keyframe_rule``).

Made-up films of six kinds of content: cuts between any two kinds, looks at one scene with noise, with something that
moves in it, and with compression. Each rule says "new scene" or not; the table says how often it is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from gazeveil.scene.frames import Pixels
from gazeveil.scene.keyframes import Change, KeyframeDetector, KeyframeRule
from gazeveil.simulate.stimuli import clouds, page, painted

WIDTH, HEIGHT = 320, 180
SEEDS = 12
Rule = Callable[[Change, float], bool]
"""From a change, and the share that must differ at least, to whether a scene begins."""

KINDS: dict[str, Callable[[int], Pixels]] = {
    "painted": lambda seed: painted(seed, WIDTH, HEIGHT),
    "page": lambda seed: page(seed, WIDTH, HEIGHT),
    "clouds": lambda seed: clouds(seed, WIDTH, HEIGHT),
    "faint": lambda seed: clouds(seed, WIDTH, HEIGHT, contrast=0.25),
    "dark": lambda seed: clouds(seed, WIDTH, HEIGHT) // 6,
    "letterboxed": lambda seed: np.pad(clouds(seed, WIDTH, 120), ((30, 30), (0, 0), (0, 0))),
}


def noisy(picture: NDArray[Any], noise: float, rng: np.random.Generator) -> Pixels:
    return np.clip(picture + noise * rng.standard_normal(picture.shape), 0, 255).astype(np.uint8)


def compressed(picture: Pixels, quality: int) -> Pixels:
    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR))


def with_a_ball(picture: Pixels, look: int) -> Pixels:
    """A ball of a twentieth of the frame, which moves."""
    left = 20 + 60 * look
    return np.asarray(cv2.circle(picture.copy(), (left + 40, 90), 30, (230, 60, 40), -1))


def looks() -> Iterator[tuple[str, list[Pixels]]]:
    """Yield what happens, and three looks: two at a scene, and the one that counts."""
    rng = np.random.default_rng(1)
    for seed in range(SEEDS):
        for before, make in KINDS.items():
            picture = make(seed)
            quiet = [noisy(picture, 4, rng) for _ in range(2)]
            for after, other in KINDS.items():
                kind = "cut, same kind" if before == after else "cut, other kind"
                yield kind, [*quiet, noisy(other(seed + 100), 4, rng)]
            for noise in (4, 12, 30):
                yield f"noise {noise}", [noisy(picture, noise, rng) for _ in range(3)]
            yield "a ball moves", [with_a_ball(each, look) for look, each in enumerate([*quiet, quiet[1]])]
            yield "compression", [compressed(noisy(picture, 4, rng), quality) for quality in (90, 90, 30)]


def by_share(share: float) -> Rule:
    return lambda change, least: change.share > share


def by_agreement(agreement: float) -> Rule:
    return lambda change, least: change.share >= least and change.agreement < agreement


def changes() -> dict[str, list[tuple[Change, float]]]:
    """Return what the detector sees of each pair, and the share that must differ at least."""
    found: dict[str, list[tuple[Change, float]]] = {}
    for kind, frames in looks():
        detector = KeyframeDetector()
        for look, frame in enumerate(frames):
            detector.add_frame(look / 2, frame)
        assert detector.change is not None
        found.setdefault(kind, []).append((detector.change, detector.rule.least(107 * 60)))
    return found


def false_alarms() -> str:
    """Look at noise alone in small frames, where it is largest against what a cell averages."""
    rng, found, count = np.random.default_rng(7), 0, 0
    for width, height, noise, times in (
        (64, 36, 25, 12_000),
        (24, 18, 15, 20_000),
        (160, 90, 30, 3_000),
        (9, 9, 10, 30_000),
    ):
        for picture in (rng.integers(60, 190, (height, width, 3)), np.full((height, width, 3), 128)):
            detector = KeyframeDetector()
            keyframes = [detector.add_frame(look / 2, noisy(picture, noise, rng)) for look in range(times // 2)]
            found += sum(keyframe is not None for keyframe in keyframes) - 1
            count += times // 2
    return f"noise alone: {found} keyframes in {count:,} looks"


def dense_page(seed: int, width: int, height: int, lines: int) -> Pixels:
    """A page that is all text; pages of other seeds have other words in the same lines."""
    rng = np.random.default_rng(seed)
    page_ = np.full((height, width, 3), 250, np.uint8)
    line = height / lines
    for number in range(2, lines - 2):
        left, top = round(0.1 * width), round(number * line)
        while left < 0.9 * width:
            for _ in range(int(rng.integers(2, 10))):
                rise = round(float(rng.uniform(0, 0.2)) * line)
                page_[top + rise : top + round(0.7 * line), left : left + max(round(0.25 * line), 1)] = 30
                left += max(round(0.5 * line), 1)
            left += round(0.4 * line) + 1
    return page_


def page_turns(width: int, height: int) -> str:
    """Turn pages that differ in their words alone."""
    found = []
    for lines in (20, 30, 45):
        for seed in range(3):
            detector = KeyframeDetector()
            for look, turned in enumerate((0, 0, 50)):
                detector.add_frame(look / 2, dense_page(seed + turned, width, height, lines))
            assert detector.change is not None
            found.append(detector.change.agreement)
    return f"turned pages of {width} x {height}: agreement from {min(found):.2f} to {max(found):.2f}"


def main() -> None:
    seen = changes()
    rules = {f"plain: {share:.0%} of the frame differs": by_share(share) for share in (0.02, 0.1, 0.3, 0.5)}
    for agreement in (0.3, 0.4, 0.5, 0.6, 0.7):
        ours = " (ours)" if agreement == KeyframeRule().agreement else ""
        rules[f"agreement below {agreement:g}{ours}"] = by_agreement(agreement)
    print(f"| rule: new scenes found in | {' | '.join(seen)} |")
    print("|---|" + "---|" * len(seen))
    for name, rule in rules.items():
        counts = [f"{sum(rule(*each) for each in each_look)} of {len(each_look)}" for each_look in seen.values()]
        print(f"| {name} | {' | '.join(counts)} |")
    for kind, each_look in seen.items():
        values = [change.agreement for change, _ in each_look]
        print(f"{kind}: agreement from {min(values):.2f} to {max(values):.2f}")
    print(page_turns(1920, 1080), page_turns(320, 180), false_alarms(), sep="\n")


if __name__ == "__main__":
    main()
