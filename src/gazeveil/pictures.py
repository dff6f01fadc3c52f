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


def paper(width: float, height: float, layout: Any = None) -> Any:
    """Return a figure of this many inches, without touching anyone's global plotting state.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("matplotlib", "plots", "drawing pictures") from None
    return Figure(figsize=(width, height), layout=layout)


def canvas(width: float = 8.0, height: float = 4.5, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Any, Any]:
    """Return a figure and its axes, for which room is found when it is drawn.

    With ``mosaic``, axes are laid out and called as it says.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    figure = paper(width, height, "constrained")
    if "mosaic" in options:
        return figure, figure.subplot_mosaic(**options)
    return figure, figure.subplots(rows, columns, **options)


def placed(figure: Any, left: float, bottom: float, width: float, height: float) -> Any:
    """Return axes at a place of a figure in inches: finding room for axes takes longer than drawing them."""
    across, up = figure.get_size_inches()
    return figure.add_axes((left / across, bottom / up, width / across, height / up))


def png(figure: Any, dpi: int = 110) -> bytes:
    """Return a figure as PNG bytes."""
    figure.set_dpi(dpi)
    if room := figure.get_layout_engine():
        room.execute(figure)  # saving would draw everything once more before it asks for the room of each part
        figure.set_layout_engine("none")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, pil_kwargs={"compress_level": 3})  # half the time, a tenth larger
    return buffer.getvalue()
