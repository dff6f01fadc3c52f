# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whose gaze mechanisms are tried on: simulated participants, those of public data sets, or a corpus of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, headset
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.attacks.trials import trials_of, without_pupil
from gazeveil.lab.datasets.osie import OSIE_FILE
from gazeveil.lab.datasets.vr_objects import VR_FOLDER, vr_sessions
from gazeveil.lab.experiments.grid.contract import DoesNotApply, Source
from gazeveil.lab.experiments.identity_data import PAPERS_RATE_HZ, simulated_traits
from gazeveil.lab.experiments.scanpaths.data import OSIE_FOLDER, SceneSet, osie
from gazeveil.registry import Registry
from gazeveil.simulate import TRACKERS, SimulatedStudy

_SEED = 8

SOURCES: Registry[Source] = Registry("set of recordings")


@dataclass(frozen=True, eq=False)
class GazeData:
    """Recordings, and what is known of the participants.

    Attributes:
        name: Short name.
        words: What they are.
        corpus: The recordings, on one viewing plane.
        kinds: For every question about participants, the answer for each of them.
        public: Whether nobody was recorded, so that gaze may be shown.
    """

    name: str
    words: str
    corpus: Corpus
    kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    public: bool = False

    @cached_property
    def plane(self) -> Geometry:
        """Where gaze lies, in degrees."""
        return self.corpus.geometry.in_unit("deg")

    @cached_property
    def recordings(self) -> tuple[Recording, ...]:
        """All recordings in degrees, in memory."""
        return tuple(recording.to("deg") for recording in self.corpus.recordings())

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """The same as trials, without pupil."""
        return without_pupil(trials_of(self.recordings))

    @cached_property
    def scenes(self) -> SceneSet:
        """The recordings of everyone before the same stimuli.

        Raises:
            DoesNotApply: If no three participants looked at one stimulus.
        """
        seen: dict[tuple[str, str, str], dict[str, Recording]] = {}
        for one in self.recordings:
            seen.setdefault((one.stimulus, one.session, one.trial), {})[one.observer] = one
        most = max((len(who) for who in seen.values()), default=0)
        whole = [who for who in seen.values() if len(who) == most]
        people = tuple(sorted(whole[0])) if whole else ()
        same = [who for who in whole if tuple(sorted(who)) == people]
        if most < 3 or not whole[0][people[0]].stimulus:
            raise DoesNotApply(
                "scanpaths are compared between participants before the same stimulus, and here are none"
            )
        scenes = tuple(tuple(who[name] for name in people) for who in same)
        return SceneSet(self.name, self.words, self.plane, people, scenes)


def simulated(data: Path | None, people: int = 16, sessions: int = 2, seconds: float = 60.0) -> GazeData:
    """Return simulated participants before one scene in a headset, each session on another day."""
    del data
    tracker = replace(TRACKERS["headset"], name="headset-72", rate_hz=PAPERS_RATE_HZ)
    study = SimulatedStudy(people, 1, sessions, 1, tracker, seconds, _SEED)
    recordings = [_bare(recording.to("deg")) for recording in study.recordings()]
    words = (
        f"{people} simulated participants x {sessions} days, {seconds:g} s each, in a headset at {PAPERS_RATE_HZ:g} Hz"
    )
    return GazeData("simulated", words, Corpus.of(recordings), simulated_traits(people, _SEED), public=True)


def vr(data: Path | None, people: int = 16, sessions: int = 4, seconds: float = 60.0) -> GazeData:
    """Return participants who looked for objects in a headset (Schuetz et al. 2024)."""
    folder = SOURCES["vr"].path(data)
    found = [
        Recording(room.t, room.yaw, room.pitch, headset(50, 50), f"user-{room.user:02d}", "", str(room.session))
        for room in vr_sessions(folder or Path(), every=1, seconds=seconds)
    ]
    names = sorted({one.observer for one in found})[:people]
    days = sorted({one.session for one in found})[:sessions]
    kept = [one for one in found if one.observer in names and one.session in days]
    words = f"{len(names)} participants x {len(days)} sessions, {seconds:g} s each, in a headset (Schuetz et al. 2024)"
    return GazeData("vr", words, Corpus.of(kept))


def osie_viewers(data: Path | None, people: int = 15, images: int = 20) -> GazeData:
    """Return participants before images (Xu et al. 2014): fixations, held for as long as they lasted."""
    scenes = osie(SOURCES["osie"].path(data) or Path(), images, people)
    return GazeData("osie", scenes.title, Corpus.of(one for scene in scenes.scenes for one in scene))


SOURCES.register("simulated")(Source(simulated))
SOURCES.register("vr")(Source(vr, VR_FOLDER))
SOURCES.register("osie")(Source(osie_viewers, f"{OSIE_FOLDER}/{OSIE_FILE}"))


def of_corpus(path: Path, people: int = 0) -> GazeData:
    """Return a corpus of one's own, of this many participants at most."""
    corpus = Corpus.open(path)
    names = sorted(corpus.observers)
    kept = corpus if not people or people >= len(names) else corpus.select(observer=names[:people])
    return GazeData(path.name, f"{path.name}: {min(people or len(names), len(names))} participants", kept)


def _bare(recording: Recording) -> Recording:
    """Return gaze alone: what was simulated is known better than it could be, and no mechanism lets it through."""
    return replace(recording, pupil=None, left=None, right=None, pupil_unit="", events=schema.no_events())
