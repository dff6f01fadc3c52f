# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every error gazeveil raises on purpose.

::

    GazeveilError
    ├── InputError (ValueError)        what the user handed in is wrong
    │   ├── FileFormatError            a file: where, what was expected, what was found, what to do
    │   ├── UnknownName                no format, mechanism, … is registered under that name
    │   ├── GeometryError              a screen or headset that cannot exist, or a conversion it cannot do
    │   ├── OptionError                a parameter out of range
    │   └── WireError                  the other end of a connection does not keep to the protocol; it is closed
    ├── PrivacyError                   refused, because the guarantee would not hold
    │   ├── CannotCompose              guarantees about different things do not add up
    │   ├── BudgetExceeded             a charge does not fit into what is left of a budget
    │   ├── LedgerError                the ledger cannot be read or written, so nothing may be spent
    │   │   ├── LedgerBusy             others hold it: the same again in a moment may work
    │   │   └── LedgerRolledBack       it is an old copy, another file, or gone: it has forgotten what was spent
    │   ├── StateError                 the kept state of a stream is damaged or of another veil; the stream stays shut
    │   └── VeilShut                   a veil met an error and lets nothing through any more
    ├── ReleaseFailed                  a release was charged and could not be made; names no participant
    ├── OutputError (OSError)          a result could not be written; nothing half written stays behind
    ├── EngineError                    the machines that compute cannot be reached or failed; nothing was computed
    ├── MissingExtra (ImportError)     an optional package is needed: says what to install
    └── InternalError (RuntimeError)   our fault, never the user's
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def closest(word: object, known: Iterable[str]) -> str:
    """Return the hint for a word that is not known: which one may be meant, and which there are."""
    known = list(known)
    if str(word).endswith("-as-published"):
        return f"it is a published method that the lab measures and nothing releases; known: {', '.join(known)}"
    close = difflib.get_close_matches(str(word), known, n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}known: {', '.join(known)}"


def why(error: Exception) -> str:
    """Return the reason why a file could not be read, without the number and the path that the system adds."""
    if isinstance(error, FileNotFoundError):
        return "nothing there"
    return str(error.strerror or error) if isinstance(error, OSError) else str(error)


class GazeveilError(Exception):
    """Base of all errors of this package; ``hint`` says what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle, so that an error may come from another process: as it is, without asking for its parts again."""
        return _remade, (type(self), self.args, self.__dict__)

    def details(self) -> dict[str, object]:
        """Return the error as plain values, for ``--json`` output."""
        return {"error": type(self).__name__, "message": self.message, "hint": self.hint}


def _remade(kind: type[GazeveilError], args: tuple[object, ...], values: dict[str, object]) -> GazeveilError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(values)
    return error


class InputError(GazeveilError, ValueError):
    """What the user handed in is wrong."""


class FileFormatError(InputError):
    """A file does not hold what its format guarantees."""

    def __init__(
        self,
        path: Path | str,
        *,
        expected: str,
        found: str,
        line: int | None = None,
        column: str | None = None,
        hint: str = "",
    ) -> None:
        where = str(path)
        if line is not None:
            where += f", line {line:,}"
        if column is not None:
            where += f", column {column}"
        super().__init__(f"{where}: expected {expected}, found {found}", hint=hint)
        self.path = Path(path)
        self.line = line
        self.column = column
        self.expected = expected
        self.found = found

    def details(self) -> dict[str, object]:
        """Return the error as plain values, for ``--json`` output."""
        return {
            **super().details(),
            "path": str(self.path),
            "line": self.line,
            "column": self.column,
            "expected": self.expected,
            "found": self.found,
        }


class UnknownName(InputError):  # noqa: N818  (reads as what it is)
    """No format, mechanism, attack, … is registered under that name."""


class GeometryError(InputError):
    """A screen or headset that cannot exist, or a conversion it cannot do."""


class OptionError(InputError):
    """A parameter is out of range."""


class WireError(InputError):
    """The other end of a connection does not keep to its protocol. Never quotes what came: it may be gaze."""


class PrivacyError(GazeveilError):
    """Refused, because the guarantee would not hold."""


class CannotCompose(PrivacyError):  # noqa: N818
    """Guarantees about different things do not add up."""


class BudgetExceeded(PrivacyError):  # noqa: N818
    """A charge does not fit into what is left of a budget; nothing was spent.

    ``requested``, ``remaining`` and ``difference`` are guarantees as plain values, in the budget's own terms.
    ``difference`` is None where no budget of this kind could ever pay, for example for an unproven release.
    """

    def __init__(
        self,
        message: str,
        *,
        account: str,
        requested: Mapping[str, object],
        remaining: Mapping[str, object],
        difference: Mapping[str, object] | None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.account = account
        self.requested = requested
        self.remaining = remaining
        self.difference = difference

    def details(self) -> dict[str, object]:
        """Return the error as plain values, for ``--json`` output."""
        return {
            **super().details(),
            "account": self.account,
            "requested": self.requested,
            "remaining": self.remaining,
            "difference": self.difference,
        }


class LedgerError(PrivacyError):
    """The ledger cannot be read or written, so nothing may be spent."""


class LedgerBusy(LedgerError):  # noqa: N818
    """Others hold the ledger for longer than one wants to wait. Nothing was spent; try again in a moment."""


class LedgerRolledBack(LedgerError):  # noqa: N818
    """The ledger is not the one that was there: an old copy, another file, or gone. It has forgotten what was spent."""


class StateError(PrivacyError):
    """The kept state of a stream is damaged, of another version or of another mechanism; the stream stays shut."""


class VeilShut(PrivacyError):  # noqa: N818
    """A veil met an error before and lets nothing through any more, least of all raw gaze."""


class ReleaseFailed(GazeveilError):  # noqa: N818
    """A release could not be made after its charge. The message is the same whatever the data are; the cause is not."""

    def __init__(self, *, paid: bool) -> None:
        stands = "; the charge stands" if paid else ""
        super().__init__(
            f"the release could not be made: the data could not be read or processed on this machine{stands}",
            hint="check disk, memory and permissions, and run `gazeveil study check`, whose report is for you alone",
        )


class OutputError(GazeveilError, OSError):
    """A result could not be written; nothing half written stays behind."""


class EngineError(GazeveilError):
    """The machines that compute cannot be reached or failed; there is no result, not even a part of one."""


class MissingExtra(GazeveilError, ImportError):  # noqa: N818
    """An optional package is needed for this; the message says what to install."""

    def __init__(self, package: str, extra: str, purpose: str, *, hint: str = "") -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed",
            hint=hint or f"pip install 'gazeveil[{extra}]'",
        )
        self.package = package
        self.extra = extra


class InternalError(GazeveilError, RuntimeError):
    """Something that cannot happen happened: our fault, please report it."""


@contextmanager
def needing(package: str, extra: str, purpose: str) -> Iterator[None]:
    """Turn a failed import of an optional package into the error that says what to install.

    Raises:
        MissingExtra: If the import fails.
    """
    try:
        yield
    except ImportError:
        raise MissingExtra(package, extra, purpose) from None
