# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Write what the command line shows without importing what it speaks of: ``python -m tools.write_catalogue``.

The first sentences of commands come from their docstrings, names from registries. A test compares the file with what
this program would write.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from pathlib import Path

FILE = Path(__file__).parents[1] / "src" / "gazeveil" / "cli" / "_catalogue.py"
HEAD = '''# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What help shows without importing what it names. Written by ``python -m tools.write_catalogue``; do not edit."""

from __future__ import annotations

from typing import Final

'''


def words() -> dict[str, str]:
    """Return the first sentence of every command's own help."""
    from gazeveil.cli._program import LAB, PANELS, load

    names = [*(name for panel in PANELS.values() for name in panel if name != "lab"), *LAB]
    return {name: " ".join(str(load(name).help).split("\n\n")[0].split()) for name in names}


def names() -> dict[str, tuple[str, ...]]:
    """Return the names of every kind of thing that an option takes by its name."""
    from gazeveil.aggregate.aoi import STATISTICS
    from gazeveil.aggregate.map_view import MAP_VIEWS
    from gazeveil.aggregate.strategy import STRATEGIES
    from gazeveil.cli.plan import PLANNERS
    from gazeveil.features.series import SERIES_MECHANISMS
    from gazeveil.gateway.bridge import BRIDGES
    from gazeveil.gateway.protocol import PROTOCOLS
    from gazeveil.gaze.events import DETECTORS
    from gazeveil.gaze.formats.base import FORMATS, WritableFormat
    from gazeveil.lab.attacks.contract import ATTACKS, RECOGNISERS
    from gazeveil.lab.commands._usefulness import PRODUCTS
    from gazeveil.lab.experiments.dataset_attacks.worlds import TARGETS
    from gazeveil.lab.experiments.usefulness._heatmap_scenes import Split
    from gazeveil.release.products.veiled_recordings import WHOLE
    from gazeveil.samples.mechanism import MECHANISMS
    from gazeveil.samples.mechanisms.edge import RULES
    from gazeveil.samples.presets import PRESETS
    from gazeveil.scene.finder import FINDERS
    from gazeveil.simulate.tracker import TRACKERS
    from gazeveil.unit import Unit

    kinds: dict[str, Iterable[str]] = {
        "attack": ATTACKS.names(),
        "audit method": ["auto", "exact", "sampling"],
        "bridge": BRIDGES.names(),
        "detector": DETECTORS.names(),
        "edge": RULES,
        "eye": ["both", "left", "right"],
        "eyes": ["drop", "same"],
        "finder": FINDERS.names(),
        "forecast": PRODUCTS,
        "format": FORMATS.names(),
        "level": ["lphu", "mpmu", "hplu", "off"],
        "mechanism": MECHANISMS.names(),
        "preset": PRESETS,
        "product": PLANNERS,
        "protocol": [name for name in PROTOCOLS.names() if PROTOCOLS[name].sink is not None],
        "radius unit": list(Unit),
        "recogniser": RECOGNISERS.names(),
        "series mechanism": ["group", "low-rank", *SERIES_MECHANISMS.names()],
        "shapes": ["cosines", "haar"],
        "split": list(Split),
        "statistic": STATISTICS.names(),
        "strategies": MAP_VIEWS,
        "strategy": ["auto", *STRATEGIES.names()],
        "target": TARGETS,
        "time unit": ["s", "ms", "us", "ns"],
        "tracker": TRACKERS.names(),
        "veiled format": WHOLE,
        "written format": [name for name in FORMATS.names() if isinstance(FORMATS[name], WritableFormat)],
    }
    return {kind: tuple(map(str, found)) for kind, found in kinds.items()}


def catalogue() -> str:
    """Return the text of the file."""
    sentences = "".join(f"    {json.dumps(name)}: {_literal(text)},\n" for name, text in words().items())
    kinds = "".join(f"    {json.dumps(kind)}: {_literal(' '.join(found))},\n" for kind, found in names().items())
    about = '"""The names of every kind."""\n'
    parts = [
        f'WORDS: Final = {{\n{sentences}}}\n"""Each command\'s first sentence."""\n',
        f"_NAMES: Final = {{\n{kinds}}}\n",
        "NAMES: Final = {kind: tuple(names.split()) for kind, names in _NAMES.items()}\n" + about,
    ]
    return HEAD + "\n".join(parts)


def _literal(text: str) -> str:
    lines = textwrap.wrap(text, 108, drop_whitespace=False, break_on_hyphens=False)
    if len(lines) == 1:
        return json.dumps(text, ensure_ascii=False)
    return "".join(["(\n", *(f"        {json.dumps(line, ensure_ascii=False)}\n" for line in lines), "    )"])


def main() -> None:
    """Write the file."""
    FILE.write_text(catalogue(), encoding="utf-8")


if __name__ == "__main__":
    main()
