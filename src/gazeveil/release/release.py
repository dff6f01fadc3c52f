# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A release: a value with its guarantee, its public facts and its charge; the words about them; shares of data in maps.

All words follow from the released value and from public facts, so they cost no budget. A record keeps the numbers, and
`gazeveil verify` makes the same words from them.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from gazeveil.aggregate.strategy import Estimate
from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.display import Picture
from gazeveil.errors import MissingExtra, needing
from gazeveil.exact import as_text, in_digits
from gazeveil.privacy.composition import is_seeded
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, Guarantee, PureDP, Unproven, ZeroConcentratedDP
from gazeveil.privacy.ledger.account import Receipt
from gazeveil.privacy.statement import StatedFact, Statement, statement
from gazeveil.release.data import BoundCorpus, BoundTable
from gazeveil.release.study import ASSUMED, Fact
from gazeveil.samples.identification import Identification

if TYPE_CHECKING:
    from gazeveil.release.plan import Measurement


PrintedLine: TypeAlias = tuple[str, str]
"""A line that a command prints: the word it is about, and the text."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A value that may be published, with its guarantee. Only `Plan.release` makes one.

    Attributes:
        value: What is released.
        guarantee: What is guaranteed.
        measurement: The mechanism and the study it met: recipe, public facts, how the value is written.
        receipt: The charge that paid for it; None if no account was kept.
        id: The release's name, also in the ledger.
        date: When it was charged, in UTC.
        post_processing: What was done to the value since; it costs nothing.
        private: The data it was made from, for the holder's private report. It is never written with the release.
    """

    value: Any
    guarantee: Guarantee
    measurement: Measurement
    receipt: Receipt | None
    id: str
    date: str
    post_processing: tuple[str, ...] = ()
    private: BoundCorpus | BoundTable | None = field(default=None, repr=False)

    def __getstate__(self) -> list[Any]:
        """Pickle and copy without the data: what goes out must not carry them along."""
        return [None if each.name == "private" else getattr(self, each.name) for each in fields(self)]

    @property
    def product(self) -> str:
        """The name of what was released."""
        return self.measurement.product

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The public facts that it rests on."""
        return self.measurement.facts()

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""
        return self.measurement.recipe()

    @property
    def total(self) -> Guarantee | None:
        """What this and all earlier releases from the same account guarantee together; None where no account says."""
        return None if self.receipt is None else self.receipt.account.guarantee

    def statement(self) -> Statement:
        """Return what a participant should read."""
        found, facts = self.identification, stated_facts(self.facts)
        words = "" if found is None else found.in_words()
        shares = self.measurement.shares(self.value)
        shows = () if shares is None else (*shares.in_words(), *shares.warnings())
        return statement(self.guarantee, total=self.total, facts=facts, identification=words, shows=shows)

    def in_words(self) -> list[PrintedLine]:
        """Say what was released, for the command line."""
        said = self.statement()
        lines = [("guarantee", str(self.guarantee)), ("meaning", said.how_much())]
        if said.identification:
            lines.append(("identity", f"Who you are is not protected. {said.identification}"))
        if condition := said.condition():
            lines.append(("condition", condition))
        if said.total is not None:
            lines.append(("so far", f"this and all earlier releases from the same budget: {said.total}"))
        return [*lines, *(("result", line) for line in self.measurement.summary(self.value))]

    @property
    def identification(self) -> Identification | None:
        """How often participants were identified despite it, as measured; None where that does not apply.

        The measurements are of secret noise, so they say nothing about a release with noise from a seed.
        """
        found = self.measurement.identification()
        return None if found is None or is_seeded(self.guarantee) else found

    def post_processed(self, value: Any, how: str) -> Release:
        """Return a release of something computed from the released value alone; that costs no budget."""
        return replace(self, value=value, post_processing=(*self.post_processing, how))

    def to_frame(self) -> pl.DataFrame:
        """Return the value as a polars table."""
        return self.measurement.frame(self.value)

    def to_pandas(self) -> Any:
        """Return the value as a pandas table; only pandas itself is needed for that.

        Raises:
            MissingExtra: If pandas is not installed.
        """
        with needing("pandas", "spark", "pandas tables"):
            import pandas as pd  # noqa: PLC0415  # type: ignore[import-untyped,unused-ignore]
        table = self.to_frame()
        texts = {name for name, kind in table.schema.items() if kind == pl.String}
        return pd.DataFrame(
            {name: table[name].to_list() if name in texts else table[name].to_numpy() for name in table.columns}
        )

    def save(
        self, folder: Path | str, *, overwrite: bool = False, sign_with: Path | str | None = None, tell: Tell = silent
    ) -> Path:
        """Write the release as a folder with its record; it is there whole or not at all.

        A report for the holder of the data goes beside the folder, not into it: see `record.private_report_path`.

        Args:
            folder: Where to.
            overwrite: Whether an earlier release there may be replaced.
            sign_with: A file with an Ed25519 private key (PEM) to sign the record with.
            tell: Called as the work goes on.
        """
        from gazeveil.release.record import write_record  # noqa: PLC0415  (knows this class)

        key = None if sign_with is None else Path(sign_with)
        return write_record(self, Path(folder), overwrite=overwrite, sign_with=key, tell=tell)

    def plot(self) -> Picture | None:
        """Draw the released value; None where a picture does not help."""
        png = self.measurement.picture(self.value)
        return None if png is None else Picture(png)

    def __repr__(self) -> str:
        paid = "no account kept" if self.receipt is None else f"charged to {self.receipt.account.dataset!r}"
        return f"Release({self.product}, {self.guarantee}, {paid})"

    def _repr_html_(self) -> str:
        try:
            drawn = self.plot()
        except MissingExtra:  # the words are there without the plotting parts
            drawn = None
        shown = "" if drawn is None else f'<img alt="" src="data:image/png;base64,{b64encode(drawn.png).decode()}"/>'
        return shown + self.statement().card()


# --- Facts and guarantees in words.


_MOST_NAMES = 6


def stated_facts(facts: Iterable[Fact]) -> tuple[StatedFact, ...]:
    """Return facts in words, without empty ones and without neighbours, which have a sentence of their own."""
    found = (StatedFact(fact.name, _fact_text(fact.name, fact.value), fact.declared) for fact in facts)
    return tuple(fact for fact in found if fact.text and fact.name != "neighbours")


def facts_from_record(values: Iterable[Mapping[str, Any]]) -> tuple[Fact, ...]:
    """Return the facts that `Fact.to_dict` wrote."""
    return tuple(
        Fact(
            str(each["name"]), each["value"], each["source"] in ("declared", ASSUMED), assumed=each["source"] == ASSUMED
        )
        for each in values
    )


def formal_guarantee(guarantee: Guarantee) -> str:
    """Return a guarantee in the field's words, with its numbers."""
    if isinstance(guarantee, GazeStreamDP):
        window = f"any one window of {number_text(guarantee.window)} s and radius {number_text(guarantee.radius)}"
        head = "" if guarantee.head_radius is None else f", and {number_text(guarantee.head_radius)} deg for the head,"
        window = f"{window} {guarantee.radius_unit}{head}"
        return f"ε-differential privacy for {window} of a gaze stream with ε = {number_text(guarantee.epsilon)}"
    if isinstance(guarantee, PureDP) or (isinstance(guarantee, ApproxDP) and not guarantee.delta):
        return f"ε-differential privacy with ε = {number_text(guarantee.epsilon)}"
    if isinstance(guarantee, ApproxDP):
        epsilon, delta = number_text(guarantee.epsilon), number_text(guarantee.delta)
        return f"(ε, δ)-differential privacy with ε = {epsilon} and δ = {delta}"
    if isinstance(guarantee, ZeroConcentratedDP):
        return f"ρ-zero-concentrated differential privacy with ρ = {number_text(guarantee.rho)}"
    return f"no proven guarantee ({guarantee.reason if isinstance(guarantee, Unproven) else guarantee.kind})"


def number_text(number: Fraction) -> str:
    """Write a number as it is, or rounded up to six digits where it is too long to read."""
    text = as_text(number)
    return text if len(text) <= 12 else in_digits(number, 6)


def _fact_text(name: str, value: Any) -> str:
    if name == "stimuli" and isinstance(value, list):
        return _stimuli(value)
    if name == "recordings" and isinstance(value, Mapping):
        return _recordings(value)
    return plain_text(value)


def plain_text(value: Any) -> str:
    """Return plain values as one short line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{str(key).replace('_', ' ')} {plain_text(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        more = [f"and {len(value) - _MOST_NAMES:,} more"] if len(value) > _MOST_NAMES else []
        return ", ".join([*(plain_text(each) for each in value[:_MOST_NAMES]), *more])
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)


def _recordings(meant: Mapping[str, Any]) -> str:
    others = dict(meant)
    most = others.pop("per_stimulus", None)
    said = [] if most is None else [f"at most {most} per participant and stimulus"]
    if (rate := others.pop("rate_hz", None)) is not None:
        said.append(f"{rate:g} Hz")
    if (stated := others.pop("fixations", None)) is not None:
        counts = others.pop("each_fixation_counts", "once")
        states = f"state the {' and '.join(stated)} of each" if stated else "state places alone"
        said.append(f"lists of fixations that {states}, which counts {counts}")
    return ", ".join([*said, *([plain_text(others)] if others else [])])


def _stimuli(stimuli: list[Mapping[str, Any]]) -> str:
    """Name some stimuli, and say what else is declared about all of them."""
    names = plain_text([each.get("name", "") for each in stimuli])
    screens = {str(sorted(each["screen"].items())) for each in stimuli if "screen" in each}
    timed = sum("seconds" in each for each in stimuli)
    shown = f"{len(stimuli):,} ({names})" if len(stimuli) > 1 else names
    more = [f"on {len(screens):,} screen{'s' if len(screens) > 1 else ''}"] if screens else []
    if timed:
        more.append("with the time that each was shown" if timed == len(stimuli) else f"{timed:,} with their duration")
    files = {kind: sum(kind in each for each in stimuli) for kind in ("picture", "film", "areas")}
    more += [
        f"{kind} declared" + (f" for {count:,}" if len(stimuli) > 1 else "") for kind, count in files.items() if count
    ]
    return ", ".join([shown, *more])


# --- How much of released heatmaps is data, picture and general prior.


LEAST_SHARE = 0.05
"""Below this share of data, what they changed is expected to correlate with the truth by less than 0.22: as little as
the noise alone brings about now and then."""
ALL_MAPS = "all_maps"
"""Where a record of several maps keeps what they are made of on average."""
MOST_CORRELATED = 0.99
"""Above this correlation of map and prior, less than a fiftieth of the map's variance is anything but the prior."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What a released map is made of, or what several are made of on average.

    Attributes:
        data: How much of what the prior leaves open the data have settled, from 0 to 1.
        picture: How much of the prior behind the map follows a picture, from 0 to 1.
        saliency_source: What predicted gaze from the picture; empty where nothing did.
        prior_correlation: The correlation of the map with what would be shown without data.
        hot_spots: How many cells are called hot spots; None where nobody asked.
        maps: How many maps there are.
        uninformative: How many of them add almost nothing to the prior.
    """

    data: float
    picture: float
    saliency_source: str
    prior_correlation: float
    hot_spots: int | None = None
    maps: int = 1
    uninformative: int = 0

    @staticmethod
    def of(estimate: Estimate, saliency_source: str = "", known: FloatArray | None = None) -> Shares:
        """Return what an estimate is made of; ``known`` is what is known without it, if not the prior."""
        spots = None if estimate.hot_spots is None else int(estimate.hot_spots.sum())
        correlation = _correlation(estimate.map.ravel(), estimate.prior.ravel())
        data = float(estimate.data_share)
        same = correlation if known is None else _correlation(estimate.map.ravel(), known.ravel())
        uninformative = int(data < LEAST_SHARE or same > MOST_CORRELATED)
        picture = float(estimate.picture_share)
        return Shares(data, picture, saliency_source, correlation, spots, uninformative=uninformative)

    @staticmethod
    def on_average(all_of_them: Sequence[Shares]) -> Shares:
        """Return what several maps are made of; hot spots are added up."""
        spots = [each.hot_spots for each in all_of_them if each.hot_spots is not None]
        return Shares(
            float(np.mean([each.data for each in all_of_them])),
            float(np.mean([each.picture for each in all_of_them])),
            all_of_them[0].saliency_source,
            float(np.mean([each.prior_correlation for each in all_of_them])),
            sum(spots) if spots else None,
            len(all_of_them),
            sum(each.uninformative for each in all_of_them),
        )

    @staticmethod
    def from_record(about: Mapping[str, Any]) -> Shares | None:
        """Return what `to_dict` wrote, of a map or of all maps; None where a record holds no shares."""
        about = about.get(ALL_MAPS, about)
        if "prior_correlation" not in about:
            return None
        spots = about["hot_spots"]
        return Shares(
            float(about["data_share"]),
            float(about["picture_share"]),
            str(about.get("picture_said_by", "")),
            float(about["prior_correlation"]),
            None if spots is None else int(spots),
            int(about.get("maps", 1)),
            int(about.get("maps_that_say_nothing_new", bool(about.get("says_nothing_new")))),
        )

    @property
    def own_correlation(self) -> float:
        """The correlation that what the data changed should have with what they should have changed.

        That is the prior regressed out of both maps. A model that knows its own uncertainty settles as much of the
        variance as the square of that correlation; measured on photographs and simulated scenes it was about right.
        """
        return math.sqrt(self.data)

    @property
    def is_uninformative(self) -> bool:
        """Whether the release adds almost nothing to the prior."""
        return self.uninformative == self.maps

    def in_words(self) -> tuple[str, ...]:
        """Return sentences on what the map is made of, and what to expect of the part that is data."""
        rest = 1 - self.data
        which = "this map" if self.maps == 1 else f"these {self.maps:,} maps, on average,"
        if self.maps > 1 and not self.saliency_source:
            which = f"what sets each of these {self.maps:,} maps apart from their mean, on average,"
        parts = [f"{self.data:.0%} of {which} comes from the data"]
        if self.saliency_source:
            parts.append(f"{rest * self.picture:.0%} from the picture ({self.saliency_source})")
        parts.append(f"{rest * (1 - self.picture):.0%} from the {'general ' if self.saliency_source else ''}prior")
        said = [
            ", ".join(parts) + ".",
            "What the data changed is expected to correlate with the truth by about "
            f"{self.own_correlation:.2f}; that is an expectation, not a measurement.",
        ]
        if self.hot_spots is not None:
            spots = "1 cell is flagged" if self.hot_spots == 1 else f"{self.hot_spots:,} cells are flagged"
            said.append(
                f"{spots} as hot spots: more than four times the gaze of an even map; at most one in ten flagged cells "
                "is wrong if the model holds, more if gaze does not follow the picture or the prior."
            )
        return tuple(said)

    def warnings(self) -> tuple[str, ...]:
        """Warn of maps that add almost nothing to what was known before."""
        if not self.uninformative:
            return ()
        if self.maps == 1:
            known = "the picture and the prior" if self.saliency_source else "the prior"
            return (f"This map adds almost nothing to {known}.",)
        known = "the pictures and the prior" if self.saliency_source else "their mean"
        return (f"{self.uninformative:,} of the {self.maps:,} maps add almost nothing to {known}.",)

    def to_dict(self) -> dict[str, Any]:
        """Return the shares as plain values, for the record."""
        return {
            "data_share": self.data,
            "picture_share": self.picture,
            **({"picture_said_by": self.saliency_source} if self.saliency_source else {}),
            "prior_correlation": self.prior_correlation,
            "expected_own_correlation": self.own_correlation,
            "hot_spots": self.hot_spots,
            "says_nothing_new": self.is_uninformative,
            **({} if self.maps == 1 else {"maps": self.maps, "maps_that_say_nothing_new": self.uninformative}),
        }


def _correlation(one: Any, other: Any) -> float:
    """Return the correlation of two maps; 1 where one of them is even, as then it is not defined."""
    if float(np.ptp(one)) == 0 or float(np.ptp(other)) == 0:
        return 1.0
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1.0, 1.0))
