# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A kit for tests: repeatable noise, difficult gaze, the contracts of mechanisms, a short audit, veiled values.

Whoever writes a mechanism tests it with what the mechanisms of gazeveil are tested with::

    >>> from gazeveil.samples import MECHANISMS, Screen
    >>> from gazeveil.testing import audited, check_sample_mechanism
    >>> mine = MECHANISMS["clock"](Screen(1280, 720), epsilon=3, window="0.5", radius=60)
    >>> check_sample_mechanism(mine)
    >>> audited(mine, trials=400).violated
    False

Nothing here needs a test runner: what does not hold raises `ContractBroken`, an `AssertionError`. Nothing here is
private: `tape` is noise that anyone can repeat. So no module of gazeveil imports this one.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray, WordArray
from gazeveil.errors import GazeveilError, OptionError, StateError, VeilShut, closest
from gazeveil.features.series import SeriesMechanism
from gazeveil.gateway.sample import EyeGeometry, Pointing, VeiledFixation, VeiledHit, VeiledSample
from gazeveil.gateway.sample import make_veiled_fixation as made_fixation
from gazeveil.gateway.sample import make_veiled_hit as made_hit
from gazeveil.gateway.sample import make_veiled_sample as made_sample
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Eye, Recording
from gazeveil.geometry import Geometry, headset, screen
from gazeveil.noise.source import NoiseSource
from gazeveil.privacy.audit.auditor import audit
from gazeveil.privacy.audit.result import AuditResult
from gazeveil.privacy.audit.subject import Pair, Subject, series_pairs, still_gaze, window_pairs
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, Veil, mechanism_from_dict
from gazeveil.samples.space import Screen, Space, Sphere, space_from_dict, space_of

__all__ = [
    "GAZE_CASES",
    "SAMPLE_RULES",
    "SERIES_RULES",
    "ContractBroken",
    "audited",
    "check_sample_mechanism",
    "check_series_mechanism",
    "corpus",
    "gaze",
    "series",
    "tape",
    "veiled_fixation",
    "veiled_hit",
    "veiled_sample",
]

_SEED = 7
_NO_NUMBER = 1e12
"""No gaze, and no noise that hides any, comes out as far off as this."""


class ContractBroken(AssertionError):  # noqa: N818  (it reads as what happened)
    """A mechanism does not do what all mechanisms must.

    Attributes:
        rule: The rule that is broken, as listed in `SAMPLE_RULES` or `SERIES_RULES`.
        expected: What was expected.
        found: What was found instead.
        hint: What to do next.
    """

    def __init__(self, expected: str, found: str, hint: str, rule: str = "") -> None:
        super().__init__(expected, found, hint, rule)
        self.expected, self.found, self.hint, self.rule = expected, found, hint, rule

    def __str__(self) -> str:
        lines = [f"broken: {self.rule}"] if self.rule else []
        return "\n".join([*lines, f"expected  {self.expected}", f"found     {self.found}", f"hint      {self.hint}"])


def tape(seed: int = _SEED) -> NoiseSource:
    """Return a source of noise that is the same for the same seed. What is released with it is never private.

    >>> tape(7).words(3).tolist() == tape(7).words(3).tolist()
    True
    """
    return NoiseSource.seeded(seed)


class _Counted(NoiseSource):
    """A tape that counts what is taken from it, and can be empty."""

    __slots__ = ("empty", "spawned", "taken")

    def __init__(self, seed: int = _SEED, *, empty: bool = False) -> None:
        super().__init__(f"a counted tape {seed}".encode(), "a tape that is counted")
        self.empty, self.spawned, self.taken = empty, 0, 0

    def words(self, count: int) -> WordArray:
        if self.empty:
            raise RuntimeError("the tape is empty")
        self.taken += count
        return super().words(count)

    def spawn(self, label: str) -> NoiseSource:
        self.spawned += 1
        return super().spawn(label)


GAZE_CASES = (
    "plain", "one sample", "gaps", "not a number", "off screen", "irregular times", "extreme values", "nothing tracked",
    "everything",
)  # fmt: skip
"""The kinds of gaze that `gaze` makes; the last one has all difficulties at once."""


def _columns(case: str, space: Space, samples: int = 600, seed: int = 5) -> list[FloatArray]:
    """Return times and gaze, one list a coordinate: fixations, jumps, and what makes the case difficult."""
    if case not in GAZE_CASES:
        raise OptionError(f"no gaze is called {case!r}", hint=closest(case, GAZE_CASES))
    if samples < 100:
        raise OptionError(f"gaze has at least 100 samples, not {samples}", hint="the case 'one sample' has one")
    rng = np.random.default_rng(seed)
    places = rng.uniform(0.1, 0.9, (samples // 40 + 1, space.axes)).repeat(40, axis=0)[:samples]
    points = np.array(space.low) + (places + rng.normal(0.0, 0.002, places.shape)) * np.array(space.size)
    t, turn, whole = 100.0 + np.arange(samples) / 250.0, np.arange(samples), case == "everything"
    if whole or case == "off screen":  # on all sides, by up to the size of the plane
        points += np.sin(turn[:, None] / np.arange(9.0, 9.0 + space.axes)) * np.array(space.size)
    if whole or case == "irregular times":  # jitter, a time that repeats, a clock that runs back
        t += turn**2 * 0.618 % 1.0 * 0.003
        t[samples // 4 : samples // 4 + 10] = t[samples // 4]
        t[samples // 2 :] -= 0.1
    if whole or case == "gaps":  # a blink, an hour without samples, no gaze at the beginning and the end
        t[samples // 3 :] += 3600.0
        points[[0, -1]] = points[samples // 5 : samples // 5 + 20] = np.nan
    for axis in range(space.axes):
        if whole or case == "not a number":
            points[axis :: 5 * space.axes + 20, axis] = np.nan
            points[3 + axis :: 97, axis] = -np.inf if axis else np.inf
        if whole or case == "extreme values":
            for place, extreme in enumerate((1e308, -1e308, 5e-324, -0.0, math.inf)):
                points[5 + axis + 7 * place :: 83, axis] = extreme
    if case == "nothing tracked":
        points[:] = np.nan
    end = 1 if case == "one sample" else samples
    return [t[:end], *(column[:end].copy() for column in points.T)]


def gaze(
    case: str = "plain", *, plane: Geometry | None = None, samples: int = 600, seed: int = 5, **labels: Any
) -> Recording:
    """Return a small recording of nobody.

    Args:
        case: One of `GAZE_CASES`: plain, or with one kind of difficulty, or with everything.
        plane: Where gaze lies; a screen of 1280 x 720 pixels if left out.
        samples: How many; at least 100.
        seed: The same seed gives the same gaze.
        labels: Other fields of the recording: ``observer``, ``stimulus``, ``pupil``, ….

    Raises:
        OptionError: If there is no such case, or there are too few samples.

    >>> len(gaze("one sample")), bool(np.isnan(gaze("gaps").x[0]))
    (1, True)
    """
    plane = screen(1280, 720) if plane is None else plane
    t, x, y = _columns(case, space_of(plane), samples, seed)
    return Recording(t, x, y, plane, **{"observer": "nobody", "stimulus": "none", **labels})


def corpus(
    participants: int = 4, stimuli: int = 2, *, cases: Sequence[str] = ("plain",), plane: Geometry | None = None
) -> Corpus:
    """Return recordings of made-up participants, one for each stimulus; the cases of `gaze` take turns.

    >>> corpus(3, 2).observers
    ['p1', 'p2', 'p3']
    """
    keys = [(f"p{who}", f"scene{what}") for who in range(1, participants + 1) for what in range(1, stimuli + 1)]
    return Corpus.of(
        gaze(cases[at % len(cases)], plane=plane, seed=at, observer=who, stimulus=what)
        for at, (who, what) in enumerate(keys)
    )


def series(participants: int = 4, steps: int = 100, features: int = 3, seed: int = 0) -> FloatArray:
    """Return slow feature series of made-up participants, from 0 to 1: participants by steps by features.

    >>> series(2, 50, 1).shape
    (2, 50, 1)
    """
    moves = np.random.default_rng(seed).normal(0.0, 0.2 / math.sqrt(steps), (participants, steps, features))
    return np.clip(0.5 + np.cumsum(moves, axis=1), 0.0, 1.0)


# The contract of a mechanism for samples: one function a rule, whose first line says the rule.


def _expect(holds: bool, expected: str, found: str, hint: str) -> None:
    if not holds:
        raise ContractBroken(expected, found, hint)


@contextmanager
def _expect_error(kind: type[Exception], after: str, hint: str) -> Iterator[None]:
    try:
        yield
    except kind:
        return
    except Exception as error:
        raise ContractBroken(f"{kind.__name__} after {after}", f"{type(error).__name__}: {error}", hint) from error
    raise ContractBroken(f"{kind.__name__} after {after}", "no error", hint)


def _step(veil: Veil, *sample: Any) -> tuple[float, ...]:
    way: Any = veil.step if veil.mechanism.space.axes == 2 else veil.step3
    return way(*sample)  # type: ignore[no-any-return]


def _run(veil: Veil, *columns: Any) -> FloatArray:
    way: Any = veil.run if veil.mechanism.space.axes == 2 else veil.run3
    return np.asarray(way(*columns))


def _stepped(veil: Veil, columns: Sequence[FloatArray]) -> FloatArray:
    points = [_step(veil, *sample) for sample in zip(*(column.tolist() for column in columns), strict=True)]
    return np.array(points, dtype=np.float64).reshape(len(points), len(columns) - 1).T


def _cut(columns: Sequence[FloatArray], start: int, end: int | None = None) -> list[FloatArray]:
    return [column[start:end] for column in columns]


def _same(one: FloatArray, two: FloatArray, expected: str, hint: str) -> None:
    """Check that two outputs are the same bit for bit; a point that is missing equals one that is missing."""
    _expect(one.shape == two.shape, expected, f"{one.shape[-1]} and {two.shape[-1]} points", hint)
    apart = np.flatnonzero(~((one == two) | (np.isnan(one) & np.isnan(two))).all(axis=0))
    where = f"sample {apart[0]} comes out at {one[:, apart[0]]} and at {two[:, apart[0]]}" if len(apart) else ""
    _expect(not len(apart), expected, where, hint)


def _expect_guarantee(stated: object, hint: str) -> None:
    _expect(isinstance(stated, Guarantee) and bool(stated.in_words()), "a guarantee", repr(stated), hint)


def _guaranteed(mechanism: SampleMechanism) -> None:
    """It states its guarantee before it sees gaze, and none under noise that others can repeat."""
    streams = mechanism.start(NoiseSource.secure()).guarantee, mechanism.start(tape()).guarantee
    for stated in (mechanism.guarantee, *streams):
        _expect_guarantee(stated, "return GazeStreamDP(…), or Unproven(why)")
    hint = "leave `Veil.guarantee` as it is, and `draws_noise` true for a mechanism that takes noise"
    _expect(not streams[1].proven, "no guarantee on a tape", streams[1].in_words(), hint)


def _written(mechanism: SampleMechanism) -> None:
    """Its recipe is plain values that make it again."""
    recipe = json.loads(json.dumps(mechanism.to_dict(), allow_nan=False))
    if mechanism.name in MECHANISMS:
        again = mechanism_from_dict(recipe)
    else:
        values = {key: tuple(value) if isinstance(value, list) else value for key, value in recipe.items()}
        del values["mechanism"]
        kind: Any = type(mechanism)
        again = kind(**values | {"space": space_from_dict(recipe["space"])})
    hint = "parameters are the fields of a frozen dataclass, and nothing else is; names are used once"
    _expect(again == mechanism, mechanism.in_words(), again.in_words(), hint)
    _expect(mechanism.in_words().startswith(mechanism.name), mechanism.name, mechanism.in_words(), "set `name`")


def _apart(mechanism: SampleMechanism) -> None:
    """Parameters stay as they are, and streams know nothing of one another."""
    columns, before = _columns("everything", mechanism.space), mechanism.to_dict()
    alone = _run(mechanism.start(tape()), *columns)
    veil, other = mechanism.start(tape()), mechanism.start(tape(_SEED + 1))
    parts = []
    for start in range(0, len(columns[0]), 60):
        parts.append(_run(veil, *_cut(columns, start, start + 60)))
        _run(other, *_cut(columns, start, start + 60))
    hint = "keep what a stream remembers in its veil, never in the mechanism, the class or the module"
    _same(alone, np.concatenate(parts, axis=1), "the same points with another stream beside it", hint)
    _expect(mechanism.to_dict() == before, f"parameters {before}", f"{mechanism.to_dict()}", hint)


def _repeatable(mechanism: SampleMechanism) -> None:
    """The same noise gives the same answer, and all noise comes from the source that is given."""
    columns = _columns("everything", mechanism.space)
    counted = [_Counted(_SEED + at) for at in range(4)]
    veils = [mechanism.start(source) for source in counted]
    early = counted[0].taken
    _expect(not early, "no noise before the first sample", f"{early} words", "draw in `step` and `run`")
    shown = [_run(veil, *columns) for veil in veils]
    hint = "draw every random number from the source that `start` was given"
    _same(shown[0], _run(mechanism.start(_Counted()), *columns), "the same points for the same noise", hint)
    taken = [source.taken + source.spawned for source in counted]
    differ = any(not np.array_equal(shown[0], other, equal_nan=True) for other in shown[1:])
    if not mechanism.draws_noise:
        hint = "set `draws_noise` to true; without it a guarantee would be stated under noise that others know"
        _expect(not any(taken) and not differ, "no noise (draws_noise is false)", "noise", hint)
    elif any(part.draws_noise for part in getattr(mechanism, "members", (mechanism,))):
        _expect(all(taken) and differ, "other points for other noise", "the same, whatever the noise", hint)


def _live(mechanism: SampleMechanism) -> None:
    """It answers every sample at once, the same live as on file, however samples are portioned."""
    for case in ("plain", "everything"):
        columns = _columns(case, mechanism.space)
        live, hint = _stepped(mechanism.start(tape()), columns), "let `run` go through the same step, sample by sample"
        _same(live, _run(mechanism.start(tape()), *columns), f"the same live as on file ({case} gaze)", hint)
        veil = mechanism.start(tape())
        parts = [_run(veil, *_cut(columns, 0, 1)), _stepped(veil, _cut(columns, 1, 150))]
        parts += [_run(veil, *_cut(columns, 150, 500)), _run(veil, *_cut(columns, 500, 500))]
        parts.append(_stepped(veil, _cut(columns, 500)))
        _same(live, np.concatenate(parts, axis=1), f"the same in portions ({case} gaze)", hint)


def _no_peeking(mechanism: SampleMechanism) -> None:
    """What comes out does not depend on what comes later."""
    columns = _columns("everything", mechanism.space)
    whole = _run(mechanism.start(tape()), *columns)
    for cut in (1, 71, 300):
        hint = "use past samples only; what must look ahead has to delay its output and say so in `delay`"
        found = _run(mechanism.start(tape()), *_cut(columns, 0, cut))
        _same(whole[:, :cut], found, f"the first {cut} points, whatever follows", hint)


def _odd_gaze(mechanism: SampleMechanism) -> None:
    """Gaps, missing gaze, odd clocks and extreme numbers neither stop it nor come out."""
    for case in GAZE_CASES:
        columns, veil = _columns(case, mechanism.space), mechanism.start(tape())
        hint = f"see gaze({case!r}): missing gaze is NaN, and a stream goes on after it"
        try:
            shown = _run(veil, *columns)
        except Exception as error:
            raise ContractBroken(f"points for {case}", f"{type(error).__name__}: {error}", hint) from error
        size = shown.shape == (len(columns) - 1, len(columns[0]))
        _expect(size, f"{len(columns[0])} points for {case}", f"shape {shown.shape}", hint)
        farthest = np.max(np.abs(shown), initial=0.0, where=~np.isnan(shown))
        _expect(bool(farthest < _NO_NUMBER), f"points nearby for {case}", f"a coordinate of {farthest:g}", hint)
        _expect(not veil.shut, f"an open stream after {case}", veil.shut, hint)
        lost = int(np.count_nonzero(~np.isfinite(columns[1:]).all(axis=0)))
        back = case != "irregular times" or veil.faults.clock_ran_back > 0
        _expect(back, "a clock that ran back is counted", f"{veil.faults}", "keep time with `sample_times`")
        found = sum(veil.faults[1:])
        _expect(found >= lost, f"{lost} faults or more for {case}", f"{found}", "count missing gaze in `faults`")


def _fails_closed(mechanism: SampleMechanism) -> None:
    """What is no sample is an error, shuts the stream, and never lets anything out."""
    usual: list[Any] = [1.0, *mechanism.space.centre]
    rows = [np.full(3, value) for value in usual]
    own, other = ("", "3") if len(usual) == 3 else ("3", "")
    strangers = 7 - len(usual)  # columns of a space with another number of axes
    odd: list[tuple[str, list[Any]]] = [(f"step{other}", [1.0] * strangers), (f"run{other}", rows[:1] * strangers)]
    for at in range(len(usual)):
        for way, whole, bads in (
            (f"step{own}", usual, ("left", None, [1.0, 2.0])),
            (f"run{own}", rows, (np.zeros(2), np.zeros((3, 1)), ["a"] * 3, [10**400, 0, 0], None)),
        ):
            odd += [(way, [*whole[:at], bad, *whole[at + 1 :]]) for bad in bads]
    for time in (math.nan, math.inf, -math.inf, 1e13):
        odd += [(f"step{own}", [time, *usual[1:]]), (f"run{own}", [np.array([2.0, 3.0, time]), *rows[1:]])]
    hint = "decorate what takes samples with `fails_closed`, and check columns with `as_samples`"
    for way, given in odd:
        veil = mechanism.start(tape())
        _step(veil, 0.5, *usual[1:])
        with _expect_error(GazeveilError, f"{way}{tuple(given)}", hint):
            getattr(veil, way)(*given)
        _stays_shut(veil, f"{way}{tuple(given)}", usual, hint)
    veil = mechanism.start(tape())
    veil.close("the user left")
    _stays_shut(veil, "close()", usual, hint)
    for way, given in ((f"step{own}", usual), (f"run{own}", rows)):
        veil = mechanism.start(_Counted(empty=True))
        try:
            getattr(veil, way)(*given)
        except Exception:  # noqa: BLE001  (whatever a source raises)
            _stays_shut(veil, "noise that failed", usual, hint)


def _stays_shut(veil: Veil, after: str, usual: Sequence[float], hint: str) -> None:
    _expect(bool(veil.shut), f"a stream that is shut after {after}", "it goes on", hint)
    for again in (lambda: _step(veil, *usual), lambda: _run(veil, *np.array(usual)[:, None]), veil.to_bytes):
        with _expect_error(VeilShut, after, hint):
            again()


def _moves(mechanism: SampleMechanism) -> None:
    """Its state moves to another process, does not grow, is refused when damaged, and is never copied."""
    columns = _columns("everything", mechanism.space)
    hint = "write all that the stream remembers in `_state`, and take it over in `_restore`"
    for cut in (0, 1, 75, 300):
        source = tape()
        stays, leaves = mechanism.start(tape()), mechanism.start(source)
        for veil in (stays, leaves):
            _run(veil, *_cut(columns, 0, cut))
        state = stays.to_bytes()  # drops noise that was drawn ahead, in both
        _expect(leaves.to_bytes() == state, "equal states of equal streams", "they differ", hint)
        arrived = mechanism.resume(leaves.hand_over(), source)
        _stays_shut(leaves, "hand_over()", [1.0, *mechanism.space.centre], hint)
        expected = f"the same points after moving at sample {cut}"
        _same(_run(stays, *_cut(columns, cut)), _stepped(arrived, _cut(columns, cut)), expected, hint)
        _expect(arrived.faults == stays.faults, f"{stays.faults}", f"{arrived.faults}", hint)
    for at in range(0, len(state), max(1, len(state) // 16)):
        damaged = state[:at] + bytes([state[at] ^ 1]) + state[at + 1 :]
        with _expect_error(StateError, f"damage in byte {at} of a state", "let `resume` be that of the base class"):
            mechanism.resume(damaged, tape())
    sizes: list[int] = []
    veil = mechanism.start(tape())
    for _ in range(12):
        _run(veil, columns[0] + 5e3 * len(sizes), *columns[1:])
        sizes.append(len(veil.to_bytes()))
    _expect(max(sizes[8:]) <= 2 * max(sizes[:4]), "a state that stays small", f"{sizes} bytes", "forget old samples")
    for copying in (copy.copy, copy.deepcopy):
        with _expect_error(OptionError, "copying a stream", "two copies would spend one budget twice"):
            copying(veil)


def _files(mechanism: SampleMechanism) -> None:
    """A recording comes out as stepping would give it, and carries nothing else."""
    plane = _plane_of(mechanism.space)
    if plane is None:
        return
    t, x, y = _columns("everything", mechanism.space)
    eye = Eye(x + 3.0, y, pupil=np.full(len(t), 4.0))
    raw = Recording(t, x, y, plane, "ada", "wood", pupil=np.full(len(t), 3.5), left=eye, right=eye, rate_hz=250.0)
    veiled = mechanism.apply(raw, tape())
    shown = _stepped(mechanism.start(tape()), [raw.t, raw.x, raw.y])
    shown[:, np.isnan(shown).any(axis=0)] = np.nan
    hint = "leave `apply` as it is"
    _same(np.array([veiled.x, veiled.y]), shown, "the points that stepping gives", hint)
    _expect((veiled.key, veiled.t.tolist()) == (raw.key, raw.t.tolist()), "times and names kept", "others", hint)
    left_over = [name for name in ("pupil", "left", "right") if getattr(veiled, name) is not None]
    _expect(not left_over and not len(veiled.events), "gaze alone", f"{', '.join(left_over)} or events", hint)


_SAMPLE: dict[str, Callable[[Any], None]] = {
    str(rule.__doc__).rstrip("."): rule
    for rule in (
        _guaranteed, _written, _odd_gaze, _repeatable, _live, _no_peeking, _apart, _fails_closed, _moves, _files,
    )
}  # fmt: skip
SAMPLE_RULES = tuple(_SAMPLE)
"""What `check_sample_mechanism` checks, in words."""


def check_sample_mechanism(mechanism: SampleMechanism) -> None:
    """Check that a mechanism for gaze samples keeps the contract of all of them: `SAMPLE_RULES`.

    It starts a few hundred short streams, live and on file, on plain and on difficult gaze. The mechanism need not be
    registered.

    Raises:
        ContractBroken: If it does not; says which rule, what was expected, what was found, what to do.

    >>> from gazeveil.samples import MECHANISMS, Screen
    >>> check_sample_mechanism(MECHANISMS["temporal"](Screen(1280, 720), keep_every=5))
    """
    _check(mechanism, SampleMechanism, _SAMPLE)


def _check(mechanism: object, kind: type, rules: Mapping[str, Callable[[Any], None]]) -> None:
    hint = f"make it a frozen dataclass that inherits from {kind.__module__}.{kind.__name__}"
    frozen = getattr(getattr(type(mechanism), "__dataclass_params__", None), "frozen", False)
    _expect(isinstance(mechanism, kind) and frozen, f"a frozen {kind.__name__}", f"{mechanism!r}", hint)
    for words, rule in rules.items():
        try:
            rule(mechanism)
        except ContractBroken as broken:
            broken.rule = words
            raise
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
            raise ContractBroken("no error", found, "see the traceback above", words) from error


# The contract of a mechanism for a participant's own feature series.


def _series_guaranteed(mechanism: SeriesMechanism) -> None:
    """It states its guarantee before it sees data, and lists what it costs to protect more."""
    stated = mechanism.guarantee
    _expect_guarantee(stated, "return PureDP(…, unit=self.unit), or Unproven(why)")
    _expect(stated.unit == mechanism.unit, f"unit {mechanism.unit}", f"{stated.unit}", "pass unit=self.unit")
    if stated.proven:
        rows = mechanism.epsilon_by_steps()
        prices = [price for _, price in rows]
        hint = "`epsilon_for(changed)` grows with the steps that change, and is epsilon for `self.changed`"
        grows = prices == sorted(prices) and rows[-1][0] == mechanism.steps
        _expect(grows, "an ε that grows with the stretch", f"{[float(price) for price in prices]}", hint)
        own = mechanism.epsilon_for(mechanism.changed)
        _expect(own == mechanism.epsilon, f"ε = {mechanism.epsilon}", f"ε = {own}", hint)


def _series_written(mechanism: SeriesMechanism) -> None:
    """Its recipe is plain values that make it again."""
    recipe = json.loads(json.dumps(mechanism.to_dict(), allow_nan=False))
    found = recipe.pop("mechanism", None)
    _expect(found == mechanism.name, f"the name {mechanism.name!r} under 'mechanism'", f"{found!r}", "set `name`")
    again = type(mechanism)(**recipe)
    _expect(again == mechanism, f"{mechanism}", f"{again}", "parameters are the fields of a frozen dataclass")


def _series_shaped(mechanism: SeriesMechanism) -> None:
    """Series come back in shape and range, whatever they are, and what went in stays as it was."""
    values = series(4, mechanism.steps, mechanism.features)
    edges = np.zeros_like(values)
    edges[:, ::2] = 1.0
    for words, given in {"usual": values, "constant": np.full_like(values, 0.25), "extreme": edges}.items():
        kept = given.copy()
        noisy = mechanism.perturb(given, tape())
        hint = "return an array of its own, of the same shape, clipped to 0 to 1"
        _expect(noisy.shape == given.shape, f"shape {given.shape} for {words} series", f"{noisy.shape}", hint)
        inside = bool(((noisy >= 0) & (noisy <= 1)).all())
        _expect(inside, f"values from 0 to 1 for {words} series", f"{noisy.min():g} to {noisy.max():g}", hint)
        _expect(np.array_equal(given, kept), "the input as it was", "it was written to", hint)


def _series_repeatable(mechanism: SeriesMechanism) -> None:
    """The same noise gives the same series, other noise others, and every participant gets noise of their own."""
    values, source = series(4, mechanism.steps, mechanism.features), _Counted()
    values[1] = values[0]
    before, noisy = mechanism.to_dict(), mechanism.perturb(values, source)
    hint = "draw every random number from the source that `perturb` is given, and keep nothing from call to call"
    again = mechanism.perturb(values, _Counted())
    _expect(np.array_equal(noisy, again), "the same series for the same noise", "others", hint)
    other = mechanism.perturb(values, tape(_SEED + 1))
    drawn = source.taken + source.spawned > 0 and not np.array_equal(noisy, other)
    _expect(drawn, "other series for other noise", "the same, whatever the noise", hint)
    own = not np.array_equal(noisy[0], noisy[1])
    _expect(own, "other noise for each participant", "two equal participants came out equal", hint)
    _expect(mechanism.to_dict() == before, f"parameters {before}", f"{mechanism.to_dict()}", hint)


def _series_refuses(mechanism: SeriesMechanism) -> None:
    """Missing values, other shapes and numbers that make no sense are refused."""
    values, hint = series(4, mechanism.steps, mechanism.features), "begin `perturb` with `checked`"
    with _expect_error(OptionError, "series that are a step too long", hint):
        mechanism.perturb(np.concatenate([values, values[:, :1]], axis=1), tape())
    values[0, 0, 0] = np.nan
    with _expect_error(OptionError, "a missing value", hint):
        mechanism.perturb(values, tape())
    hint = "begin `__post_init__` with that of the base class"
    for wrong in ({"epsilon": 0}, {"epsilon": -1}, {"steps": 0}, {"features": 0}, {"delta": 1}):
        with _expect_error(OptionError, f"{wrong}", hint):
            replace(mechanism, **wrong)


_SERIES: dict[str, Callable[[Any], None]] = {
    str(rule.__doc__).rstrip("."): rule
    for rule in (_series_guaranteed, _series_written, _series_shaped, _series_repeatable, _series_refuses)
}
SERIES_RULES = tuple(_SERIES)
"""What `check_series_mechanism` checks, in words."""


def check_series_mechanism(mechanism: SeriesMechanism) -> None:
    """Check that a mechanism for feature series keeps the contract of all of them: `SERIES_RULES`.

    Raises:
        ContractBroken: If it does not; says which rule, what was expected, what was found, what to do.

    >>> from gazeveil.features.series import SERIES_MECHANISMS
    >>> check_series_mechanism(SERIES_MECHANISMS["fpa"](epsilon=1, steps=100, features=3))
    """
    _check(mechanism, SeriesMechanism, _SERIES)


# A short audit.


def audited(
    what: Subject | SampleMechanism | SeriesMechanism,
    *,
    false_alarm: float = 0.001,
    trials: int = 4_000,
    seed: int = 1,
) -> AuditResult:
    """Try to refute the guarantee that a mechanism states, and return what was found.

    A mechanism for samples runs on windows of gaze that are moved as far as its `GazeStreamDP` allows, on three clocks;
    one for series on series that differ as much as their ranges allow. Any other mechanism comes as a `Subject`, with
    neighbours of your own. Nothing found is not a proof.

    Args:
        what: The mechanism, or a subject.
        false_alarm: The chance, at most, that a guarantee that holds is called broken.
        trials: Runs on each of two neighbours; more find smaller violations.
        seed: The same seed gives the same answer, so a test does not fail by chance from day to day.

    Raises:
        ContractBroken: If the guarantee is refuted.
        OptionError: If nothing is guaranteed, or neighbours are not known.

    >>> from gazeveil.features.series import SERIES_MECHANISMS
    >>> audited(SERIES_MECHANISMS["lpa"](epsilon=1, steps=10), trials=1000).violated
    False
    """
    subject = what if isinstance(what, Subject) else _subject_of(what)
    result = audit(subject, trials=trials, confidence=1.0 - false_alarm, seed=seed)
    hint = "check the sensitivity, what is spent where, and that all data pass the noise"
    _expect(not result.violated, f"{subject.claim.in_words()}", result.in_words(), hint)
    return result


def _subject_of(mechanism: SampleMechanism | SeriesMechanism) -> Subject:
    claim = mechanism.guarantee
    if not claim.proven:
        raise OptionError(f"nothing is guaranteed: {claim.in_words()}", hint="give a Subject with the claim to refute")
    if isinstance(mechanism, SeriesMechanism):
        ends = [0.0] * mechanism.features, [1.0] * mechanism.features
        pairs = list(series_pairs(*ends, mechanism.steps, changed=mechanism.changed))
        return Subject(_SeriesRuns(mechanism).run, claim, pairs)
    plane = _plane_of(mechanism.space)
    if not isinstance(claim, GazeStreamDP) or plane is None:
        raise OptionError(f"no neighbours are known for {claim.in_words()}", hint="give a Subject with neighbours")
    seconds = float(claim.window)
    still = still_gaze(plane, 1.2 * seconds, 5 / seconds, places=1)
    found = window_pairs(still, 0.0, seconds, float(claim.radius))
    moved = [pair for pair in found if pair.words.startswith(("a step", "a slow drift"))]
    width = 2 * max(len(pair.first) for pair in moved)
    pairs = [Pair((pair.first, width), (pair.second, width), pair.words) for pair in moved]
    return Subject(_StreamRuns(mechanism).run, claim, pairs)


@dataclass(frozen=True, slots=True)
class _StreamRuns:
    """Starts a stream for every trial; outputs of all neighbours have one width."""

    mechanism: SampleMechanism

    def run(self, data: tuple[Recording, int], noise: NoiseSource, trials: int) -> FloatArray:
        recording, width = data
        rows = np.zeros((trials, width))
        for row in rows:
            shown = self.mechanism.start(noise).run(recording.t, recording.x, recording.y)
            row[: 2 * len(recording)] = np.column_stack(shown).ravel()
        return rows


@dataclass(frozen=True, slots=True)
class _SeriesRuns:
    """Each trial is a participant, with noise of their own."""

    mechanism: SeriesMechanism

    def run(self, data: FloatArray, noise: NoiseSource, trials: int) -> FloatArray:
        return self.mechanism.perturb(np.repeat(data[None], trials, axis=0), noise).reshape(trials, -1)


def _plane_of(space: Space) -> Geometry | None:
    """Return a viewing plane that lies in a space; None for points in a room and fractions of a screen."""
    if isinstance(space, Sphere):
        return headset(space.fov_x, space.fov_y)
    return screen(int(space.width), int(space.height)) if isinstance(space, Screen) and space.unit == "px" else None


# Veiled values. In the product only `gazeveil.gateway.veiling` makes them, behind a veil.


def veiled_sample(
    t: float = 0.0, x: float = 0.0, y: float = 0.0, head: Pointing | None = None, eyes: EyeGeometry | None = None
) -> VeiledSample:
    """Return a sample as it comes out of a veil, to test what takes such samples.

    >>> veiled_sample(1.5, 640, 360)
    VeiledSample(t=1.500000, x=640, y=360)
    """
    return made_sample(t, x, y, head, eyes)


def veiled_fixation(
    t: float = 0.0, x: float = 0.0, y: float = 0.0, duration: float = 0.2, number: int = 1
) -> VeiledFixation:
    """Return a fixation found in veiled points, that ended at ``t``."""
    return made_fixation(t, x, y, duration, number)


def veiled_hit(t: float = 0.0, area: str = "") -> VeiledHit:
    """Return the area that a veiled point is in since ``t``; empty for none."""
    return made_hit(t, area)
