# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Screens of unknown size: where a product needs degrees and nobody declared them, the usual screen is assumed.

What is declared is used where it is enough. The assumption is a constant (`gazeveil.gaze.conventions`); it is stated
among the public facts of a release, and no recording is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from gazeveil.errors import GazeveilError
from gazeveil.gaze.conventions import assumed_fields, with_usual_screen
from gazeveil.geometry import Geometry
from gazeveil.release.study import Stimulus, Study


def with_usual_sizes(study: Study, stimuli: Collection[str], use: Callable[[Geometry], object]) -> Study:
    """Return the study with the usual size for those screens of some stimuli that cannot be used without one.

    Args:
        study: The declared study.
        stimuli: The stimuli that are released.
        use: Does with a screen what the release needs; raises if the screen does not say enough.

    Raises:
        GazeveilError: What ``use`` raises for a screen with the usual size too.
    """
    found: dict[Geometry, Geometry] = {}
    for each in study.stimuli:
        if each.name in stimuli and each.screen not in found:
            found[each.screen] = _usable(each.screen, use)
    sized = tuple(_on(each, found[each.screen]) if each.name in stimuli else each for each in study.stimuli)
    return study if sized == study.stimuli else replace(study, stimuli=sized)


def _usable(screen: Geometry, use: Callable[[Geometry], object]) -> Geometry:
    try:
        use(screen)
    except GazeveilError:
        if (assumed := with_usual_screen(screen)) == screen:
            raise
        try:
            use(assumed)
        except GazeveilError:
            assumed = screen
        if assumed == screen:  # its size is not what is wrong
            raise
        return assumed
    return screen


def _on(stimulus: Stimulus, screen: Geometry) -> Stimulus:
    if screen == stimulus.screen:
        return stimulus
    return replace(stimulus, screen=screen, assumed=assumed_fields(stimulus.screen, screen))
