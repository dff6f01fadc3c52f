# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A declared study: every public fact that a release may use, as one frozen value.

A fact is public because someone declared it, not because it was found in the data. `Study.open` reads the
declaration (`gazeveil.release.study_toml`). `Study.observed_in` reads the facts off a corpus instead; every release
from such a study says that these facts are not protected.
"""

from __future__ import annotations

import hashlib
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gazeveil.display import a_few, brief, html_table
from gazeveil.errors import FileFormatError, GeometryError, InputError, OptionError, why
from gazeveil.exact import Number, as_text, chance_of_failure, whole_number
from gazeveil.features.external_tables import ExternalFeatures
from gazeveil.files import is_device
from gazeveil.gaze.corpus import STATED, Corpus, stated_in
from gazeveil.geometry import Geometry, assumption
from gazeveil.privacy.protection import Neighbours

if TYPE_CHECKING:
    from gazeveil.release.plan import Plan


DELTA = Fraction(1, 100_000)
"""The δ of a study that declares none."""

ASSUMED = "assumed: a public default, neither declared nor read from the data"
"""The source of a fact that nobody declared."""

SIZE = "screen size"
"""The name of the fact that the size or distance of a screen was assumed."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One public fact that a release rests on.

    Attributes:
        name: What it is about.
        value: What it says, as plain values.
        declared: Whether someone declared it; otherwise it was read from the data and is not protected.
        assumed: Whether it is a public default, taken because nobody declared anything. It is not read from the data.
    """

    name: str
    value: Any
    declared: bool = True
    assumed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the fact as plain values."""
        source = ASSUMED if self.assumed else "declared" if self.declared else "read from the data, not protected"
        return {"name": self.name, "value": self.value, "source": source}


@dataclass(frozen=True, slots=True, kw_only=True)
class Participants:
    """Who takes part: by name, by number, or as a secret.

    Attributes:
        roster: Their identifiers, if those are public.
        number: How many there are; with a roster, as many as it names.
        secret: Whether the number itself is protected; ``number`` is then a public guess that only tunes the decoder,
            and where there is none a part of ε pays for counting.
        withdrawn: Who withdrew: left out of every further release.
    """

    roster: tuple[str, ...] | None = None
    number: int | None = None
    secret: bool = False
    withdrawn: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "withdrawn", tuple(sorted(_spelt_once(self.withdrawn))))
        if self.roster is not None:
            roster = tuple(sorted(_spelt_once(self.roster) - set(self.withdrawn)))
            if not roster:
                raise OptionError("the roster is empty", hint="list the participants, or declare their number")
            if self.secret:
                raise OptionError("a public roster shows how many take part: their number cannot be secret")
            if self.number not in (None, len(roster)):
                raise OptionError(f"the roster names {len(roster)} participants, but the number says {self.number}")
            object.__setattr__(self, "roster", roster)
            object.__setattr__(self, "number", len(roster))
        if self.number is not None:
            object.__setattr__(self, "number", whole_number(self.number, "number of participants", at_least=1))
        elif not self.secret:
            raise OptionError("declare who takes part: a roster, a number, or that the number is secret")

    @property
    def neighbours(self) -> Neighbours:
        """How neighbouring data sets differ: by a replaced participant, or by one more or less."""
        return Neighbours.ADD_REMOVE if self.secret else Neighbours.REPLACE_ONE

    def in_words(self) -> str:
        """Say who takes part."""
        guess = "" if self.number is None else f" (about {self.number:,})"
        number = f"a secret number{guess}" if self.secret else f"{self.number:,}"
        named = "" if self.roster is None else f": {a_few(self.roster)}"
        gone = f"; {len(self.withdrawn):,} withdrew" if self.withdrawn else ""
        return f"{number}{named}{gone}"

    def __repr__(self) -> str:
        return f"Participants({self.in_words()})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stimulus:
    """What was looked at.

    Attributes:
        name: Its name in the recordings.
        screen: Where gaze on it lies.
        seconds: How long it was shown, if that is declared.
        task: What participants did with it; its own name by default.
        picture: A file with the picture that filled the screen, and the SHA-256 of that file.
        areas: A file with areas of interest, and the SHA-256 of that file.
        prior: A file with a public map of where gaze is likely (``.npy``), and the SHA-256 of that file.
        film: A file with the video that filled the screen from the first sample on, and the SHA-256 of that file.
        assumed: Which fields of the screen nobody declared: they are those of the usual screen.
    """

    name: str
    screen: Geometry
    seconds: float | None = None
    task: str = ""
    picture: tuple[Path, str] | None = None
    areas: tuple[Path, str] | None = None
    prior: tuple[Path, str] | None = None
    film: tuple[Path, str] | None = None
    assumed: tuple[str, ...] = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", spelt(self.name))

    @property
    def declared_screen(self) -> Geometry:
        """The screen without what is assumed about it."""
        return self.screen.with_sizes(**dict.fromkeys(self.assumed))

    def files(self) -> dict[str, tuple[Path, str]]:
        """Return the declared files, with their digests, by what they are."""
        found = {"picture": self.picture, "areas": self.areas, "prior": self.prior, "film": self.film}
        return {what: declared for what, declared in found.items() if declared is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return the stimulus as plain values; files by their digests, and of the screen only what is declared."""
        screen = self.declared_screen.to_dict()
        named = {"name": self.name, "screen": screen, "seconds": self.seconds, "task": self.task or None}
        files = {key: declared[1] for key, declared in self.files().items()}
        return {key: value for key, value in (named | files).items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recordings:
    """What each participant is meant to have recorded.

    Attributes:
        sessions: The labels of sessions that count; none for all.
        per_stimulus: How many recordings of a stimulus one participant contributes at most to feature series; the
            others are cut, in the order of session and trial. Maps and area statistics merge them.
        rate_hz: The sampling rate.
        pupil_unit: The unit of pupil size, if pupils were recorded.
        groups: The public group of participants, for comparisons.
        fixations: None for samples; for lists of fixations, which of `STATED` they state. Fixations count by their
            durations where these are stated, and once each where they are not.
    """

    sessions: tuple[str, ...] = ()
    per_stimulus: int = 1
    rate_hz: float | None = None
    pupil_unit: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    fixations: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.fixations is not None:
            if unknown := [name for name in self.fixations if name not in STATED]:
                raise OptionError(f"lists of fixations state {' and '.join(STATED)}, not {unknown[0]!r}")
            object.__setattr__(self, "fixations", tuple(name for name in STATED if name in self.fixations))
            if self.rate_hz is not None:
                raise OptionError("lists of fixations have no sampling rate", hint="remove rate_hz")
        object.__setattr__(self, "sessions", tuple(spelt(label) for label in self.sessions))
        object.__setattr__(self, "groups", {spelt(who): group for who, group in self.groups.items()})

    def __repr__(self) -> str:
        sessions = f"sessions {a_few(self.sessions)}" if self.sessions else "all sessions"
        rate = "" if self.rate_hz is None else f", {self.rate_hz:g} Hz"
        pupil = f", pupil in {self.pupil_unit}" if self.pupil_unit else ""
        groups = f", groups {a_few(sorted(set(self.groups.values())))}" if self.groups else ""
        stated = "" if self.fixations is None else f", fixations with {' and '.join(self.fixations) or 'places alone'}"
        return f"Recordings({sessions}, {self.per_stimulus} of a stimulus each{rate}{pupil}{stated}{groups})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Custody:
    """Who holds the raw data: asked for, because no guarantee covers it.

    Attributes:
        holder: The participant or institution.
        place: Where the raw data lie.
        access: Who can read them.
        until: When they are deleted.
    """

    holder: str = ""
    place: str = ""
    access: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Which account pays: a ledger's address and the data set's name in it; empty where none is declared."""

    ledger: str = ""
    account: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All public facts about a study.

    Attributes:
        name: The study's name.
        participants: Who takes part.
        stimuli: What was looked at, in the order of the declaration.
        recordings: What each participant is meant to have recorded.
        delta: The δ that releases use where they name none.
        budget: Which account pays.
        custody: Who holds the raw data.
        features: What is declared about a table of features that was made elsewhere, if there is one.
        observed: The names of facts that were read from the data.
    """

    name: str
    participants: Participants
    stimuli: tuple[Stimulus, ...]
    recordings: Recordings = Recordings()
    delta: Fraction = DELTA
    budget: Budget = Budget()
    custody: Custody = Custody()
    features: ExternalFeatures | None = None
    observed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", chance_of_failure(self.delta, "delta"))
        names = [stimulus.name for stimulus in self.stimuli]
        if not names:
            raise OptionError(f"the study {self.name!r} has no stimulus")
        if len(_spelt_once(names)) < len(names):
            raise OptionError("a stimulus is declared twice")
        if self.features is not None and not self.features.stimulus and len(names) > 1:
            raise OptionError(
                "the table of features does not say which stimulus a row is about",
                hint="name its column: stimulus = … under [features]",
            )

    @staticmethod
    def open(path: Path | str) -> Study:
        """Read a declared study from a TOML file.

        Raises:
            FileFormatError: If the file is wrong; with line, field, what was expected and found.
        """
        from gazeveil.release.study_toml import read_study  # noqa: PLC0415  (knows this class)

        return read_study(Path(path))

    def save(self, path: Path | str, *, remarks: Mapping[str, str] | None = None, overwrite: bool = False) -> Path:
        """Write the declaration as a TOML file that `Study.open` reads; ``remarks`` are comments, as of `propose`.

        Raises:
            OutputError: If the file cannot be written, or is there and may not be replaced.
        """
        from gazeveil.release.study_toml import write_study  # noqa: PLC0415  (knows this class)

        write_study(self, Path(path), remarks=remarks, overwrite=overwrite)
        return Path(path)

    @staticmethod
    def observed_in(corpus: Corpus, *, number: Number | None = None, secret: bool = False) -> Study:
        """Read the facts off a corpus: quick, and not protected. A number of participants can be declared.

        Raises:
            InputError: If the corpus holds no recordings, or those of one stimulus lie on several screens.
        """
        stimuli: dict[str, Geometry] = {}
        for part in corpus.parts:
            screen = stimuli.setdefault(spelt(part.stimulus), part.label.geometry)
            if screen != part.label.geometry:
                raise GeometryError(
                    f"recordings of {part.stimulus!r} lie on two screens ({screen}; {part.label.geometry})",
                    hint="declare the study: `gazeveil study init CORPUS --out study.toml`, then --study study.toml",
                )
        people = () if number is not None or secret else tuple(corpus.observers)
        fixations = stated_in(corpus)
        if not stimuli or not (people or number is not None or secret):
            raise InputError(f"there are no recordings in {corpus.name}")
        facts = {"stimuli", *(() if number is not None or secret else ("participants",))}
        facts |= set() if fixations is None else {"recordings"}
        return Study(
            name=Path(corpus.name).name,
            participants=Participants(
                roster=people or None, number=None if number is None else int(str(number)), secret=secret
            ),
            stimuli=tuple(Stimulus(name=name, screen=stimuli[name]) for name in sorted(stimuli)),
            recordings=Recordings(fixations=fixations),
            observed=frozenset(facts),
        )

    def plan(self, mechanism: Any, **selection: Any) -> Plan:
        """Return what a release by this mechanism guarantees, costs and is expected to be worth.

        Only public facts are used. ``selection`` says what is released, for example ``stimulus="scene-01"``.
        """
        from gazeveil.release.plan import plan  # noqa: PLC0415  (knows this class)

        return plan(self, mechanism, **selection)

    @property
    def neighbours(self) -> Neighbours:
        """How neighbouring data sets differ."""
        return self.participants.neighbours

    def stimulus(self, name: str) -> Stimulus:
        """Return a declared stimulus.

        Raises:
            InputError: If the study declares none of that name.
        """
        wanted = spelt(name)
        for stimulus in self.stimuli:
            if stimulus.name == wanted:
                return stimulus
        declared = ", ".join(stimulus.name for stimulus in self.stimuli[:12])
        raise InputError(f"the study {self.name!r} has no stimulus {name!r}", hint=f"it has {declared}")

    def with_picture(self, name: str, picture: Path | None) -> Study:
        """Return the study with a picture declared for one stimulus; as it is if there is none."""
        return self.with_file(name, "picture", picture)

    def with_prior(self, name: str, prior: Path | None) -> Study:
        """Return the study with a map of likely gaze declared for one stimulus; as it is if there is none."""
        return self.with_file(name, "prior", prior)

    def with_file(self, name: str, what: str, path: Path | None) -> Study:
        """Return the study with a file declared for one stimulus: its picture, areas, prior or film."""
        if path is None:
            return self
        from gazeveil.release.study_toml import declared_file  # noqa: PLC0415  (knows this class)

        chosen = self.stimulus(name)
        declared = replace(chosen, **{what: declared_file(path)})  # type: ignore[arg-type]
        return replace(self, stimuli=tuple(declared if each is chosen else each for each in self.stimuli))

    def on_screen(self, **sizes: float | None) -> Study:
        """Return the study with what is known about all of its screens beside what they say: fields of `Geometry`.

        Raises:
            OptionError: If a screen says something else.
        """
        given = {name: float(size) for name, size in sizes.items() if size is not None}
        if not given:
            return self
        stimuli = []
        for each in self.stimuli:
            for name, size in given.items():
                if (found := getattr(each.declared_screen, name)) not in (None, size):
                    raise OptionError(
                        f"{name} is given as {size:g}, but the screen of {each.name!r} has {found:g}",
                        hint="leave the option out, or correct what the recordings or study.toml say",
                    )
            stimuli.append(replace(each, screen=each.declared_screen.with_sizes(**given), assumed=()))
        return replace(self, stimuli=tuple(stimuli))

    def one_screen(self, names: Iterable[str]) -> Geometry:
        """Return the one screen of some stimuli.

        Raises:
            InputError: If they were shown on several.
        """
        screens: dict[Geometry, str] = {}
        declared = {stimulus.name: stimulus for stimulus in self.stimuli}  # studies may have many
        for name in names:
            stimulus = declared.get(spelt(name)) or self.stimulus(name)
            screens.setdefault(stimulus.screen, name)
        if len(screens) != 1:
            shown = "; ".join(f"{name!r}: {screen}" for screen, name in list(screens.items())[:3])
            raise InputError(
                f"the stimuli lie on {len(screens)} screens ({shown})",
                hint="release the stimuli of each screen together, and let the ledger add up",
            )
        return next(iter(screens))

    def withdraw(self, participant: str) -> Study:
        """Return the study without a participant: later releases leave them out; earlier ones stay as they are.

        Raises:
            InputError: If they are not in the roster, or withdrew before.
        """
        gone = spelt(participant)
        roster = self.participants.roster
        if gone in self.participants.withdrawn:
            raise InputError(f"{participant!r} withdrew from {self.name!r} before", hint="nothing is left to do")
        if not gone.strip():
            raise InputError("a participant's name is needed")
        if roster is not None and gone not in roster:
            raise InputError(
                f"{participant!r} is not in the roster of {self.name!r}", hint="write the name as the study declares it"
            )
        number = self.participants.number
        fewer = None if roster is not None or number is None else number - 1
        if self.participants.secret:  # a guess that falls would say that somebody left
            fewer = number
        participants = replace(
            self.participants, number=fewer, withdrawn=(*self.participants.withdrawn, gone), roster=roster
        )
        groups = {who: group for who, group in self.recordings.groups.items() if who != gone}
        return replace(self, participants=participants, recordings=replace(self.recordings, groups=groups))

    def facts(self, stimuli: Collection[str] | None = None) -> tuple[Fact, ...]:
        """Return the public facts that a release rests on, with those about some stimuli."""
        wanted = None if stimuli is None else frozenset(stimuli)  # studies may have many
        chosen = [each for each in self.stimuli if wanted is None or each.name in wanted]
        people = self.participants
        secret = "secret" if people.number is None else f"about {people.number}"
        number = secret if people.secret else people.number
        values: dict[str, Any] = {
            "participants": number,
            "stimuli": [stimulus.to_dict() for stimulus in chosen],
            "neighbours": str(self.neighbours),
        }
        recordings = {key: value for key, value in asdict(self.recordings).items() if value and key != "groups"}
        values["recordings"] = {
            key: list(each) if isinstance(each, tuple) else each for key, each in recordings.items()
        }
        if (stated := self.recordings.fixations) is not None:
            weight = "by its duration, at most 60 s" if "duration" in stated else "once"
            values["recordings"] |= {"fixations": list(stated), "each_fixation_counts": weight}
        facts = [Fact(name, value, name not in self.observed) for name, value in values.items()]
        if assumed := assumptions(chosen):
            facts.append(Fact(SIZE, f"assumed, because it is not declared: {'; '.join(assumed)}", assumed=True))
        return tuple(facts)

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain values: all that the declaration says, without files."""
        people = asdict(self.participants)
        return {
            "name": self.name,
            "participants": {key: list(value) if isinstance(value, tuple) else value for key, value in people.items()},
            "stimuli": [stimulus.to_dict() for stimulus in self.stimuli],
            "delta": as_text(self.delta),
        }

    def __repr__(self) -> str:
        people = self.participants
        who = "a secret number of" if people.secret else str(people.number)
        read = f", read from the data: {', '.join(sorted(self.observed))}" if self.observed else ""
        return f"Study({self.name!r}, {who} participants, {len(self.stimuli)} stimuli, {self.neighbours}{read})"

    def _repr_html_(self) -> str:
        screens = dict.fromkeys(str(stimulus.screen) for stimulus in self.stimuli)
        seconds = dict.fromkeys(f"{stimulus.seconds:g} s" for stimulus in self.stimuli if stimulus.seconds is not None)
        rows = {
            "participants": self.participants.in_words(),
            "stimuli": f"{len(self.stimuli):,}: {a_few([stimulus.name for stimulus in self.stimuli], 6)}",
            "shown for": a_few(seconds) or "not declared",
            "screens": a_few(screens),
            "δ": as_text(self.delta),
            "account": f"{self.budget.account} in {self.budget.ledger or 'no ledger'}"
            if self.budget.account
            else "not declared",
            "read from the data, not protected": ", ".join(sorted(self.observed)) or "nothing",
        }
        return html_table(f"Study {self.name}", rows.items())


def assumptions(stimuli: Iterable[Stimulus]) -> tuple[str, ...]:
    """Return in words what is assumed about the screens of some stimuli."""
    return tuple(dict.fromkeys(assumption(each.screen, each.assumed) for each in stimuli if each.assumed))


def spelt(name: str) -> str:
    """Return a name in one spelling (NFC): typed on two machines, it is still one participant."""
    return unicodedata.normalize("NFC", name)


def _spelt_once(names: Iterable[str]) -> set[str]:
    return {spelt(str(name)) for name in names}


# --- Files about many stimuli: their weights, their pictures, and the names of the files of each.


_LONGEST_NAME = 150


def read_weights(path: Path) -> dict[str, float]:
    """Read the weights of stimuli from a TOML file with a table ``weights``.

    Raises:
        FileFormatError: If it is not such a file.
    """
    wanted = 'TOML with a table [weights], such as "forest.png" = 2'
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileFormatError(path, expected=wanted, found=why(error)) from None
    weights = values.get("weights")
    if not isinstance(weights, dict) or set(values) != {"weights"}:
        raise FileFormatError(path, expected=wanted, found=f"the keys {', '.join(values) or 'none'}")
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise FileFormatError(path, expected="a number", found=repr(weight), column=name)
    return weights


def find_pictures(folder: Path, stimuli: Iterable[str]) -> dict[str, Path]:
    """Find the pictures of stimuli in a folder: ``NAME`` or ``NAME.png``; stimuli without one are left out.

    Raises:
        FileFormatError: If there is no such folder, or no picture of any stimulus in it.
    """
    found = {}
    for name in stimuli:
        if "/" in name or "\\" in name or name in {"", ".", ".."}:
            continue
        for path in (folder / name, folder / f"{name}.png"):
            if path.is_file():
                found[name] = path
                break
    if not found:
        raise FileFormatError(folder, expected="pictures with the stimuli's names", found="none of them")
    return found


def find_frames(folder: Path, moments: int) -> list[Path]:
    """Find the frame in the middle of each of this many moments: a folder's PNG files, by name, evenly over the time.

    Raises:
        FileFormatError: If there is no PNG file.
    """
    frames = sorted(folder.glob("*.png"))
    if not frames:
        raise FileFormatError(
            folder, expected="frames as PNG files whose names sort in their order", found="no PNG file"
        )
    return [frames[int((moment + 0.5) * len(frames) / moments)] for moment in range(moments)]


def file_names(stimuli: Iterable[str]) -> dict[str, str]:
    """Return a unique name for each stimulus that every file system takes, also where capitals do not count."""
    names = {stimulus: file_name(stimulus) for stimulus in stimuli}
    count = Counter(name.casefold() for name in names.values())
    return {
        stimulus: name if count[name.casefold()] == 1 else f"{name}-{_short_digest(stimulus)}"
        for stimulus, name in names.items()
    }


def file_name(stimulus: str) -> str:
    """Return a name that every file system takes, and that no two stimuli share where capitals count."""
    safe = quote(stimulus, safe=" ()[]+,=@").replace("%20", " ")
    if len(safe) > _LONGEST_NAME:
        return f"{safe[:_LONGEST_NAME]}-{_short_digest(stimulus)}"
    if is_device(safe):
        return f"%{ord(safe[0]):02X}{safe[1:]}"
    if safe[-1:] in (" ", "."):  # Windows drops them
        return f"{safe[:-1]}%{ord(safe[-1]):02X}"
    return safe or "_"


def _short_digest(stimulus: str) -> str:
    return hashlib.sha256(stimulus.encode()).hexdigest()[:12]
