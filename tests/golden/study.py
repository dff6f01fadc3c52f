# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One small study for all golden folders: few participants, short recordings, a screen of eight by six degrees."""

from __future__ import annotations

import base64
import json
import shutil
import struct
import zlib
from pathlib import Path

import numpy as np

from tests.golden.doors import Recording, screen, write_corpus

PLANE = screen(800, 600, 80, 60, 573)
STIMULI = ("forest", "harbour")
PEOPLE = tuple(f"p{number:02}" for number in range(1, 9))
FEW = ("p01", "p02")
RATE, SECONDS = 50.0, 8.0

_SCREEN = """
[screen]
unit = "px"
width_px = 800
height_px = 600
width_mm = 80
height_mm = 60
distance_mm = 573
"""
_ROSTER = f"roster = {json.dumps(list(PEOPLE))}"
_HALVES = f"""
[recordings.groups]
{chr(10).join(f'{who} = "{("readers", "others")[number % 2]}"' for number, who in enumerate(PEOPLE))}
"""


def declaration(
    who: str = _ROSTER, *, recordings: str = "", groups: str = "", picture: str = "", more: str = ""
) -> str:
    """Return the declaration of the study."""
    shown = [
        f'[[stimuli]]\nname = "{name}"\nseconds = 8\n' + (picture if name == STIMULI[0] else "") for name in STIMULI
    ]
    said = recordings or 'rate_hz = 50\npupil_unit = "mm"'
    parts = ['format = "gazeveil-study"\nversion = 1\nname = "golden"\ndelta = "0.00001"', "[participants]", who]
    return "\n".join([*parts, "[recordings]", said, groups, _SCREEN, *shown, more])


GROUPS = "observer,group\n" + "".join(
    f"{who},{('readers', 'others')[number % 2]}\n" for number, who in enumerate(PEOPLE)
)
DECLARED = {
    "study.toml": declaration(),
    "many.toml": declaration("number = 400"),
    "number.toml": declaration("number = 40"),
    "secret.toml": declaration("number = 40\nsecret = true"),
    "groups.toml": declaration(groups=_HALVES),
    "paid.toml": declaration(
        more='[budget]\nledger = "ledger.sqlite"\naccount = "golden"\n'
        '[custody]\nholder = "the lab"\nplace = "a locked room"\naccess = "two people"\nuntil = "2030-01-01"\n'
    ),
    "lists.toml": declaration(recordings='fixations = ["start", "duration"]'),
}
AREAS = {
    "geometry": {
        "unit": "px",
        "width_px": 800.0,
        "height_px": 600.0,
        "width_mm": 80.0,
        "height_mm": 60.0,
        "distance_mm": 573.0,
    },
    "areas": [
        {"shape": "rectangle", "name": "left", "left": 0.0, "top": 0.0, "right": 400.0, "bottom": 600.0},
        {"shape": "rectangle", "name": "right", "left": 400.0, "top": 0.0, "right": 800.0, "bottom": 600.0},
    ],
}
DESIGN = Path(__file__).parent / "data" / "inputs" / "design.json"
"""The public design of series. It is kept, as its digest is in records and its last digits are those of one machine."""

_CLOCK = {"mechanism": "clock", "epsilon": 3, "window": 0.5, "radius": 40}
KEY = (
    "-----BEGIN PRIVATE KEY-----\n"
    f"{base64.b64encode(bytes.fromhex('302e020100300506032b657004220420') + bytes(range(32))).decode()}\n"
    "-----END PRIVATE KEY-----\n"
)
"""A key that signs nothing but golden copies: its bytes are 0 to 31."""

RECIPES = {
    "chain": {"mechanism": "chain", "members": [_CLOCK, {"mechanism": "kalman"}]},
    "rotate": {"mechanism": "rotate", "members": [_CLOCK, {**_CLOCK, "epsilon": 3}], "least": 0.6, "most": 0.9},
}
FEATURES = """
[features]
participant = "who"
order = "row"
rows = 6

[features.ranges]
"fix_ms" = { low = 80, high = 800, why = "made up" }
"amplitude" = { low = 0.1, high = 20, log = true, why = "made up" }
"""


def foreign() -> str:
    """Return the declaration of a table of features from elsewhere."""
    head = 'format = "gazeveil-study"\nversion = 1\nname = "table"\n[participants]\nnumber = 40\n'
    return head + FEATURES


def table(rng: np.random.Generator) -> str:
    """Return a table of features from elsewhere."""
    rows = [
        f"{who},{row},{rng.uniform(150, 350):.3f},{rng.uniform(1, 9):.3f}"
        for who in (f"s{number:02}" for number in range(40))
        for row in range(6)
    ]
    return "\n".join(["who,row,fix_ms,amplitude", *rows]) + "\n"


def picture() -> bytes:
    """Return a picture of a bright square on a slope of grey, as a PNG that no library packs in its own way."""
    width, height = 80, 60
    grey = np.add.outer(np.arange(height), np.arange(width)).astype(np.uint8)
    grey[20:35, 45:65] = 250
    pixels = b"".join(b"\0" + row.tobytes() for row in np.repeat(grey[:, :, None], 3, axis=2))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    stored = zlib.compress(pixels, 0)
    parts = [(b"IHDR", head), (b"IDAT", stored), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def somebody(rng: np.random.Generator, who: str, stimulus: str, seconds: float = SECONDS) -> Recording:
    """Return somebody who looked here and there, and who blinked."""
    count = int(seconds * RATE)
    places = rng.uniform((80, 80), (720, 520), (count // 14 + 1, 2))
    points = np.repeat(places, 14, axis=0)[:count] + rng.normal(0, 2, (count, 2))
    blinked = (np.arange(count) + int(rng.integers(100))) % 110 < 6
    pupil = np.where(blinked, np.nan, rng.uniform(2, 5, count))
    x, y = np.where(blinked, np.nan, points.T)
    return Recording(
        np.arange(count) / RATE,
        x,
        y,
        PLANE,
        observer=who,
        stimulus=stimulus,
        pupil=pupil,
        pupil_unit="mm",
        rate_hz=RATE,
        session="1",
        trial="1",
    )


def a_list(rng: np.random.Generator, who: str, stimulus: str) -> Recording:
    """Return somebody's list of fixations."""
    lasted = rng.uniform(0.1, 0.5, 20).round(3)
    x, y = rng.uniform((80, 80), (720, 520), (20, 2)).T
    return Recording(np.cumsum(lasted + 0.03) - lasted, x, y, PLANE, who, stimulus, trial="1", durations=lasted)


def build(folder: Path) -> Path:
    """Write everything that the commands of the scenarios read into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    write_corpus((somebody(rng, who, each) for who in PEOPLE for each in STIMULI), folder / "gaze")
    write_corpus((somebody(rng, who, STIMULI[0], 1.5) for who in FEW), folder / "few")
    write_corpus((a_list(rng, who, each) for who in PEOPLE for each in STIMULI), folder / "lists")
    write_corpus((somebody(rng, f"q{each:02}", STIMULI[0]) for each in range(12)), folder / "public")
    for name, text in {**DECLARED, "foreign.toml": foreign(), "table.csv": table(rng), "groups.csv": GROUPS}.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "areas.json").write_text(json.dumps(AREAS, indent=2), encoding="utf-8")
    (folder / "key.pem").write_text(KEY, encoding="ascii")
    np.save(folder / "prior.npy", np.outer(np.arange(1.0, 7.0), np.arange(8.0, 0.0, -1.0)))
    (folder / "pictures").mkdir()
    for name in ("scene.png", f"pictures/{STIMULI[0]}.png"):
        (folder / name).write_bytes(picture())
    shutil.copy(DESIGN, folder / "design.json")
    for name, recipe in RECIPES.items():
        (folder / f"{name}.json").write_text(json.dumps(recipe), encoding="utf-8")
    (folder / "weights.toml").write_text("[weights]\nforest = 2\nharbour = 1\n", encoding="utf-8")
    return folder
