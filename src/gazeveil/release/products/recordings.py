# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Veiled recordings: every sample of every recording passes a mechanism for streams."""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from gazeveil.aggregate.engine import Engine
from gazeveil.arrays import Tell
from gazeveil.errors import CannotCompose, OptionError
from gazeveil.exact import Number
from gazeveil.gaze.corpus import MANIFEST, Corpus, Spool, SpooledCorpus, writing_corpus
from gazeveil.gaze.formats.base import writer_of
from gazeveil.gaze.reading import ChunkStream
from gazeveil.gaze.schema import VeilNote
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.privacy.composition import compose, guarantee_after_noise
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.protection import WindowOfGaze
from gazeveil.release.data import BoundCorpus
from gazeveil.release.forecast import USUAL_HZ, Forecast, veil_forecast
from gazeveil.release.plan import PRODUCTS, Domain, Measurement, Method
from gazeveil.release.product_base import with_usual_sizes
from gazeveil.release.study import Fact, Study
from gazeveil.samples.identification import Identification, table
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.mechanisms.chain import Chain
from gazeveil.samples.veiled_recordings import VeiledRecording, VeiledRecordings, VeilRecording

PUBLIC = "which recordings there are and whose, their sample times and lengths, and when gaze was missing"
"""What neighbouring data have in common; they differ in positions within one window."""

CORPUS = "parquet"
"""The format that makes the release folder itself a corpus."""

WHOLE = (CORPUS, "csv", "bids")
"""The formats that hold all recordings of any study: writing must not fail after the charge."""

AUDITED = frozenset({"absorption", "clock", "distribution", "held-ticks", "kaleido", "sparse-vector"})
"""The mechanisms that are audit subjects under their own names."""

_WILSON = {"gaussian", "temporal", "spatial", "smoothing"}
"""The mechanisms of Wilson 2024."""

_NAMES = {"csv": "recordings.csv"}
"""Names of files; folders have the name of their format."""


@dataclass(frozen=True, slots=True, repr=False)
class VeiledRecordingsMeasurement(Measurement):
    """All recordings of a study behind a mechanism.

    Attributes:
        to: The format of the released files.
    """

    product: ClassVar[str] = VeiledRecordings.product
    files: ClassVar[str] = "the veiled recordings: a corpus folder, or files in the format that was asked for"
    proof: ClassVar[str] = "gaze-stream"
    per_participant: ClassVar[bool] = True

    study: Study
    mechanism: VeiledRecordings
    to: str = CORPUS

    @property
    def on_screens(self) -> dict[Geometry, SampleMechanism]:
        """The mechanism for each declared screen."""
        screens = dict.fromkeys(stimulus.screen for stimulus in self.study.stimuli)
        return {screen: self.mechanism.on(screen) for screen in screens}

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed: where it differs from screen to screen, the sum, which is on the safe side."""
        return _joint_guarantee(list(dict.fromkeys(each.guarantee for each in self.on_screens.values())))

    @property
    def domain(self) -> Domain:
        """The recordings of all stimuli."""
        return Domain(self.study, tuple(stimulus.name for stimulus in self.study.stimuli))

    @property
    def delay_s(self) -> float:
        """By how many seconds what is released runs late."""
        return max(each.delay for each in self.on_screens.values())

    @property
    def epsilon(self) -> Number | None:
        """The ε of a window, where it can be changed; None for a recipe, which holds its own."""
        if self.mechanism.recipe is not None:
            return None
        return next((getattr(_first(each), "epsilon", None) for each in self.on_screens.values()), None)

    def with_epsilon(self, epsilon: Number) -> VeiledRecordings:
        """Return the mechanism with another ε."""
        if self.epsilon is None:
            raise OptionError(
                "this mechanism has no ε that could be changed", hint="give one by its name, for example clock"
            )
        return replace(self.mechanism, parameters={**self.mechanism.parameters, "epsilon": epsilon})

    def forecast(self) -> Forecast:
        """Return how far veiled points are expected to lie from gaze, measured on simulated gaze."""
        return veil_forecast(tuple(self.on_screens.values()), self.study.recordings.rate_hz or USUAL_HZ)

    def identification(self) -> Identification:
        """Return how often participants were identified despite the weakest of its mechanisms, as measured."""
        return table().worst(self.on_screens.values(), self.study.recordings.rate_hz)

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values, for each screen."""
        screens = [
            {"screen": screen.to_dict(), "mechanism": each.to_dict(), "guarantee": each.guarantee.to_dict()}
            for screen, each in self.on_screens.items()
        ]
        return {"mechanism": "veiled-recordings", "eyes": self.mechanism.eyes, "format": self.to, "screens": screens}

    def method(self) -> Method:
        """Return how the recordings are protected."""
        names = list(dict.fromkeys(_first(each).name for each in self.on_screens.values()))
        words = "; ".join(dict.fromkeys(each.in_words() for each in self.on_screens.values()))
        sentence = (
            f"Every sample of every recording was replaced by a point from the mechanism {words}, which runs over each "
            "recording by itself with noise of its own. Sample times stayed as they were; all other channels were "
            "dropped."
        )
        sources = ("wilson2024",) if set(names) <= _WILSON else ("dwork2014", "li2021")
        proven = self.guarantee.proven and len(names) == 1
        audit = names[0] if proven and names[0] in AUDITED else ""
        return Method(sentence=sentence, sources=sources, audit=audit, samplers=("planar-laplace",) if proven else ())

    def facts(self) -> tuple[Fact, ...]:
        """Return the public facts: also what the neighbour relation leaves public."""
        facts = {fact.name: fact for fact in self.study.facts(self.domain.stimuli)}
        known = facts["recordings"].value
        facts["recordings"] = Fact("recordings", {**known, "public by the neighbour relation": PUBLIC})
        facts["neighbours"] = Fact("neighbours", "data that differ in positions within one window of one recording")
        return tuple(facts.values())

    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Engine, tell: Tell) -> Corpus:
        """Veil recording by recording into a spool."""
        spool, notes, note = Spool(), _PrivateRemarks(), self._note(noise)
        folder = spool.folder / "veiled"
        with writing_corpus(folder) as writer:
            for veiled in engine.map_recordings(data.corpus, VeilRecording.with_noise(self.mechanism, noise), tell):
                # what was assumed about the screen is no fact about the recording
                plane = self.study.stimulus(veiled.shown.key.stimulus).declared_screen
                writer.add(replace(veiled.shown, geometry=plane, veiled=note))
                notes.add(veiled)
        data.remarks.extend(notes.in_words())
        return SpooledCorpus(Corpus.open(folder).parts, str(folder), spool)

    def _note(self, noise: NoiseSource) -> VeilNote:
        """Return the note in the files: mechanism, and the guarantee that holds with this noise."""
        guarantee = guarantee_after_noise(self.guarantee, noise)
        words = "; ".join(dict.fromkeys(each.in_words() for each in self.on_screens.values()))
        return VeilNote(words, str(guarantee), json.dumps(guarantee.to_dict(), sort_keys=True))

    def decode(self, noisy: Corpus) -> Corpus:
        """Return the veiled recordings."""
        return noisy

    def write(self, value: Corpus, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the recordings: as a corpus in the folder itself, or as files of another format."""
        counts = _counts(value)
        if self.to == CORPUS:
            shutil.copytree(value.name, folder, dirs_exist_ok=True)
        elif counts["recordings"]:
            writer_of(self.to).write(iter(ChunkStream(Path(value.name))), folder / _NAMES.get(self.to, self.to))
        late = {"delay": _late(self.delay_s)} if self.delay_s else {}
        return {"format": self.to, **counts, "delay_s": self.delay_s, **late}

    def frame(self, value: Corpus) -> pl.DataFrame:
        """Return all samples as one table."""
        return value.scan().collect()

    def summary(self, value: Corpus) -> tuple[str, ...]:
        """State how much was veiled by which mechanism, and whether it runs late."""
        counts = _counts(value)
        names = "; ".join(dict.fromkeys(each.in_words() for each in self.on_screens.values()))
        said = f"veiled {counts['samples']:,} samples of {counts['recordings']:,} recordings with {names}"
        return (said, _late(self.delay_s)) if self.delay_s else (said,)


@PRODUCTS.register(VeiledRecordings.product)
def prepare_recordings(study: Study, mechanism: VeiledRecordings, to: str = CORPUS) -> VeiledRecordingsMeasurement:
    """Plan the veiled recordings of a study."""
    writer_of(to)
    if to not in WHOLE:
        raise OptionError(
            f"{to} files cannot hold every study, and that would show after the charge",
            hint=f"write --to {CORPUS}, and then `gazeveil convert RELEASE --to {to} --out FOLDER`: that costs nothing",
        )
    study = with_usual_sizes(study, [stimulus.name for stimulus in study.stimuli], mechanism.on)
    found = VeiledRecordingsMeasurement(study, mechanism, to)
    if to == "csv" and len(found.on_screens) > 1:
        raise OptionError("a CSV table holds gaze on one screen", hint="write --to parquet, which holds any")
    found.guarantee  # noqa: B018  (refuses what cannot be stated for all screens together)
    return found


def _joint_guarantee(guarantees: list[Guarantee]) -> Guarantee:
    """Return one guarantee for all screens, stated for the smallest window and radius of theirs."""
    if len(guarantees) == 1:
        return guarantees[0]
    units = [each.unit for each in guarantees if isinstance(each.unit, WindowOfGaze)]
    try:
        if len(units) < len(guarantees) or not all(each.proven for each in guarantees):
            return compose(guarantees)
        smallest = WindowOfGaze(min(unit.seconds for unit in units), min(unit.radius for unit in units), units[0].unit)
        return compose([each.restated(unit=smallest) for each in guarantees])
    except CannotCompose as error:
        raise OptionError(
            f"the guarantees on the screens of this study have no common measure: {error.message}",
            hint="release the recordings of each kind of screen by themselves",
        ) from error


def _first(mechanism: SampleMechanism) -> SampleMechanism:
    """Return the mechanism that draws the noise: of a chain the first member."""
    return mechanism.members[0] if isinstance(mechanism, Chain) else mechanism


def _counts(value: Corpus) -> dict[str, int]:
    written = json.loads((Path(value.name) / MANIFEST).read_text(encoding="utf-8"))
    return {"recordings": int(written["recordings"]), "samples": int(written["samples"])}


def _late(seconds: float) -> str:
    return f"What was released runs late: each point is about where gaze was {seconds:g} s before."


class _PrivateRemarks:
    """Remarks for the holder of the data, computed from raw gaze, so only for the private report."""

    def __init__(self) -> None:
        self._squares: defaultdict[str, float] = defaultdict(float)
        self._moved: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._dropped: dict[str, None] = {}

    def add(self, veiled: VeiledRecording) -> None:
        """Add one recording."""
        unit = str(veiled.shown.geometry.unit)
        self._squares[unit] += veiled.squares
        self._moved[unit] += veiled.moved
        self._counts.update({name.replace("_", " "): count for name, count in veiled.faults._asdict().items()})
        self._counts["without a time, so cut"] += veiled.untimed
        self._dropped |= dict.fromkeys(veiled.dropped)

    def in_words(self) -> list[str]:
        """Return the remarks, one sentence each."""
        lines = [
            f"points were moved by {math.sqrt(self._squares[unit] / count):.4g} {unit} (root mean square)"
            for unit, count in self._moved.items()
            if count
        ]
        lines += [f"samples {name}: {count:,}" for name, count in self._counts.items() if count]
        return lines + ([f"channels dropped: {', '.join(self._dropped)}"] if self._dropped else [])
