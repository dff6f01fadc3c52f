# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures as values: shown by notebooks, saved to files, drawn without a window."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gazeveil.errors import MissingExtra
from gazeveil.files import replacing


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG picture. A notebook shows it; `save` writes it."""

    png: bytes

    def save(self, path: Path | str) -> Path:
        """Write the picture to a file."""
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(self.png)
        return Path(path)

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"Picture({len(self.png) // 1024:,} kB PNG)"


def canvas(width: float = 8.0, height: float = 4.5, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Any, Any]:
    """Return a figure and its axes, without touching anybody's global plotting state.

    With ``mosaic``, axes are laid out and called as it says.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("matplotlib", "plots", "drawing pictures") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    if "mosaic" in options:
        return figure, figure.subplot_mosaic(**options)
    return figure, figure.subplots(rows, columns, **options)


def png(figure: Any, dpi: int = 110) -> bytes:
    """Return a figure as PNG bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, pil_kwargs={"compress_level": 3})  # half the time, a tenth larger
    return buffer.getvalue()
