# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Randomness: an AES-256-CTR keystream, keyed by the operating system or by a seed, and random groups drawn from it.

Every sampler takes its 64-bit words from here, in order, a fixed number per sample. So a vector of samples and
the same number of single samples get the same words, and a seeded source gives the same values either way.

A source has a second keystream, for the rare sample whose first words do not decide it (`NoiseSource.more`).
Keeping those words apart leaves the count of words per sample fixed, whatever the noise turns out to be.
"""

from __future__ import annotations

import builtins
import hashlib
import os
import threading
import weakref
from collections.abc import Callable
from typing import NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from gazeveil.arrays import IntArray, WordArray
from gazeveil.errors import InputError, OptionError

WORD_BITS = 64
BLOCK_BYTES = 16
BLOCKS_PER_KEY = 2**32

_KEY_BYTES = 32
_BUFFER_WORDS = 2048
_CHUNK_WORDS = 8192
_ZEROS = memoryview(bytes(8 * _CHUNK_WORDS))


class NoiseSource:
    """A stream of random words that never gives the same word twice.

    Make one with `NoiseSource.secure` (for releases), `NoiseSource.keyed` (for releases of a cluster) or
    `NoiseSource.seeded` (for tests and simulation). Threads may share a source. A source cannot be copied or pickled,
    because a copy would repeat the keystream; use `spawn`. After a fork, a secure source takes a new key in the child,
    and a keyed or seeded source refuses to go on there.

    Attributes:
        description: Where the words come from.
    """

    __slots__ = ("__weakref__", "_children", "_lock", "_main", "_pid", "_root", "_secret", "_spare", "description")

    def __init__(self, root: bytes | None, description: str, *, secret: bool = False) -> None:
        self._root = root
        self._secret = secret
        self.description = description
        self._children: dict[str, int] = {}
        self._lock = threading.Lock()
        self._start()
        _LIVE.add(self)

    @classmethod
    def secure(cls) -> NoiseSource:
        """Return a source keyed by the operating system: the only kind a release may be made with."""
        return cls(None, "AES-256-CTR keyed by the operating system")

    @classmethod
    def seeded(cls, seed: int) -> NoiseSource:
        """Return a repeatable source, for tests and simulation: who knows the seed knows the noise.

        Raises:
            OptionError: If the seed is not an integer.
        """
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise OptionError(f"a seed is an integer, not {seed!r}", hint="for releases use NoiseSource.secure()")
        return cls(
            _derive(b"seed", str(int(seed)).encode()), f"AES-256-CTR from seed {int(seed)}: repeatable, not private"
        )

    @classmethod
    def keyed(cls, key: bytes, purpose: str) -> NoiseSource:
        """Return a source that a secret key and a purpose determine, for machines that must compute the same again.

        A cluster that repeats a piece of work after a crash must repeat its noise, or one secret would be shown under
        two noises. It is as good as `secure` as long as the key came from the operating system, nobody else ever
        learns it, and one purpose is never used for two different pieces of work.

        Raises:
            OptionError: If the key has not 32 bytes.
        """
        if len(key) != _KEY_BYTES:
            raise OptionError(f"a key has {_KEY_BYTES} bytes, not {len(key)}", hint="os.urandom(32) gives one")
        root = _derive(b"keyed", key, purpose.encode())
        return cls(root, "AES-256-CTR from a secret key", secret=True)

    @property
    def is_secure(self) -> bool:
        """Whether nobody can know the noise; if not, whatever is released is unproven."""
        return self._root is None or self._secret

    def words(self, count: int) -> WordArray:
        """Return the next ``count`` words of 64 random bits.

        Raises:
            OptionError: If the count is negative, or the source is seeded and was carried over a fork.
        """
        if count < 0:
            raise OptionError(f"a source gives zero or more words, not {count}")
        with self._lock:
            self._check_process()
            return self._main.take(count)

    def more(self) -> int:
        """Return 64 further bits for a sample that its own words left undecided, from a keystream of their own."""
        with self._lock:
            self._check_process()
            return int(self._spare.take(1)[0])

    def bytes(self, count: int) -> bytes:
        """Return ``count`` random bytes; uses whole words, that is, ``ceil(count / 8)`` of them."""
        return self.words(-(-count // 8)).astype("<u8", copy=False).tobytes()[:count]

    def bits(self, count: int) -> int:
        """Return an integer of ``count`` random bits; uses ``ceil(count / 64)`` words, the first one leading."""
        whole = 0
        for word in self.words(-(-count // WORD_BITS)).tolist():
            whole = whole << WORD_BITS | word
        return whole >> -count % WORD_BITS

    def spawn(self, label: str) -> NoiseSource:
        """Return an independent source.

        A secure source's child has a new key from the operating system. A seeded source's child depends on the seed,
        the label and how often that label was used before, not on the words taken so far.
        """
        if self._root is None:
            return NoiseSource(None, self.description)
        with self._lock:
            self._check_process()
            turn = self._children[label] = self._children.get(label, 0) + 1
        root = _derive(b"spawn", self._root, label.encode(), str(turn).encode())
        return NoiseSource(root, f"{self.description}, child {label!r} {turn}", secret=self._secret)

    def _start(self) -> None:
        """Begin with new keystreams: once, and once more in every forked child."""
        self._pid = os.getpid()
        self._main = _Keystream(self._keys(b"words"))
        self._spare = _Keystream(self._keys(b"more"))

    def _keys(self, purpose: builtins.bytes) -> Callable[[int], builtins.bytes]:
        root = self._root
        if root is None:
            return lambda _turn: os.urandom(_KEY_BYTES + BLOCK_BYTES)
        return lambda turn: _derive(purpose, root, str(turn).encode())

    def _check_process(self) -> None:
        if self._pid == os.getpid():
            return
        if self._root is not None:
            raise OptionError(
                "a repeatable noise source does not cross a fork: parent and child would draw the same noise",
                hint="make the source inside the worker, for example NoiseSource.seeded(n).spawn('worker-3')",
            )
        self._start()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise OptionError(
            "a noise source cannot be copied or pickled: the copy would repeat its keystream",
            hint="use spawn(label), or make a source where it is needed",
        )

    def __repr__(self) -> str:
        return f"<NoiseSource: {self.description}>"


class _Keystream:
    """AES-256-CTR over zeros, one key after another; what was handed out is erased from the buffer."""

    __slots__ = ("_at", "_blocks_left", "_buffer", "_encryptor", "_keys", "_turn")

    _encryptor: CipherContext

    def __init__(self, keys: Callable[[int], bytes]) -> None:
        self._keys = keys
        self._turn = 0
        self._blocks_left = 0
        self._buffer = np.zeros(_BUFFER_WORDS, "<u8")
        self._at = _BUFFER_WORDS

    def take(self, count: int) -> WordArray:
        """Return the next words, however large or small the portions they are asked for in."""
        end = self._at + count
        if end <= _BUFFER_WORDS:
            taken = self._buffer[self._at : end].copy()
            self._buffer[self._at : end] = 0
            self._at = end
        else:
            taken = np.empty(count, "<u8")
            done = _BUFFER_WORDS - self._at
            taken[:done] = self._buffer[self._at :]
            straight = (count - done) // _BUFFER_WORDS * _BUFFER_WORDS
            self._generate(taken[done : done + straight])
            self._generate(self._buffer)
            self._at = count - done - straight
            taken[done + straight :] = self._buffer[: self._at]
            self._buffer[: self._at] = 0
        return taken.astype(np.uint64, copy=False)

    def _generate(self, into: NDArray[np.uint64]) -> None:
        """Fill whole blocks with fresh keystream, under a new key when the old one has served its turn."""
        octets = into.view(np.uint8).data
        at = 0
        while at < len(octets):
            if self._blocks_left == 0:
                self._rekey()
            size = min(len(octets) - at, len(_ZEROS), self._blocks_left * BLOCK_BYTES)
            self._encryptor.update_into(_ZEROS[:size], octets[at : at + size])
            self._blocks_left -= size // BLOCK_BYTES
            at += size

    def _rekey(self) -> None:
        material = self._keys(self._turn)
        cipher = Cipher(algorithms.AES(material[:_KEY_BYTES]), modes.CTR(material[_KEY_BYTES:]))
        self._encryptor = cipher.encryptor()
        self._blocks_left = BLOCKS_PER_KEY
        self._turn += 1


def _derive(purpose: bytes, *parts: bytes) -> bytes:
    """Hash length-prefixed parts to a key and a starting counter; each purpose has its own hash function."""
    digest = hashlib.blake2b(digest_size=_KEY_BYTES + BLOCK_BYTES, person=b"gazeveil" + purpose)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


_LIVE: weakref.WeakSet[NoiseSource] = weakref.WeakSet()


def _after_fork() -> None:
    """Replace locks that another thread of the parent may have held; keystreams are renewed on use, by the pid."""
    for source in list(_LIVE):
        source._lock = threading.Lock()
        source._pid = -1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# --- Participants in random groups: a draw that is not noise on a number.


def random_groups(source: NoiseSource, people: int, size: int) -> list[IntArray]:
    """Return participants, counted from 0, in random groups of at least ``size``; every number is in one of them.

    Participants beyond a whole number of groups join the groups one by one, so no group is smaller.

    Raises:
        InputError: If there are fewer participants than a group needs.
    """
    if people < size:
        raise InputError(
            f"groups of {size:,} need at least {size:,} participants, and there are {people:,}", hint="use a smaller k"
        )
    order = np.argsort(source.words(people), kind="stable")  # equal words have a chance below people² / 2⁶⁴
    groups = people // size
    return [np.sort(order[group::groups]) for group in range(groups)]
