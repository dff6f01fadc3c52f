# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What goes out: a value together with the promise that was kept, how it was made, and from what.

`Release.save` charges the ledger first and writes after. Beside the file it writes a sidecar ``NAME.release.json``
with the promise, the recipe, the provenance, the receipt and the privacy statement. The sidecar is in place before the
file is, so there is never a released file without its promise, nor one without its charge.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from gazeveil import __version__
from gazeveil.errors import FileFormatError, LedgerError, OptionError, OutputError
from gazeveil.files import replacing
from gazeveil.privacy.guarantee import Guarantee, Unproven, guarantee_from_dict
from gazeveil.privacy.ledger.account import Receipt, named
from gazeveil.privacy.ledger.events import digest_of
from gazeveil.privacy.ledger.ledger import Ledger
from gazeveil.privacy.statement import Statement, statement

SEEDED = "its noise came from a seed, and whoever knows the seed can take the noise away"
_FORMAT = "gazeveil-release"
_VERSION = 1


@runtime_checkable
class Recipe(Protocol):
    """A mechanism that can be written down."""

    def to_dict(self) -> Mapping[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        ...


def kept_promise(guarantee: Guarantee, noise: object) -> Guarantee:
    """Return the promise that a release with this noise keeps: none, unless the noise is known to be secure."""
    if getattr(noise, "is_secure", False) is True:
        return guarantee
    reasons = guarantee.reasons if isinstance(guarantee, Unproven) else ()
    return Unproven([*reasons, SEEDED], unit=guarantee.unit, neighbours=guarantee.neighbours)


def is_seeded(guarantee: Guarantee) -> bool:
    """Return whether a guarantee was lost because the noise came from a seed."""
    return isinstance(guarantee, Unproven) and SEEDED in guarantee.reasons


@dataclass(frozen=True, slots=True)
class Release:
    """A value that may leave, with its promise.

    Attributes:
        value: What is released.
        guarantee: The promise that was kept.
        recipe: The mechanism that made it, as an object with ``to_dict`` or as plain values.
        provenance: What it was made from: counts, versions, engine, what was dropped. It is published with the value,
            so it must not hold anything that the promise hides.
        receipt: The charge that paid for it, if there was one.
        id: The release's name in the ledger. It is charged under this name, so it is charged once however often it
            is saved.
    """

    value: Any
    guarantee: Guarantee
    recipe: Recipe | Mapping[str, Any]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    receipt: Receipt | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def recipe_values(self) -> dict[str, Any]:
        """Return the recipe as plain values."""
        return dict(self.recipe.to_dict() if isinstance(self.recipe, Recipe) else self.recipe)

    def statement(self) -> Statement:
        """Return what a participant should read."""
        return statement(self.guarantee, total=None if self.receipt is None else self.receipt.account.promise)

    def charged(self, ledger: Ledger, dataset: str, *, person: str = "", note: str = "") -> Release:
        """Charge the ledger for this release, once, and return it with the receipt.

        Raises:
            BudgetExceeded: If the budget does not allow it; nothing was spent, and nothing may leave.
            LedgerError: If its receipt is for another account, or for another promise.
        """
        if self.receipt is not None:
            paid, account = self.receipt.guarantee, self.receipt.account
            if (account.dataset, account.person, paid) != (dataset, person, self.guarantee):
                raise LedgerError(
                    f"the release was paid for {named(account.dataset, account.person)} with {paid}, "
                    f"not for {named(dataset, person)} with {self.guarantee}",
                    hint="make a new release for another account or another promise",
                )
            return self
        receipt = ledger.charge(
            dataset, self.guarantee, person=person, recipe=self.recipe_values(), note=note, charge_id=self.id
        )
        return replace(self, receipt=receipt)

    def post_processed(self, value: Any, how: str) -> Release:
        """Return a release of something computed from the released value alone, which costs nothing more."""
        steps = [*self.provenance.get("post_processing", []), how]
        return replace(self, value=value, provenance={**self.provenance, "post_processing": steps})

    def save(
        self,
        path: Path | str,
        *,
        ledger: Ledger | None = None,
        dataset: str = "",
        person: str = "",
        note: str = "",
        write: Callable[[Any, Path], None] | None = None,
        overwrite: bool = False,
    ) -> Release:
        """Charge the ledger, if one is given, then write the value and its sidecar.

        Args:
            path: Where to; the ending says how: .npy, .parquet, .csv, .json, .txt.
            ledger: The ledger to charge. Without one, the sidecar says that nothing was charged.
            dataset: The data set to charge.
            person: The person to charge, for streams.
            note: Free text for the ledger.
            write: How to write the value to a file, for other endings.
            overwrite: Whether a file of that name may be replaced.

        Returns:
            The release with its receipt.

        Raises:
            BudgetExceeded: If the budget does not allow it; nothing was spent or written.
            OutputError: If the files cannot be written; the charge stands, and saving again does not charge again.
        """
        target, sidecar = Path(path), sidecar_of(Path(path))
        recipe = self.recipe_values()
        digest_of(recipe)
        _check_provenance(self.provenance)
        save_value = write or _saver(self.value, target)
        _check_room(target, overwrite=overwrite)
        # All that can be known to fail without the release leaving has been tried: now pay.
        paid = self if ledger is None else self.charged(ledger, dataset, person=person, note=note)
        described, before = False, sidecar.read_bytes() if sidecar.exists() else None
        try:
            with replacing(target, overwrite=overwrite) as value_file:
                save_value(self.value, value_file)
                values = paid._sidecar(target.name, recipe, _sha256(value_file))
                with replacing(sidecar) as sidecar_file:
                    sidecar_file.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
                described = True
        except BaseException:
            if described:
                _put_back(sidecar, before)
            raise
        return paid

    def _sidecar(self, name: str, recipe: Mapping[str, Any], digest: str) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "gazeveil": __version__,
            "id": self.id,
            "file": name,
            "sha256": digest,
            "guarantee": self.guarantee.to_dict(),
            "statement": self.statement().paragraph(),
            "recipe": recipe,
            "recipe_digest": digest_of(recipe),
            "provenance": dict(self.provenance),
            "receipt": None if self.receipt is None else self.receipt.to_dict(),
        }


def sidecar_of(path: Path) -> Path:
    """Return where the sidecar of a released file is."""
    return path.with_name(path.name + ".release.json")


def read_sidecar(path: Path | str) -> dict[str, Any]:
    """Return the sidecar of a released file, after checking that it belongs to that file.

    Raises:
        FileFormatError: If there is none, or it is not a sidecar, or the file is not the one that was released.
    """
    target = Path(path)
    sidecar = sidecar_of(target)
    try:
        values = json.loads(sidecar.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileFormatError(sidecar, expected="the sidecar of a release", found="no file") from None
    except (OSError, ValueError) as error:
        raise FileFormatError(sidecar, expected="the sidecar of a release", found=str(error)) from None
    if not isinstance(values, dict) or values.get("format") != _FORMAT or values.get("version") != _VERSION:
        raise FileFormatError(sidecar, expected=f"{_FORMAT} version {_VERSION}", found="something else")
    try:
        guarantee_from_dict(values["guarantee"])
        expected = values["sha256"]
    except (KeyError, TypeError, OptionError) as error:
        raise FileFormatError(sidecar, expected="a promise and a digest", found=str(error)) from None
    if not target.is_file() or _sha256(target) != expected:
        raise FileFormatError(
            target, expected="the file that its sidecar describes", found="another one, or none", hint="release again"
        )
    return dict(values)


def _check_provenance(provenance: Mapping[str, Any]) -> None:
    try:
        json.dumps(dict(provenance), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise OptionError(f"the provenance cannot be written as JSON: {error}") from None


def _put_back(sidecar: Path, before: bytes | None) -> None:
    """Leave the file that could not be replaced with the sidecar that it had."""
    if before is None:
        sidecar.unlink(missing_ok=True)
    else:
        with replacing(sidecar) as file:
            file.write_bytes(before)


def _check_room(target: Path, *, overwrite: bool) -> None:
    """Find out before paying what would fail after."""
    for file in (target, sidecar_of(target)):
        if file.is_dir() or (file.exists() and not overwrite):
            raise OutputError(f"{file} exists already", hint="choose another name, or allow overwriting")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {target.parent}: {error.strerror}") from error
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise OutputError(f"the folder {target.parent} cannot be written", hint="check its permissions")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _saver(value: Any, target: Path) -> Callable[[Any, Path], None]:
    """Turn the value into bytes, as the file's ending says, and return what writes them."""
    encode = _ENCODERS.get(target.suffix.lower())
    if encode is None:
        raise OptionError(
            f"no way is known to write a release to {target.name!r}",
            hint=f"known endings: {', '.join(_ENCODERS)}; for others say how with write=",
        )
    try:
        content = encode(value)
    except (TypeError, ValueError, AttributeError) as error:
        raise OptionError(f"a {type(value).__name__} cannot be written to {target.name!r}: {error}") from None

    def save(_: Any, path: Path) -> None:
        path.write_bytes(content)

    return save


def _npy(value: Any) -> bytes:
    import numpy as np  # noqa: PLC0415

    file = io.BytesIO()
    np.save(file, np.asarray(value), allow_pickle=False)
    return file.getvalue()


def _parquet(value: Any) -> bytes:
    file = io.BytesIO()
    value.write_parquet(file)
    return file.getvalue()


def _csv(value: Any) -> bytes:
    return bytes(value.write_csv().encode())


def _json(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _txt(value: Any) -> bytes:
    return bytes(value.encode())


_ENCODERS: dict[str, Callable[[Any], bytes]] = {
    ".npy": _npy,
    ".parquet": _parquet,
    ".csv": _csv,
    ".json": _json,
    ".txt": _txt,
}
