# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What goes out: a value together with its guarantee, the public facts it rests on, and the charge that paid for it."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from gazeveil.arrays import Tell, silent
from gazeveil.display import Picture
from gazeveil.errors import MissingExtra, needing
from gazeveil.privacy.composition import is_seeded
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.ledger.account import Receipt
from gazeveil.privacy.statement import Statement, statement
from gazeveil.release.binding import BoundCorpus, BoundTable
from gazeveil.release.study import Fact
from gazeveil.release.words import stated_facts
from gazeveil.samples.identification import Identification

if TYPE_CHECKING:
    from gazeveil.release.plan import Measurement


Line: TypeAlias = tuple[str, str]
"""A line that a command prints: the word it is about, and the text."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A value that may leave, with its guarantee. Only `Plan.release` makes one.

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
        return None if self.receipt is None else self.receipt.account.promise

    def statement(self) -> Statement:
        """Return what a participant should read."""
        found, facts = self.identification, stated_facts(self.facts)
        words = "" if found is None else found.in_words()
        shares = self.measurement.shares(self.value)
        shows = () if shares is None else (*shares.in_words(), *shares.warnings())
        return statement(self.guarantee, total=self.total, facts=facts, identification=words, shows=shows)

    def in_words(self) -> list[Line]:
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
        """How often participants were identified behind it, as measured; None where that is not a question.

        What was measured is of noise that nobody knows, so it says nothing about a release with noise from a seed.
        """
        found = self.measurement.identification()
        return None if found is None or is_seeded(self.guarantee) else found

    def post_processed(self, value: Any, how: str) -> Release:
        """Return a release of something computed from the released value alone, which costs nothing more."""
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

        A report for the holder of the data goes beside the folder, not into it: see `record.private_report_of`.

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
