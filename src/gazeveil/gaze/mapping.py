# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One answer for each recording of a corpus: the contract of whatever brings recordings to a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from gazeveil.arrays import Tell, silent
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording

Answer = TypeVar("Answer")


class MapsRecordings(Protocol):
    """Something that brings whole recordings to a function; every engine does."""

    def map_recordings(
        self, corpus: Corpus, kernel: Callable[[Recording], Answer], tell: Tell = silent
    ) -> Iterator[Answer]:
        """Yield the function's answer for each recording, in the order of `Corpus.recordings`.

        Function and answers must pickle, because they may travel. Whoever asks uses the answers once, and none of
        them if the iteration ends with an error.
        """
        ...


class OneByOne:
    """Brings recordings to a function in this thread."""

    def map_recordings(
        self, corpus: Corpus, kernel: Callable[[Recording], Answer], tell: Tell = silent
    ) -> Iterator[Answer]:
        """Yield the function's answer for each recording; one recording is worked on at a time."""
        count = len(corpus)
        for done, recording in enumerate(corpus.recordings(), start=1):
            answer = kernel(recording)
            tell(done, count)
            yield answer
