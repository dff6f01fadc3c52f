# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil judge experiment heatmap` with pictures, or with `--trust`: what releases add to their priors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gazeveil.cli._experiment_common import names_in
from gazeveil.cli._output import print_json, print_table, progress
from gazeveil.errors import OptionError

if TYPE_CHECKING:
    from gazeveil.aggregate.saliency import Saliency
    from gazeveil.lab.experiments.usefulness._heatmap_scenes import Gallery
    from gazeveil.lab.experiments.usefulness.heatmaps import Plan

EVERY = 1_000_000
"""More scenes than there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustOptions:
    """What was asked for on the command line."""

    pictures: Path | None
    contents: Path | None
    images: int
    viewers: str
    methods: str


def trust(gallery: Gallery, plan: Plan, split: str, options: TrustOptions, out: Path | None, as_json: bool) -> None:
    """Release with the right picture, a wrong one and none; print or write what came out."""
    from gazeveil.lab.experiments.usefulness import _trust_report as report
    from gazeveil.lab.experiments.usefulness import trust as study
    from gazeveil.lab.experiments.usefulness._heatmap_scenes import watched_by

    if len(plan.epsilons) > 1 or plan.repeats > 1:
        raise OptionError("with pictures or --trust there are one ε and one draw", hint="run it once for each")
    if options.viewers:
        gallery = watched_by(gallery, *_first_and_last(options.viewers))
    gallery, pictures, categories = _pictured(gallery, options)
    kinds = names_in(options.methods)
    with progress("making heatmaps", quiet=as_json) as tell:
        tried = study.trials(
            gallery,
            pictures,
            participants=plan.observers,
            epsilon=str(plan.epsilons[0]),
            delta=str(plan.delta),
            kinds=kinds,
            seed=plan.seed,
            tell=tell,
        )
    about = {
        "data": gallery.name,
        "split": split,
        "scenes": len(gallery.scenes),
        "viewers": gallery.viewers,
        "drawn_with_replacement": [count for count in plan.observers if count > gallery.viewers],
        "epsilon": plan.epsilons[0],
        "delta": plan.delta,
        "seed": plan.seed,
    }
    files = [] if out is None else report.write(tried, about, categories, out)
    if as_json:
        print_json({**report.to_dict(tried, about, categories), "files": files})
        return
    for line in study.lines(tried):
        print_table(
            f"{report.PICTURES[line.picture]}, n = {line.participants}, {line.scenes} scenes (± is a 95 % bound)",
            ["measure", "value"],
            [[title, report.cell(getattr(line, name), name)] for name, title in report.TITLES.items()],
        )
    if categories:
        print(report.category_table(study.by_category(tried, categories)))
    if out is not None:
        print(f"wrote {', '.join(files)} to {out}")


def _pictured(gallery: Gallery, options: TrustOptions) -> tuple[Gallery, dict[str, Saliency], dict[str, str]]:
    """Return the scenes that have a picture which the picture model never saw, what it says, and their categories."""
    from gazeveil.lab.experiments.usefulness import _scene_pictures as stored
    from gazeveil.lab.experiments.usefulness._heatmap_scenes import OSIE_NEVER_SEEN, only, spread

    if options.pictures is not None and options.contents is not None:
        raise OptionError("--pictures and --contents exclude each other", hint="give one of them")
    names = [scene.name for scene in gallery.scenes]
    if options.contents is not None:
        return pictured_by(gallery, options.contents, options.images)
    if options.pictures is not None:
        if gallery.name == "osie":
            names = [name for name in names if int(name) in OSIE_NEVER_SEEN]
        gallery = only(gallery, spread(names, options.images))
        return gallery, stored.from_pictures(options.pictures, [scene.name for scene in gallery.scenes]), {}
    return gallery, {}, {}


def pictured_by(gallery: Gallery, contents: Path, images: int) -> tuple[Gallery, dict[str, Saliency], dict[str, str]]:
    """Return at most this many of the scenes that a file has predicted maps of, these maps, and their categories."""
    from gazeveil.lab.experiments.usefulness import _scene_pictures as stored
    from gazeveil.lab.experiments.usefulness._heatmap_scenes import only, spread

    maps, labels = stored.from_maps(contents, [scene.name for scene in gallery.scenes])
    gallery = only(gallery, spread(list(maps), images))
    return gallery, maps, {name: labels[name] for name in maps if name in labels}


def _first_and_last(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal()):
        raise OptionError(f"--viewers takes the first and the last, as 9-15, not {text!r}")
    return int(first), int(last)
