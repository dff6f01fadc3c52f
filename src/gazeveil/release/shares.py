# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How much of released heatmaps is data, picture and general prior, in numbers and in words.

All of it follows from the released map and from public facts, so it costs nothing. A record keeps the numbers, and
`gazeveil verify` makes the same words from them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gazeveil.aggregate.strategy import Estimate
from gazeveil.arrays import FloatArray

LEAST_SHARE = 0.05
"""Below this share of data, what they changed is expected to correlate with the truth by less than 0.22: as little as
the noise alone brings about now and then."""

TOGETHER = "all_maps"
"""Where a record of several maps keeps what they are made of on average."""

MOST_ALIKE = 0.99
"""Above this correlation of map and prior, less than a fiftieth of the map's variance is anything but the prior."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What a released map is made of, or what several are made of on average.

    Attributes:
        data: How much of what the prior leaves open the data have settled, from 0 to 1.
        picture: How much of the prior behind the map follows a picture, from 0 to 1.
        said_by: What spoke for the picture; empty where none was used.
        alike: The correlation of the map with what would be shown without data.
        hot_spots: How many cells are called hot spots; None where nobody asked.
        maps: How many maps there are.
        silent: How many of them add almost nothing to the prior.
    """

    data: float
    picture: float
    said_by: str
    alike: float
    hot_spots: int | None = None
    maps: int = 1
    silent: int = 0

    @staticmethod
    def of(estimate: Estimate, said_by: str = "", known: FloatArray | None = None) -> Shares:
        """Return what an estimate is made of; where something else than the prior is known without it, give that."""
        spots = None if estimate.hot_spots is None else int(estimate.hot_spots.sum())
        alike = _correlation(estimate.map.ravel(), estimate.prior.ravel())
        data = float(estimate.data_share)
        same = alike if known is None else _correlation(estimate.map.ravel(), known.ravel())
        silent = int(data < LEAST_SHARE or same > MOST_ALIKE)
        return Shares(data, float(estimate.picture_share), said_by, alike, spots, silent=silent)

    @staticmethod
    def on_average(all_of_them: Sequence[Shares]) -> Shares:
        """Return what several maps are made of; hot spots are added up."""
        spots = [each.hot_spots for each in all_of_them if each.hot_spots is not None]
        return Shares(
            float(np.mean([each.data for each in all_of_them])),
            float(np.mean([each.picture for each in all_of_them])),
            all_of_them[0].said_by,
            float(np.mean([each.alike for each in all_of_them])),
            sum(spots) if spots else None,
            len(all_of_them),
            sum(each.silent for each in all_of_them),
        )

    @staticmethod
    def from_record(about: Mapping[str, Any]) -> Shares | None:
        """Return what `to_dict` wrote, of a map or of all maps; None where a record does not say it, as older ones."""
        about = about.get(TOGETHER, about)
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
    def says_nothing(self) -> bool:
        """Whether the release adds almost nothing to the prior."""
        return self.silent == self.maps

    def in_words(self) -> tuple[str, ...]:
        """Say what the map is made of, and what to expect of the part that is data; a sentence each."""
        rest = 1 - self.data
        which = "this map" if self.maps == 1 else f"these {self.maps:,} maps, on average,"
        if self.maps > 1 and not self.said_by:
            which = f"what sets each of these {self.maps:,} maps apart from their mean, on average,"
        parts = [f"{self.data:.0%} of {which} comes from the data"]
        if self.said_by:
            parts.append(f"{rest * self.picture:.0%} from the picture ({self.said_by})")
        parts.append(f"{rest * (1 - self.picture):.0%} from the {'general ' if self.said_by else ''}prior")
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
        """Warn of maps that say nothing that was not known before."""
        if not self.silent:
            return ()
        if self.maps == 1:
            known = "the picture and the prior" if self.said_by else "the prior"
            return (f"This map adds almost nothing to {known}.",)
        known = "the pictures and the prior" if self.said_by else "their mean"
        return (f"{self.silent:,} of the {self.maps:,} maps add almost nothing to {known}.",)

    def to_dict(self) -> dict[str, Any]:
        """Return the shares as plain values, for the record."""
        return {
            "data_share": self.data,
            "picture_share": self.picture,
            **({"picture_said_by": self.said_by} if self.said_by else {}),
            "prior_correlation": self.alike,
            "expected_own_correlation": self.own_correlation,
            "hot_spots": self.hot_spots,
            "says_nothing_new": self.says_nothing,
            **({} if self.maps == 1 else {"maps": self.maps, "maps_that_say_nothing_new": self.silent}),
        }


def _correlation(one: Any, other: Any) -> float:
    """Return the correlation of two maps; 1 where one of them is even, for then nothing sets them apart."""
    if float(np.ptp(one)) == 0 or float(np.ptp(other)) == 0:
        return 1.0
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1.0, 1.0))
