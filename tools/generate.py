# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Write the files that follow from the code: ``python -m tools.generate``.

The command line's catalogue is what help shows without importing what it names: first sentences come from docstrings of
commands, names from registries. The stub of ``gazeveil`` lists the public names. Tests compare both with what this
program would write.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "gazeveil"
WIDTH = 120
LICENCE = """# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""
HEAD = '''"""What help shows without importing what it names. Written by ``python -m tools.generate``; do not edit."""

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
    sentences = "".join(_entry(*item) for item in words().items())
    kinds = "".join(_entry(kind, " ".join(found)) for kind, found in names().items())
    about = '"""The names of every kind."""\n'
    parts = [
        f'WORDS: Final = {{\n{sentences}}}\n"""Each command\'s first sentence."""\n',
        f"_NAMES: Final = {{\n{kinds}}}\n",
        "NAMES: Final = {kind: tuple(names.split()) for kind, names in _NAMES.items()}\n" + about,
    ]
    return LICENCE + HEAD + "\n".join(parts)


def _entry(name: str, text: str) -> str:
    """Return an item of a dictionary as the formatter would write it."""
    whole = f"    {json.dumps(name)}: {json.dumps(text, ensure_ascii=False)},\n"
    if len(whole) <= WIDTH + 1:
        return whole
    lines = textwrap.wrap(text, WIDTH - 10, drop_whitespace=False, break_on_hyphens=False)
    inner = "".join(f"        {json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    return f"    {json.dumps(name)}: (\n{inner}    ),\n"


def stub() -> str:
    """Return the text of the public names' stub."""
    import gazeveil

    homes = [(*home.partition(":")[::2], name) for name, home in vars(gazeveil)["_HOME"].items()]
    lines = [f"from {home} import {there or name} as {name}\n" for home, there, name in sorted(homes)]
    listed = "".join(f'    "{name}",\n' for name in gazeveil.__all__)
    head = f"{LICENCE}# Written by `python -m tools.generate`; do not edit.\n\n"
    return f"{head}{''.join(lines)}\n__version__: str\n\n__all__ = [\n{listed}]\n"


FILES = {PACKAGE / "cli" / "_catalogue.py": catalogue, PACKAGE / "__init__.pyi": stub}


def main() -> None:
    """Write the files."""
    for file, text in FILES.items():
        file.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
