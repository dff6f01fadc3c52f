# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How lists of fixations call their columns: vendors' exports by what marks them, other tables by common names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from gazeveil.errors import FileFormatError
from gazeveil.gaze.formats._columns import GAZE_UNITS, TIME_UNITS, Columns, parse_name
from gazeveil.gaze.formats._naming import usual_variable
from gazeveil.gaze.formats.base import ReadOptions
from gazeveil.gaze.formats.delimited import SPELLINGS as OF_TABLES
from gazeveil.geometry import Unit

_PLACES = (
    *("currentfix?", "mappedfixationpoint?", "fixationpoint?", "fixationposition?", "mappedfixation?", "fixation?"),
    *("fix?", "fpog?", "normpos?", "location?", "mean?", "avg?", "?avg", "?mean", "?cord"),
)
SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **{axis: (*(place.replace("?", axis) for place in _PLACES), *OF_TABLES[axis]) for axis in "xy"},
        "t": (
            *("currentfixstart", "eventstarttrialtime", "starttimestamp", "fpogs", "fixationstart", "fixstart"),
            *("starttime", "start", "tstart", "stime", "onset", "onsettime", "recordingtimestamp", *OF_TABLES["t"]),
        ),
        "duration": (
            *("currentfixduration", "gazeeventduration", "fixationduration", "eventduration", "fpogd", "fixduration"),
            *("duration", "fixdur", "dur"),
        ),
        "end": (
            *("currentfixend", "eventendtrialtime", "endtimestamp", "fixationend", "endtime", "end", "tend", "etime"),
            *("offset", "stop", "stoptime"),
        ),
        "index": (
            *("currentfixindex", "eyemovementtypeindex", "fixationindex", "fixationid", "fpogid", "fixindex", "fixid"),
            *("eventindex", "index"),
        ),
        "kind": ("eyemovementtype", "gazeeventtype", "eventtype", "category", "label", "event", "type", "name"),
        "eye": ("eye", "eyereported", "eyelr"),
        "valid": ("valid", "isvalid", "fpogv", "fixationdetectedonsurface"),
        "observer": ("recordingsessionlabel", "participantname", *OF_TABLES["observer"]),
        "stimulus": (
            *("presentedstimulusname", "presentedmedianame", "recordingmedianame", "medianame", "stimuliname"),
            *OF_TABLES["stimulus"],
            "scene",
        ),
        "session": ("recordingname", "recordingid", *OF_TABLES["session"]),
        "trial": OF_TABLES["trial"],
        "screen_width": ("recordingresolutionwidth",),
        "screen_height": ("recordingresolutionheight",),
    }
)
"""Our column → what others call it: letters and digits in lower case, without the unit. The first one counts."""

MAPPABLE = ("t", "x", "y", "duration", "valid", "observer", "stimulus", "session", "trial")
_BEST_PLANES = ("dacspx", "adcspx", "px", "pix", "pixel", "pixels", "")
_WITH_UNIT = re.compile(r"(.*\S)\s*\[(\w+)\]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """Whose export it is.

    Attributes:
        name: For participants.
        marks: Columns that only this export has together.
        units: The unit of columns of time that do not say theirs.
        plane: The unit of places, where columns do not say it.
        y_up: Whether y grows upwards.
        counts_trials: Whether, where trials have no column, a stimulus that comes again or a time that begins anew is
            the next trial.
        repeats: Whether a fixation stands on several rows, one for each sample in it.
        only: How rows of fixations begin, where rows of other kinds have other columns.
        not_ours: Columns that are called as ours are and are something else.
        wearers: Where it is stated who looked, if not in columns: by the ``folder``'s name, or in the ``download``.
    """

    name: str
    marks: frozenset[str] = frozenset()
    units: Mapping[str, str] = field(default_factory=dict)
    plane: Unit | None = None
    y_up: bool = False
    counts_trials: bool = False
    repeats: bool = False
    only: str = ""
    not_ours: frozenset[str] = frozenset()
    wearers: str = ""


TABLE = Vendor(name="a table")
VENDORS: Final = (
    Vendor(
        name="SR Research's fixation report",
        marks=frozenset({"currentfixx", "currentfixy"}),
        units=dict.fromkeys(("currentfixstart", "currentfixend", "currentfixduration"), "ms"),
        plane=Unit.PIXEL,
        counts_trials=True,
    ),
    Vendor(
        name="Tobii Studio's list of fixations",
        marks=frozenset({"fixationindex", "timestamp", "fixationduration", "mappedfixationpointx"}),
        units={"timestamp": "ms", "fixationduration": "ms"},
        plane=Unit.PIXEL,
        counts_trials=True,
    ),
    Vendor(
        name="Tobii's export of eye movements",
        marks=frozenset({"fixationpointx", "gazeeventduration"}),
        units={"gazeeventduration": "ms"},
        plane=Unit.PIXEL,
        counts_trials=True,
        repeats=True,
        not_ours=frozenset({"event", "name"}),
    ),
    Vendor(
        name="SMI's list of events",
        marks=frozenset({"eventtype", "trial", "start", "duration", "locationx", "locationy"}),
        units=dict.fromkeys(("start", "end", "duration"), "us"),
        plane=Unit.PIXEL,
        only="Fixation",
    ),
    Vendor(
        name="Gazepoint's list of fixations",
        marks=frozenset({"fpogx", "fpogs", "fpogd"}),
        units={"fpogs": "s", "fpogd": "s"},
        plane=Unit.FRACTION,
        counts_trials=True,
        not_ours=frozenset({"user"}),
    ),
    Vendor(
        name="Pupil Core's list of fixations",
        marks=frozenset({"normposx", "starttimestamp", "duration"}),
        units={"starttimestamp": "s", "duration": "ms"},
        plane=Unit.FRACTION,
        y_up=True,
        wearers="folder",
    ),
    Vendor(
        name="Pupil Cloud's list of fixations",
        marks=frozenset({"fixationid", "starttimestamp", "fixationx", "sectionid"}),
        wearers="download",
    ),
)


def vendor_of(words: Iterable[str]) -> Vendor:
    """Return whose export has columns of these words."""
    found = set(words)
    return next((vendor for vendor in VENDORS if vendor.marks <= found), TABLE)


def find_columns(columns: Columns, vendor: Vendor, options: ReadOptions) -> tuple[dict[str, str], dict[str, str]]:
    """Return where our columns are, and the units of time that the user states (``--column 'duration=LEN [ms]'``).

    Raises:
        FileFormatError: If places are missing, or a column that the user names is not there.
    """
    found, said = {}, {}
    for ours, given in options.columns.items():
        theirs, with_unit = given, _WITH_UNIT.match(given)
        if theirs not in columns.names and with_unit and with_unit[2].lower() in TIME_UNITS:
            theirs, said[ours] = with_unit[1], TIME_UNITS[with_unit[2].lower()]
        if ours not in MAPPABLE or theirs not in columns.names:
            raise columns.missing(
                f"{theirs!r} (for {ours})", (parse_name(theirs).words,), f"ours: {', '.join(MAPPABLE)}"
            )
        found[ours] = theirs
    if not {"x", "y"} & set(found):
        found |= _place(columns)
    elif not {"x", "y"} <= set(found):
        raise columns.missing("for both x and y", hint="name both with --column x=NAME --column y=NAME")
    taken = set(found.values()) | {name for name in columns.names if parse_name(name).words in vendor.not_ours}
    for ours, spellings in SPELLINGS.items():
        if ours not in found and ours not in {"x", "y"}:
            rest = Columns(columns.path, tuple(name for name in columns.names if name not in taken), columns.line)
            if name := rest.find(*spellings):
                found[ours] = name
                taken.add(name)
    if "stimulus" not in found:
        places = {place: name for name in reversed(columns.names) if (place := usual_variable(name)) is not None}
        found |= {"stimulus": places[min(places)]} if places and places[min(places)] not in taken else {}
    return found, said


def _place(columns: Columns) -> dict[str, str]:
    """Return x and y of one viewing plane: in pixels of the screen if they are there, else as they come."""
    for spelling_x, spelling_y in zip(SPELLINGS["x"], SPELLINGS["y"], strict=True):
        pairs = {}
        for name in columns.names:
            words, unit = parse_name(name)
            if words == spelling_x and (other := columns.find_with_unit(spelling_y, (unit,))):
                pairs[unit] = name, other
        if pairs:
            best = next((unit for unit in _BEST_PLANES if unit in pairs), next(iter(pairs)))
            return {"x": pairs[best][0], "y": pairs[best][1]}
    raise columns.missing(
        "of places, such as 'x' and 'y'",
        (*SPELLINGS["x"], *SPELLINGS["y"]),
        "say which, for example --column x=NAME --column y=NAME",
    )


def time_unit(
    columns: Columns, name: str, ours: str, vendor: Vendor, said: Mapping[str, str], options: ReadOptions
) -> tuple[str, bool]:
    """Return the unit of a column of time, and whether it is known rather than the user's one word for all columns.

    Raises:
        FileFormatError: If nobody says it; it is never guessed.
    """
    words, unit = parse_name(name)
    known = said.get(ours) or TIME_UNITS.get(unit) or vendor.units.get(words)
    if known is None and name == "RecordingTimestamp":
        known = "ms"
    if known is None and options.time_unit is None:
        raise FileFormatError(
            columns.path,
            line=columns.line,
            column=name,
            expected="a unit of time in the column's name, such as 'duration [ms]'",
            found="none",
            hint=f"state it with --time-unit ms, or for one column alone with --column {ours}={name + ' [ms]'!r}",
        )
    return known or str(options.time_unit), known is not None


def place_unit(name: str, vendor: Vendor, options: ReadOptions) -> Unit | None:
    """Return the unit of a column of places; None if nobody says it."""
    unit = parse_name(name).unit
    for ending, ours in {**GAZE_UNITS, "dacsnorm": "norm", "adcsnorm": "norm", "mcsnorm": "norm"}.items():
        if unit == ending or (ours == "px" and unit.endswith("px")):
            return Unit(ours)
    return vendor.plane or (None if options.geometry is None else options.geometry.unit)
