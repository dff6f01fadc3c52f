# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The contract of every mechanism for streams: parameters in a frozen mechanism, one stream's state in a veil.

A mechanism states its guarantee before it sees data. ``start`` gives a veil, and the same veil runs live (`Veil.step`)
and over arrays (`Veil.run`): equal noise gives equal output, bit for bit, however the samples are portioned. A veil's
state can be written as bytes, so that a stream moves to another process without losing its budget.
"""

from __future__ import annotations

import hashlib
import math
import os
import struct
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, NamedTuple, NoReturn, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, InternalError, OptionError, StateError, VeilShut
from gazeveil.exact import Number, as_text
from gazeveil.noise import NoiseSource
from gazeveil.privacy.composition import guarantee_after_noise
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.ledger.events import digest_of
from gazeveil.registry import Registry
from gazeveil.samples.space import Space, space_from_dict

if TYPE_CHECKING:
    from gazeveil.gaze.recording import Recording
    from gazeveil.samples.veiled_recordings import Eyes

Arrays = dict[str, NDArray[Any]]

LATEST = 1e12
"""Seconds; a time stamp beyond this is refused."""

PRIVACY_LEVEL = ("epsilon", "window", "radius")
"""The numbers of a guarantee that can be changed while a stream runs, where they can."""


class Faults(NamedTuple):
    """What was wrong with the samples of a stream: counts alone, never gaze.

    Attributes:
        clock_ran_back: Samples with an earlier time than the one before; they count as taken at that one's time.
        missing: Samples without gaze.
        not_finite: Samples with an infinite coordinate, treated as missing.
        too_far: Samples with gaze farther away than any eye looks, treated as missing.
    """

    clock_ran_back: int = 0
    missing: int = 0
    not_finite: int = 0
    too_far: int = 0


@dataclass(frozen=True, slots=True)
class SampleMechanism(ABC):
    """A way to veil a stream of gaze: parameters, nothing else.

    Attributes:
        space: Where the gaze lives. Public.
    """

    space: Space

    name: ClassVar[str]
    draws_noise: ClassVar[bool] = True
    """Whether output depends on the noise source; if not, a seeded one takes nothing from the guarantee."""
    keeps_distances: ClassVar[bool] = False
    """Whether every point comes out by itself, and no two come out farther apart than they went in."""

    def __post_init__(self) -> None:
        if not isinstance(self.space, Space):
            raise OptionError(
                f"{self.name} needs the space that gaze lives in, not {self.space!r}",
                hint="for example Screen(1920, 1080), or space_of(recording.geometry)",
            )

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is guaranteed, before any gaze is seen."""

    @property
    def delay(self) -> float:
        """By how many seconds the output looks back: a point shows where gaze was this long before."""
        return 0.0

    @property
    def fixed(self) -> str:
        """Why a running stream cannot change its guarantee; empty where it can."""
        return "it has no epsilon, window and radius"

    @property
    def can_change(self) -> bool:
        """Whether a running stream can change its guarantee (`Veil.change`)."""
        return not self.fixed

    @property
    def privacy_level(self) -> dict[str, Fraction]:
        """The numbers that a running stream can change, with their values; none where it cannot."""
        return {name: getattr(self, name) for name in PRIVACY_LEVEL} if self.can_change else {}

    def with_guarantee(
        self, epsilon: Number | None = None, window: Number | None = None, radius: Number | None = None
    ) -> Self:
        """Return the same mechanism with another guarantee; what is not given stays.

        Raises:
            OptionError: If it cannot have another one.
        """
        if self.fixed:
            raise OptionError(f"the guarantee of {self.name} cannot be changed: {self.fixed}")
        given: dict[str, Any] = {"epsilon": epsilon, "window": window, "radius": radius}
        return self._with_level({name: value for name, value in given.items() if value is not None})

    def can_become(self, other: SampleMechanism) -> bool:
        """Whether a running stream can go on as another mechanism: one that differs in the guarantee alone."""
        both = self.can_change and other.can_change and type(self) is type(other)
        return both and self.with_guarantee(**other.privacy_level) == other

    def _with_level(self, numbers: Mapping[str, Any]) -> Self:
        return replace(self, **numbers)

    @abstractmethod
    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil for a new stream. It takes no words from the source before its first sample."""

    def resume(self, state: bytes, noise: NoiseSource) -> Veil:
        """Return a veil that goes on where `Veil.to_bytes` left off.

        Raises:
            StateError: If the state is damaged, of another version, or of another mechanism.
        """
        arrays = unpack(self, state)
        veil = self.start(noise)
        veil._restore(arrays)
        return veil

    def apply(self, recording: Recording, noise: NoiseSource, *, eyes: Eyes = "drop") -> Recording:
        """Return a veiled recording, as stepping through it sample by sample would.

        Args:
            recording: What to veil; its unit must be the space's.
            noise: Where the random words come from.
            eyes: What becomes of the single eyes: ``drop``, or ``same`` to give both the one veiled point.

        Raises:
            InputError: If the recording is not in the space's unit, or has a time that is no number.
        """
        from gazeveil.samples.veiled_recordings import veil_recording  # noqa: PLC0415

        return veil_recording(recording, self.start(noise), eyes=eyes)

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values, as JSON and TOML know them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {name: _plain(value) for name, value in values.items() if value is not None}
        if isinstance(radius := values.get("radius"), Fraction):  # exact, so in the unit of the space
            plain["radius"] = as_text(radius) + self.space.unit
        return {"mechanism": self.name, **plain}

    def in_words(self) -> str:
        """Return name and parameters in one line."""
        shown = {name: value for name, value in self.to_dict().items() if name not in ("mechanism", "space")}
        return f"{self.name}({', '.join(f'{name}={_shown(value)}' for name, value in shown.items())})"


AnyVeil = TypeVar("AnyVeil", bound="Veil")
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def one_thread(
    method: Callable[Concatenate[AnyVeil, Arguments], Answer],
) -> Callable[Concatenate[AnyVeil, Arguments], Answer]:
    """Let one thread at a time use a veil: two at once would use the same noise and spend the same budget."""

    @wraps(method)
    def entered(self: AnyVeil, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        if not self._door.acquire(False):
            raise self._busy_error()
        try:
            return method(self, *args, **kwargs)
        finally:
            self._door.release()

    return entered


def fails_closed(
    method: Callable[Concatenate[AnyVeil, Arguments], Answer],
) -> Callable[Concatenate[AnyVeil, Arguments], Answer]:
    """Let one thread at a time use an open veil, and shut it after any error: for methods that take samples.

    A step that must be short does the same inline, to save a call.
    """

    @wraps(method)
    def entered(self: AnyVeil, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        if not self._door.acquire(False):
            raise self._busy_error()
        try:
            if self._shut:
                self._check_open()
            return method(self, *args, **kwargs)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            self._door.release()

    return entered


class Veil(ABC):
    """One stream behind a mechanism, for one thread at a time; a second thread is refused.

    After any error the veil is shut: every further step raises `VeilShut`, and nothing comes out. Samples that are not
    numbers, columns of unequal length and a wrong number of axes are errors too (`fails_closed`). A call that is
    refused before it begins leaves the veil unchanged: a second thread, or a privacy level that cannot be kept.

    A veil cannot be copied or pickled, and in a forked child it is shut: two veils with one history would spend one
    budget twice, and use the noise that was drawn ahead twice. `hand_over` moves a stream.
    """

    __slots__ = ("__weakref__", "_door", "_now", "_shut", "mechanism", "noise")

    def __init__(self, mechanism: SampleMechanism, noise: NoiseSource) -> None:
        self.mechanism = self._now = mechanism
        self.noise = noise
        self._shut = ""
        self._door = RLock()
        _LIVE.add(self)

    @abstractmethod
    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        """Take one sample and return the veiled point at once.

        Args:
            t: Device time in seconds. One that is earlier than the last is taken as the last.
            x: Gaze in the unit of the space; NaN in any coordinate means that gaze is missing.
            y: The other coordinate.

        Raises:
            InputError: If the time is not a number or absurd; the veil is shut.
            VeilShut: If the veil is shut already.
        """

    @abstractmethod
    def run(self, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Take many samples at once: the same result as stepping through them. The two may be mixed."""

    @fails_closed
    def step3(self, t: float, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Take one sample of a space with three axes."""
        raise self._wrong_axes(3)

    @fails_closed
    def run3(
        self, t: FloatArray, x: FloatArray, y: FloatArray, z: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Take many samples of a space with three axes."""
        raise self._wrong_axes(3)

    def pace(self, now: float) -> None:  # noqa: B027  (without a guarantee there is nothing to pace)
        """Set the time on the machine's monotonic clock, in seconds, for the samples to come.

        A veil with a guarantee for windows then keeps it on both clocks: if the device's clock runs ahead, as after a
        stall, releases wait for the machine's. For live streams only; a file has one clock.
        """

    @property
    @abstractmethod
    def faults(self) -> Faults:
        """What was wrong with the samples so far."""

    @property
    def current(self) -> SampleMechanism:
        """The mechanism at its current privacy level."""
        return self._now

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for every window with a release after the latest change; none if the noise is not secure."""
        stated = self.current.guarantee
        return guarantee_after_noise(stated, self.noise) if self.mechanism.draws_noise else stated

    @property
    def can_change(self) -> bool:
        """Whether the privacy level can be changed."""
        return self.mechanism.can_change

    @one_thread
    def change(
        self, t: float, *, epsilon: Number | None = None, window: Number | None = None, radius: Number | None = None
    ) -> None:
        """Change the privacy level: what is released from now on keeps another guarantee (erratum K4).

        A stricter guarantee holds at once. Windows that began under the old one keep the old one too.

        Args:
            t: Since when, in seconds of the device.
            epsilon: Another privacy loss; as it was if left out.
            window: Another window, in seconds.
            radius: Another radius.

        Raises:
            OptionError: If there is no privacy level, or the guarantee cannot be kept by this mechanism; the old one
                stays.
            VeilShut: If the veil is shut.
        """
        self._check_open()
        changed = self.current.with_guarantee(epsilon, window, radius)
        if not abs(float(t)) <= LATEST:
            raise OptionError(f"the time of a change must be in seconds, not {t!r}")
        try:
            self._change(float(t), changed)
        except BaseException as error:  # it may be half changed
            self._fail(error)
            raise
        self._now = changed

    def _change(self, t: float, changed: Any) -> None:
        """Go on as ``changed``, which differs from `current` in its privacy level."""
        raise InternalError(f"{self.mechanism.name} can change its guarantee, but does not define _change")

    @property
    def shut(self) -> str:
        """Why the veil is shut; empty while it is open."""
        return self._shut

    def close(self, reason: str = "the stream was closed") -> None:
        """Shut the veil and erase what it remembers."""
        self._shut = self._shut or reason
        self._forget()

    @one_thread
    def to_bytes(self) -> bytes:
        """Return the state, for `SampleMechanism.resume`. Prefetched noise is dropped and never part of it.

        The state may hold recent gaze: keep it as secret as gaze. Resume it once.

        Raises:
            VeilShut: If the veil is shut.
        """
        self._check_open()
        self._drop_noise()
        return pack(self.mechanism, self._state())

    def hand_over(self) -> bytes:
        """Return the state and shut this veil: the safe way to move a stream, because only one can go on.

        Raises:
            VeilShut: If the veil is shut.
        """
        state = self.to_bytes()
        self.close("the stream was handed over")
        return state

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise OptionError(
            "a veil cannot be copied or pickled: both copies would spend the same budget",
            hint="move the stream with hand_over() and mechanism.resume(state, noise)",
        )

    @abstractmethod
    def _state(self) -> Arrays:
        """Return what must survive, by name: lists of float64, int64 or uint8."""

    @abstractmethod
    def _restore(self, arrays: Arrays) -> None:
        """Take over a state; raises `StateError` if it does not fit."""

    def _drop_noise(self) -> None:
        """Erase noise that was drawn ahead."""
        return

    def _forget(self) -> None:
        """Erase what the veil remembers of gaze and noise."""
        self._drop_noise()

    def _check_open(self) -> None:
        if self._shut:
            raise VeilShut(f"the veil is shut: {self._shut}", hint="start a new stream")

    def _fail(self, error: BaseException) -> None:
        """Shut the veil because of an error; raise errors of the input as `InputError`."""
        if isinstance(error, VeilShut):
            return
        self.close(f"{type(error).__name__} in an earlier step")
        if isinstance(error, ValueError | TypeError | OverflowError) and not isinstance(error, InputError):
            raise InputError(
                f"a sample must be a finite time, within ±{LATEST:g} seconds, and gaze as numbers; the veil is shut",
                hint="missing gaze is NaN; start a new stream",
            ) from error

    def _busy_error(self) -> OptionError:
        return OptionError("another thread is using this veil", hint="a stream belongs to one thread at a time")

    def _wrong_axes(self, axes: int) -> OptionError:
        self._check_open()
        return OptionError(
            f"this veil's space has {self.mechanism.space.axes} axes, not {axes}",
            hint="step and run are for two, step3 and run3 for three",
        )


class ColumnsVeil(Veil):
    """A veil for spaces of two axes and of three: arrays of both take the same path."""

    __slots__ = ()

    @fails_closed
    def run(self, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Take many samples at once; the same as stepping through them."""
        shown_x, shown_y = self._through(t, x, y)
        return shown_x, shown_y

    @fails_closed
    def run3(
        self, t: FloatArray, x: FloatArray, y: FloatArray, z: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Take many samples of a space with three axes."""
        shown_x, shown_y, shown_z = self._through(t, x, y, z)
        return shown_x, shown_y, shown_z

    @abstractmethod
    def _through(self, *columns: FloatArray) -> list[FloatArray]:
        """Return veiled gaze, one array per coordinate, from times and gaze; after an error the veil is shut."""


_LIVE: weakref.WeakSet[Veil] = weakref.WeakSet()


def _after_fork() -> None:
    for veil in list(_LIVE):
        veil.close("the process was forked, and the stream is the parent's")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


MECHANISMS: Registry[type[SampleMechanism]] = Registry("mechanism", "gazeveil.samples.mechanisms")
"""Mechanisms for streams by name; each is made as ``MECHANISMS[name](space, …)``."""


def mechanism_from_dict(values: Mapping[str, Any]) -> SampleMechanism:
    """Return the mechanism that `SampleMechanism.to_dict` wrote; anything unknown or missing is refused.

    Raises:
        OptionError: If the values do not describe a mechanism.
    """
    given = dict(values)
    name = given.pop("mechanism", None)
    if not isinstance(name, str):
        raise OptionError(f"a mechanism needs its name under 'mechanism', not {name!r}")
    kind = MECHANISMS[name]
    known = {field.name for field in fields(kind)}
    if unknown := sorted(given.keys() - known):
        raise OptionError(
            f"{name} has no parameter {', '.join(map(repr, unknown))}", hint=f"it has {', '.join(sorted(known))}"
        )
    try:
        return kind(**{key: _decoded(value) for key, value in given.items()})
    except TypeError as error:
        raise OptionError(f"{name} cannot be made of that: {error}") from None


def _decoded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return mechanism_from_dict(value) if "mechanism" in value else space_from_dict(value)
    return tuple(_decoded(item) for item in value) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Space | SampleMechanism):
        return value.to_dict()
    if isinstance(value, Fraction):
        return as_text(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise OptionError(f"a parameter must be finite, not {value!r}")
    return value


def _shown(value: Any) -> str:
    if isinstance(value, Mapping) and "mechanism" in value:
        return str(mechanism_from_dict(value).in_words())
    if isinstance(value, list):
        return f"[{', '.join(_shown(item) for item in value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


# --- A stream's state as bytes. Layout, little-endian:
#
#     8 bytes   magic
#     2         format version
#     32        SHA-256 of the mechanism that the state belongs to
#     2         number of arrays, then for each: 1 length of its name, the name, 1 type letter, 4 length, the values
#     16        BLAKE2b of all before
#
# The checksum finds damage, not forgery. A state may hold recent gaze: keep it as secret as gaze. It never holds noise.
# Resume a state once, and the latest one only: an older copy has forgotten what was spent since.


VERSION = 1
_MAGIC = b"gazeveil"
_CHECKSUM = 16
_HEAD = struct.Struct("<8sH32sH")
_TYPES: dict[str, np.dtype[Any]] = {"f": np.dtype("<f8"), "i": np.dtype("<i8"), "b": np.dtype("u1")}
_HINT = "start a new stream; one that cannot be resumed must not go on with its old budget"


def pack(mechanism: SampleMechanism, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return named arrays of float64, int64 or uint8 as bytes that belong to a mechanism."""
    parts = [_HEAD.pack(_MAGIC, VERSION, _digest(mechanism), len(arrays))]
    for name, values in arrays.items():
        letter = next((letter for letter, dtype in _TYPES.items() if dtype == values.dtype), None)
        if letter is None or values.ndim != 1:
            raise InternalError(f"a state holds lists of floats, integers or bytes, not {values.dtype} {values.shape}")
        label = name.encode()
        parts += [bytes([len(label)]), label, letter.encode(), struct.pack("<I", len(values)), values.tobytes()]
    content = b"".join(parts)
    return content + _checksum(content)


def unpack(mechanism: SampleMechanism, state: bytes) -> Arrays:
    """Return the arrays that `pack` wrote for an equal mechanism, as copies.

    Raises:
        StateError: If the bytes are damaged, of another version, or of another mechanism.
    """
    if not isinstance(state, bytes | bytearray | memoryview):
        raise StateError(f"a state is bytes, not {type(state).__name__}", hint=_HINT)
    whole = bytes(state)
    content, checksum = whole[:-_CHECKSUM], whole[-_CHECKSUM:]
    if len(content) < _HEAD.size or content[:8] != _MAGIC:
        raise StateError("these bytes are not the state of a veil", hint=_HINT)
    _, version, digest, count = _HEAD.unpack_from(content)
    if version != VERSION:
        raise StateError(f"the state has format version {version}, this is version {VERSION}", hint=_HINT)
    if _checksum(content) != checksum:
        raise StateError("the state is damaged: its checksum is wrong", hint=_HINT)
    if digest != _digest(mechanism):
        raise StateError("the state belongs to another mechanism, or to one with other parameters", hint=_HINT)
    try:
        return _arrays(content, count)
    except (IndexError, KeyError, ValueError, struct.error):
        raise StateError("the state is damaged: its arrays do not add up", hint=_HINT) from None


def fit_arrays(arrays: Mapping[str, NDArray[Any]], into: Mapping[str, NDArray[Any]]) -> None:
    """Copy a state's arrays into a veil's own.

    Raises:
        StateError: If names, types or lengths differ.
    """
    if arrays.keys() != into.keys() or any(
        arrays[name].dtype != own.dtype or arrays[name].shape != own.shape for name, own in into.items()
    ):
        raise StateError("the state has another shape than the veil", hint=_HINT)
    for name, own in into.items():
        own[:] = arrays[name]


def _arrays(content: bytes, count: int) -> Arrays:
    arrays: Arrays = {}
    at = _HEAD.size
    for _ in range(count):
        length = content[at]
        name = content[at + 1 : at + 1 + length].decode()
        at += 1 + length
        dtype = _TYPES[content[at : at + 1].decode()]
        (size,) = struct.unpack_from("<I", content, at + 1)
        at += 5
        arrays[name] = np.frombuffer(content, dtype, count=size, offset=at).copy()
        at += size * dtype.itemsize
    if at != len(content) or len(arrays) != count:
        raise ValueError
    return arrays


def _digest(mechanism: SampleMechanism) -> bytes:
    return bytes.fromhex(digest_of(mechanism.to_dict()))


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM, person=b"gazeveil-state").digest()
