# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The one path of every release: declare, plan, charge, touch data, add noise, decode. Products are registered here.

A `Measurement` is a mechanism together with a declared study: it knows its guarantee, its input domain, its distance
between inputs and what a distance costs, and it owns kernel, bound and noise. A `Plan` shows all that can be known
before the charge and holds nothing private. `Plan.release` charges, and only then opens the corpus.

That recordings are lists of fixations, and what such a list states, is a public fact of the study:
``[recordings] fixations = ["start", "duration"]``. `check_recording_kind` refuses products that need more.
"""

from __future__ import annotations

import json
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeAlias

import polars as pl

from gazeveil.aggregate.engine import DurationEngine, Engine
from gazeveil.arrays import Tell, silent
from gazeveil.display import Picture, a_few, html_table
from gazeveil.engines import engine_at
from gazeveil.errors import OptionError, PrivacyError, ReleaseFailed
from gazeveil.exact import Number
from gazeveil.features.table import FeatureTable
from gazeveil.gaze.corpus import Corpus
from gazeveil.noise import NoiseSource
from gazeveil.privacy.composition import guarantee_after_noise
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.ledger.events import now
from gazeveil.privacy.protection import Neighbours, ProtectedUnit
from gazeveil.registry import Registry
from gazeveil.release.data import READ_ERRORS, BoundCorpus, BoundTable, Source, bind, source_of
from gazeveil.release.forecast import Forecast
from gazeveil.release.release import PrintedLine, Release, Shares
from gazeveil.release.study import Fact, Study, assumptions
from gazeveil.samples.identification import Identification

Data: TypeAlias = Corpus | FeatureTable | pl.DataFrame | Path | str | Source
"""Where data come from: recordings or a table of features, in memory, as the path of their folder or file, or else."""
Prepare: TypeAlias = "Callable[..., Measurement]"
PRODUCTS: Registry[Prepare] = Registry("product", "gazeveil.release.products")
"""What can be released, by the ``product`` of its mechanism: ``PRODUCTS[name](study, mechanism, **selection)``."""


def plan(study: Study, mechanism: Any, **selection: Any) -> Plan:
    """Return the plan of a release; it follows from public facts alone.

    Raises:
        OptionError: If the study does not declare what the mechanism needs, or the two contradict each other.
    """
    name = getattr(mechanism, "product", None)
    if not isinstance(name, str):
        raise OptionError(
            f"a {type(mechanism).__name__} cannot be released by a study",
            hint=f"products: {', '.join(PRODUCTS.names())}",
        )
    prepare = PRODUCTS[name]
    check_recording_kind(name, study)
    return Plan(prepare(study, mechanism, **selection), selection)


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is known about a release before anything is spent. It holds no private value.

    Attributes:
        measurement: The mechanism that met the study.
        selection: What is released, as `Study.plan` was asked for it.
    """

    measurement: Measurement
    selection: Mapping[str, Any] = field(default_factory=dict)

    @property
    def study(self) -> Study:
        """The declared study."""
        return self.measurement.study

    @property
    def guarantee(self) -> Guarantee:
        """What will be guaranteed, which is also what it costs."""
        return self.measurement.guarantee

    @property
    def forecast(self) -> Forecast | None:
        """How good the release will be; None where nothing is known about that."""
        return self.measurement.forecast()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The public facts that it rests on."""
        return self.measurement.facts()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What someone should know before spending; first what is assumed about screens that the release rests on."""
        stimuli = [self.study.stimulus(name) for name in self.measurement.domain.stimuli]
        assumed = [
            f"the size of the screen is not declared: assumed is {what}. Say what it was with --size-mm and "
            "--distance-mm, or with width_mm, height_mm and distance_mm under [screen] of study.toml"
            for what in assumptions(stimuli)
        ]
        return (*assumed, *self.measurement.warnings())

    def in_words(self) -> list[PrintedLine]:
        """Say what is known before anything is spent, for the command line."""
        lines = [("plan", f"{self.measurement.product}, {self.guarantee}")]
        if (forecast := self.forecast) is not None:
            lines.append(("expected", forecast.in_words()))
        if read := ", ".join(fact.name for fact in self.facts if not fact.declared):
            lines.append(
                ("facts", f"read from the data, not protected: {read} (declare them with `gazeveil study init`)")
            )
        return lines

    def at(self, *, epsilon: Number | None = None, participants: int | None = None) -> Plan:
        """Return the same plan with another ε, or for another number of participants, where that matters."""
        study, selection = self.study, dict(self.selection)
        mechanism = self.measurement.requested if epsilon is None else self.measurement.with_epsilon(epsilon)
        if participants is not None and not self.measurement.per_participant:
            people = replace(study.participants, roster=None, number=participants)
            study = replace(study, participants=people, recordings=replace(study.recordings, groups={}))
            selection.pop("group", None)  # the given number is that of the group
        return plan(study, mechanism, **selection)

    def check_worth(self) -> None:
        """Refuse what is not worth its budget.

        Raises:
            OptionError: If too little would be left to see.
        """
        from gazeveil.release.sample_size import advice  # noqa: PLC0415  (asks plans)

        if (forecast := self.forecast) is not None:
            forecast.check("" if forecast.worth_it else advice(self))

    def release(
        self,
        corpus: Data,
        *,
        ledger: Ledger | Path | str | None = None,
        account: str = "",
        noise: NoiseSource | None = None,
        engine: Engine | str = "local",
        anyway: bool = False,
        note: str = "",
        tell: Tell = silent,
    ) -> Release:
        """Charge, then read the corpus, add noise and decode. Nothing else opens the corpus.

        Args:
            corpus: The recordings, or the folder that holds them; for some products, a table of features. It is
                opened after the charge.
            ledger: What to charge, or its address; without one no account is kept, and the record says so.
            account: The data set's name in the ledger; by default the one that the study declares.
            noise: Where randomness comes from; by default the operating system. Seeded noise is not private, and a
                release made with it says so.
            engine: Where it is computed: ``local``, or the address of a Spark cluster.
            anyway: Go on where the forecast says that the release is not worth its budget.
            note: Free text for the ledger.
            tell: Called as the work goes on.

        Raises:
            OptionError: If the forecast is below its floor and not ``anyway``; nothing was spent.
            BudgetExceeded: If the budget does not allow it; nothing was spent or read.
            ReleaseFailed: If the data could not be read or written after the charge; the charge stands.
        """
        if not anyway:
            self.check_worth()
        measurement, name = self.measurement, new_id()
        measurement.check_source(corpus)
        computer = engine_at(engine) if isinstance(engine, str) else engine
        source = NoiseSource.secure() if noise is None else noise
        recipe, guarantee = measurement.recipe(), guarantee_after_noise(self.guarantee, source)
        receipt = None
        if ledger is not None:
            paid_by = account or self.study.budget.account
            with nullcontext(ledger) if isinstance(ledger, Ledger) else Ledger.open(ledger) as book:
                receipt = book.charge(paid_by, guarantee, recipe=recipe, note=note, charge_id=name)
        # Paid. From here on private data may be read, and whatever goes wrong names no participant.
        try:
            with _quiet_warnings():
                data = measurement.open(corpus, tell)
                measurement.domain.check(data)
                value = measurement.decode(_measured(measurement, data, source, computer, tell))
        except READ_ERRORS as error:
            raise ReleaseFailed(paid=receipt is not None) from error
        return Release(
            value=value,
            guarantee=guarantee,
            measurement=measurement,
            receipt=receipt,
            id=name,
            date=now() if receipt is None else receipt.time,
            private=data,
        )

    def plot(self) -> Picture | None:
        """Draw the expected quality over the number of participants and over ε; None where nothing is known."""
        from gazeveil.release.sample_size import SampleSize  # noqa: PLC0415  (knows this class)

        forecast, measurement = self.forecast, self.measurement
        if forecast is None or (measurement.per_participant and measurement.epsilon is None):
            return None
        return SampleSize(self, forecast.expected, None, None).plot()

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        forecast, preview = self.forecast, self.measurement.preview()
        found = self.measurement.identification()
        return {
            "product": self.measurement.product,
            "guarantee": self.guarantee.to_dict(),
            "forecast": None if forecast is None else forecast.to_dict(),
            "public_facts": [fact.to_dict() for fact in self.facts],
            "warnings": list(self.warnings),
            "identification": None if found is None else found.to_dict(),
            "preview": None if preview is None else preview.to_dicts(),
            "recipe": self.measurement.recipe(),
        }

    def __repr__(self) -> str:
        forecast = self.forecast
        expected = "" if forecast is None else f", expected {forecast.measure} {forecast.expected:.2g}"
        return f"Plan({self.measurement.product}, {self.guarantee}{expected})"

    def _repr_html_(self) -> str:
        forecast = self.forecast
        rows = [("Guarantee", str(self.guarantee))]
        if forecast is not None:
            rows.append(("Expected", forecast.in_words()))
        rows += [
            (f"Public: {fact.name}", _one_line(fact.value) + ("" if fact.declared else " (read from the data)"))
            for fact in self.facts
        ]
        if (found := self.measurement.identification()) is not None:
            rows.append(("Who you are", found.warning()))
        rows += [("Mind", warning) for warning in self.warnings]
        return html_table(f"Plan: {self.measurement.product}", rows)


def new_id() -> str:
    """Return a name for a release that nobody else has."""
    return uuid.uuid4().hex


def _measured(
    measurement: Measurement, data: BoundCorpus | BoundTable, noise: NoiseSource, engine: Engine, tell: Tell
) -> Any:
    """Measure. If that fails, measure once more without what cannot be read; a failed attempt leaves nothing."""
    try:
        return measurement.measure(data, noise, engine, tell)  # type: ignore[arg-type]
    except READ_ERRORS:
        rest = data.without_unreadable()
        if rest is data:
            raise
    return measurement.measure(rest, noise, engine, tell)  # type: ignore[arg-type]


@contextmanager
def _quiet_warnings() -> Iterator[None]:
    """Keep Python's warnings quiet: a warning of numpy or polars would show that someone's gaze is unusual."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_LONGEST = 300
"""How many letters of a public fact a notebook shows."""


def _one_line(value: Any) -> str:
    """Return a fact in one line; of a long one the beginning."""
    if isinstance(value, Mapping):
        parts = {name: list(each) if isinstance(each, Mapping) else each for name, each in value.items()}
        text = "; ".join(f"{name}: {_one_line(each)}" for name, each in parts.items() if each not in (None, ""))
    elif isinstance(value, list | tuple):
        names = [each["name"] if isinstance(each, Mapping) and "name" in each else each for each in value]
        text = a_few(names, 6)
    else:
        text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


# --- The contract of products: a mechanism together with a study.


@dataclass(frozen=True, slots=True)
class Distance:
    """How far apart two inputs are: by how many changes of the protected unit."""

    unit: ProtectedUnit
    neighbours: Neighbours


@dataclass(frozen=True, slots=True)
class Domain:
    """Which inputs a measurement takes: the recordings of some stimuli of one study, under that study's rules."""

    study: Study
    stimuli: tuple[str, ...]

    def check(self, data: BoundCorpus | BoundTable) -> None:
        """Refuse data that were bound to another declaration.

        Raises:
            PrivacyError: If they were.
        """
        if data.study != self.study:
            raise PrivacyError("the data are bound to another study than the one that was planned for")


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How a measurement protects.

    Attributes:
        sentence: What was counted, how it was bounded, which noise was added, and what was done afterwards.
        sources: What to cite: keys of `gazeveil.release.documents`.
        audit: The audit subject that runs this mechanism, for ``gazeveil lab audit``; empty if there is none.
        samplers: The pages of docs/proofs about the noise that was drawn.
    """

    sentence: str
    sources: tuple[str, ...] = ("dwork2014",)
    audit: str = ""
    samplers: tuple[str, ...] = ()


def method_from_recipe(product: str, recipe: Mapping[str, Any]) -> Method:
    """Return what a recipe says by itself: the mechanism's name and its plain parameters."""
    plain = {key: value for key, value in recipe.items() if isinstance(value, str | int | float) and key != "mechanism"}
    listed = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in plain.items())
    name = recipe.get("mechanism", product)
    return Method(sentence=f"The mechanism was {name}" + (f" ({listed})." if listed else "."))


class Measurement(ABC):
    """A mechanism together with a study. Everything it holds is public.

    Subclasses are frozen dataclasses (``repr=False``) in `gazeveil.release.products`. All have the
    fields ``study``, the declared one, and ``mechanism``: what may be spent, and how.
    """

    __slots__ = ()
    product: ClassVar[str]
    """The name of what is released."""
    files: ClassVar[str] = "the released values"
    """What the main files of the folder hold, for the record's reader."""
    proof: ClassVar[str] = ""
    """The page of docs/proofs that proves the guarantee, for example ``heatmap-strategies``."""
    per_participant: ClassVar[bool] = False
    """Whether every participant is released on their own, so that it does not matter how many there are."""

    study: Study
    mechanism: Any

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.guarantee}, {self.study!r})"

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is guaranteed for all of it together, before any data are seen."""

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """Which data it takes."""

    @property
    def distance(self) -> Distance:
        """How it measures the distance between inputs."""
        return Distance(self.guarantee.unit, self.guarantee.neighbours)

    def loss(self, changes: int = 1) -> Guarantee:
        """Return what is guaranteed between inputs that differ by this many changes: the stability map."""
        return self.guarantee.for_group(changes)

    @abstractmethod
    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""

    @property
    def requested(self) -> Any:
        """The mechanism as `Study.plan` was given it."""
        return self.mechanism

    @property
    def epsilon(self) -> Number | None:
        """The ε that was asked for; None if there is none."""
        return getattr(self.mechanism, "epsilon", None)

    def with_epsilon(self, epsilon: Number) -> Any:
        """Return the mechanism with another ε.

        Raises:
            OptionError: If it has none.
        """
        return replace(self.mechanism, epsilon=epsilon)

    def forecast(self) -> Forecast | None:
        """Return how good the release will be; None where nothing is known about that."""
        return None

    def method(self) -> Method:
        """Return how it protects, for authors and reviewers; a product that says it better overrides this."""
        return method_from_recipe(self.product, self.recipe())

    def facts(self) -> tuple[Fact, ...]:
        """Return the public facts that the release rests on."""
        return self.study.facts(self.domain.stimuli)

    def identification(self) -> Identification | None:
        """Return how often participants were identified despite it, as measured; None where that does not apply."""
        return None

    def warnings(self) -> tuple[str, ...]:
        """Return what someone should know before spending."""
        return ()

    def alternatives(self) -> tuple[str, ...]:
        """Name other releases that are worth their budget, where the forecast says that this one is not."""
        return ()

    def preview(self) -> pl.DataFrame | None:
        """Return a table of what to expect of single numbers, if that is known."""
        return None

    def check_source(self, source: Data) -> None:
        """Refuse, before anything is spent, a source of another kind than this takes; no private value is read.

        Raises:
            InputError: If nothing is there, or something of another kind.
        """
        self._source(source).check()

    def open(self, source: Data, tell: Tell = silent) -> Any:
        """Open the data under the study's rules, after the charge; `measure` gets what this returns."""
        remarks: list[str] = []
        data = bind(self.study, self._source(source).open(remarks, tell), self.domain.stimuli)
        data.remarks.extend(remarks)
        return data

    def _source(self, source: Data) -> Source:
        if isinstance(source, FeatureTable):
            raise OptionError(f"a {self.product} is made from a corpus, not from a table of features")
        return source_of(source)

    @abstractmethod
    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Engine, tell: Tell) -> Any:
        """Return noisy numbers: the only step that sees both data and noise."""

    @abstractmethod
    def decode(self, noisy: Any) -> Any:
        """Return what is released, from the noisy numbers and public facts alone."""

    @abstractmethod
    def write(self, value: Any, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the value and its pictures into a folder; return what else the record should say about it."""

    @abstractmethod
    def frame(self, value: Any) -> pl.DataFrame:
        """Return the value as a table."""

    def summary(self, value: Any) -> tuple[str, ...]:
        """Say in sentences what someone should know about the released value: only what the value itself shows."""
        return ()

    def shares(self, value: Any) -> Shares | None:
        """Return what the released value is made of: data, picture, prior; None where that does not apply."""
        return None

    def picture(self, value: Any) -> bytes | None:
        """Return the value as a PNG picture, if one helps."""
        return None


# --- Which products can be made from lists of fixations, and what such a list has to state for each.


STATED_BY_LISTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"heatmap": (), "heatmaps": (), "aoi": (), "movie": ("start", "duration")}
)
"""The products that take lists, and what a list has to state for all of it. Of areas, each statistic asks for more."""
_NEEDS_SAMPLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "liu-map": "it counts samples up to a cap",
        "feature-series": "features are of velocities, pupils and spectra within windows of samples",
        "feature-group": "features are of velocities, pupils and spectra within windows of samples",
        "veil": "a stream mechanism puts noise on every sample, on a clock",
    }
)


def check_recording_kind(product: str, study: Study) -> None:
    """Refuse a product that cannot be made from what the study declares its recordings to be.

    Raises:
        OptionError: If the recordings are lists of fixations, and the product needs samples, or more than lists state.
    """
    stated = study.recordings.fixations
    made_elsewhere = study.features is not None and product.startswith("feature-")
    if stated is None or made_elsewhere:
        return
    if product not in STATED_BY_LISTS:
        why = f": {_NEEDS_SAMPLES[product]}" if product in _NEEDS_SAMPLES else ""
        raise OptionError(
            f"the product {product!r} needs gaze samples{why}; the study {study.name!r} declares lists of fixations",
            hint=f"lists can be released as {', '.join(STATED_BY_LISTS)}; features that were made elsewhere need "
            "[features] in the study, and samples a study without `fixations`",
        )
    check_stated(f"the product {product!r}", STATED_BY_LISTS[product], stated)


def check_stated(what: str, needed: tuple[str, ...], stated: tuple[str, ...]) -> None:
    """Refuse what needs more than lists of fixations state.

    Raises:
        OptionError: If something is missing.
    """
    if missing := [name for name in needed if name not in stated]:
        listed = json.dumps([*stated, *missing])
        said = f"only {' and '.join(stated)}" if stated else "neither start nor duration"
        raise OptionError(
            f"{what} needs the {' and '.join(missing)} of every fixation, and the lists of this study state {said}",
            hint=f"if they do state it, declare that: [recordings] fixations = {listed}",
        )


def engine_for(study: Study, engine: Engine) -> Engine:
    """Return the engine that weighs a study's rows as declared: by durations where its lists state them."""
    return DurationEngine(engine) if "duration" in (study.recordings.fixations or ()) else engine
