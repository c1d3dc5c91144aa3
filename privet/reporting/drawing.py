"""How figures look and how they are written: one palette, the same bytes for the same input, nothing half-written.

A control has the same colour and dashes wherever it is drawn. Colours have a contrast of 4.5 and more on white; pages
replace them by variables, which are lighter on a dark ground.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from privet.data.files import atomic_file
from privet.errors import InvalidParameter

__all__ = [
    "BROWN",
    "GREEN",
    "GREY",
    "GREYS",
    "INK",
    "LINE",
    "OCHRE",
    "OLIVE",
    "ON_PAGES",
    "ORANGE",
    "OURS",
    "PAPER",
    "PINK",
    "PURPLE",
    "RED",
    "SERIES",
    "SKY",
    "TEAL",
    "Colour",
    "Style",
    "check_format",
    "drawn",
    "style",
    "write_figure",
]  # fmt: skip


class Colour(NamedTuple):
    """A colour on paper and on a dark screen.

    Attributes:
        name: The variable's name on pages.
        light: On white.
        dark: On a dark ground.
    """

    name: str
    light: str
    dark: str


ON_PAGES = (
    Colour("ours", "#0072b2", "#58b4ee"),
    Colour("purple", "#6e5494", "#c3a6ec"),
    Colour("orange", "#b35900", "#f0a35e"),
    Colour("green", "#00765a", "#4cc9a4"),
    Colour("pink", "#a8447c", "#ea8fbf"),
    Colour("ochre", "#8a6d00", "#d9bd52"),
    Colour("grey", "#6e7781", "#a7b0bb"),
    Colour("red", "#b3261e", "#f28b82"),
    Colour("brown", "#7a4a2b", "#cfa488"),
    Colour("teal", "#007080", "#5cc8d6"),
    Colour("sky", "#3f7fb0", "#8fc3ea"),
    Colour("olive", "#557a0f", "#a9cc66"),
)
OURS, PURPLE, ORANGE, GREEN, PINK, OCHRE, GREY, RED, BROWN, TEAL, SKY, OLIVE = (each.light for each in ON_PAGES)
SERIES = (OURS, ORANGE, GREEN, PINK, OCHRE, TEAL, PURPLE, RED, BROWN)
"""Colours of lines that are no controls, such as several systems."""
GREYS = ("#444444", "#888888", "#bbbbbb")  # of controls, where series take the colours
INK, LINE, PAPER = "#1f2328", "#c9d1d9", "#000000"

_DASHED, _DOTTED, _MIXED = (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5))
_SHORT, _LONG = (0, (2.5, 1.5)), (0, (9, 2))


class Style(NamedTuple):
    """Colour and dashes of a control.

    Attributes:
        colour: Its colour.
        dashes: The dashes of its line, as matplotlib has them.
    """

    colour: str
    dashes: tuple[int, tuple[float, ...]]


# Controls that never stand beside each other share a colour.
_STYLES = {
    "structure": Style(ORANGE, _DASHED),
    "structure_only": Style(PURPLE, _SHORT),
    "label_propagation": Style(GREEN, _MIXED),
    "features_only": Style(OCHRE, _DOTTED),
    "majority": Style(GREY, _DOTTED),
    "non_private": Style(PINK, _LONG),
    "same_settings": Style(PINK, _LONG),
    "ceiling": Style(RED, _DASHED),
    "panel_only": Style(GREEN, _SHORT),
    "dealt_answers": Style(PURPLE, _MIXED),
    "noise_free": Style(PINK, _MIXED),
    "noisy_graph": Style(BROWN, _SHORT),
    "lpgnn_noisy": Style(TEAL, _MIXED),
    "sml": Style(SKY, _LONG),
    "structure_alone": Style(OLIVE, _SHORT),
    "private_mlp": Style(PURPLE, _DASHED),
    "smoothed_mlp": Style(ORANGE, _SHORT),
    "gap": Style(GREEN, _DASHED),
    "progap": Style(TEAL, _MIXED),
    "ndp": Style(OCHRE, _SHORT),
    "dpar": Style(BROWN, _LONG),
}


def style(key: str) -> Style:
    """Return the colour and the dashes of a control, which depend on its key alone.

    Args:
        key: The control's name in result files. One that privet does not know gets a colour by its name.
    """
    return _STYLES.get(key) or Style(ON_PAGES[1 + crc32(key.encode()) % (len(ON_PAGES) - 1)].light, _DASHED)


_FORMATS = (".svg", ".pdf", ".png")
_STYLE: Any = {
    "svg.hashsalt": "privet",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.size": 8.5,
    "text.parse_math": False,  # a name with dollars is a name
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": LINE,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
}


def check_format(path: Path) -> None:
    """Refuse a file name before anything is measured for it; figures are SVG, PDF or PNG files."""
    if path.suffix not in _FORMATS:
        raise InvalidParameter(f"A figure is a {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]} file, not {path.name}.")


def drawn(draw: Callable[[Any], None], width: float, height: float, kind: str) -> bytes:
    """Draw on a matplotlib figure and return the file's bytes.

    Args:
        draw: Called with the empty figure.
        width: Inches.
        height: Inches.
        kind: svg, pdf or png.
    """
    # Not pyplot: no global state, and no window system is looked for.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    stream = io.BytesIO()
    no_date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        figure.savefig(stream, format=kind, dpi=150, transparent=kind != "png", metadata=no_date)
    return stream.getvalue()


def write_figure(draw: Callable[[Any], None], width: float, height: float, path: Path) -> None:
    """Draw and write one file, whose ending names the format."""
    check_format(path)
    content = drawn(draw, width, height, path.suffix[1:])
    with atomic_file(path) as file:
        file.write_bytes(content)
