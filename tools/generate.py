# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Write the files that follow from the code: ``python -m tools.generate``.

The command line's catalogue is what help shows without importing what it names: first sentences come from docstrings of
commands, names from registries. The stub of ``gazeveil`` lists the public names. Tests compare both with what this
program would write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gazeveil.options import Setting, settings_of

PACKAGE = Path(__file__).parents[1] / "src" / "gazeveil"
LICENCE = """# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""


def words() -> dict[str, str]:
    """Return the first sentence of every command's own help."""
    from gazeveil.cli._program import LAB, PANELS, load

    names = [*(name for panel in PANELS.values() for name in panel if name != "lab"), *LAB]
    return {name: " ".join(str(load(name).help).split("\n\n")[0].split()) for name in names}


def names() -> dict[str, list[str]]:
    """Return the names of every kind of thing that an option takes by its name."""
    from gazeveil.aggregate.aoi import STATISTICS
    from gazeveil.aggregate.map_features import MAP_VIEWS
    from gazeveil.aggregate.strategy import STRATEGIES
    from gazeveil.cli.plan import PLANNERS
    from gazeveil.features.series import SERIES_MECHANISMS
    from gazeveil.gateway.bridge import BRIDGES
    from gazeveil.gateway.protocol import PROTOCOLS
    from gazeveil.gaze.events import DETECTORS
    from gazeveil.gaze.formats.base import FORMATS, WritableFormat
    from gazeveil.geometry import Unit
    from gazeveil.lab.attacks.contract import ATTACKS, RECOGNISERS
    from gazeveil.lab.commands._usefulness import PRODUCTS
    from gazeveil.lab.experiments.dataset_attacks import TARGETS
    from gazeveil.lab.experiments.heatmap_scenes import Split
    from gazeveil.release.products.recordings import WHOLE
    from gazeveil.samples.mechanism import MECHANISMS
    from gazeveil.samples.mechanisms.edge import RULES
    from gazeveil.samples.recipes import PRESETS
    from gazeveil.scene.regions import FINDERS
    from gazeveil.simulate.tracker import TRACKERS

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
    return {kind: list(map(str, found)) for kind, found in kinds.items()}


def settings() -> dict[str, list[Setting]]:
    """Return what users set of the mechanisms of every product, each setting once."""
    from gazeveil.aggregate.aoi.mechanism import AoiStatistics
    from gazeveil.aggregate.aoi.statistics import STATISTICS
    from gazeveil.aggregate.heatmap import PrivateHeatmap
    from gazeveil.aggregate.movie import HeatmapMovie
    from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps
    from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism
    from gazeveil.features.series_release import ParticipantRelease
    from gazeveil.samples.recordings import VeiledRecordings
    from gazeveil.samples.stream import StreamMechanism

    of: dict[str, list[Any]] = {
        "heatmap": [PrivateHeatmap],
        "heatmaps": [PrivateHeatmaps],
        "movie": [HeatmapMovie],
        "aoi": [AoiStatistics, *(STATISTICS[name] for name in STATISTICS.names())],
        "features": [SeriesMechanism, *SERIES_MECHANISMS, ParticipantRelease],
        "veil": [VeiledRecordings, StreamMechanism],
    }
    return {
        product: list({each.option: each for kind in reversed(kinds) for each in settings_of(kind)}.values())
        for product, kinds in of.items()
    }


def catalogue() -> str:
    """Return the text of the command line's catalogue."""
    found = {
        "words": words(),
        "names": names(),
        "settings": {product: [each.to_dict() for each in declared] for product, declared in settings().items()},
    }
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def stub() -> str:
    """Return the text of the public names' stub."""
    import gazeveil

    homes = [(*home.partition(":")[::2], name) for name, home in vars(gazeveil)["_HOME"].items()]
    lines = [f"from {home} import {there or name} as {name}\n" for home, there, name in sorted(homes)]
    listed = "".join(f'    "{name}",\n' for name in gazeveil.__all__)
    head = f"{LICENCE}# Written by `python -m tools.generate`; do not edit.\n\n"
    return f"{head}{''.join(lines)}\n__version__: str\n\n__all__ = [\n{listed}]\n"


FILES = {PACKAGE / "cli" / "catalogue.json": catalogue, PACKAGE / "__init__.pyi": stub}


def main() -> None:
    """Write the files."""
    for file, text in FILES.items():
        file.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
