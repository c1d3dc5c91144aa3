"""How Sphinx builds this site: Markdown pages, notebooks, and a reference made from the docstrings."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import privet

project = "privet"
author = "privet developers"
copyright = author  # noqa: A001
release = version = privet.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
root_doc = "index"
smartquotes = False  # primes and quotes as they are written

html_theme = "furo"
html_title = f"privet {release}"
html_static_path = ["_static"]
html_css_files = ["privet.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False

nb_execution_mode = "off"  # notebooks are committed with their outputs, and a test runs them
myst_heading_anchors = 3  # links such as page.md#a-heading, which code hosts know too
highlight_language = "text"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
napoleon_use_ivar = True  # attributes as a list of the class, beside the fields that autodoc finds
python_use_unqualified_type_names = True
add_module_names = False
maximum_signature_line_length = 110

_LITERAL = re.compile(r"(``.*?``|:\w+:`.*?`)")
_MARKUP = re.compile(r"([|*`]|(?<=\w)_(?!\w))")


def _plain_text(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text with equations: bars and stars are no markup, and an indented equation is literal."""
    written: list[str] = []
    for line in lines:
        inside = line.startswith("    ") and line.strip()
        if inside and (not written or not written[-1].strip()) and not _within_literal(written):
            written += ["::", ""]
        doctest = line.lstrip().startswith((">>>", "..."))
        written.append(line if inside or doctest else _escaped(line))
    lines[:] = written


def _within_literal(written: list[str]) -> bool:
    """Whether the last line with text belongs to an indented block that goes on."""
    texts = [line for line in written if line.strip()]
    return bool(texts) and (texts[-1].startswith("    ") or texts[-1].rstrip().endswith("::"))


def _escaped(line: str) -> str:
    parts = _LITERAL.split(line)
    return "".join(part if i % 2 else _MARKUP.sub(r"\\\1", part) for i, part in enumerate(parts))


def _skip(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """What pydantic adds to its classes is not ours to explain."""
    return True if name.startswith("model_") else None


def _signature(
    app: Any, what: str, name: str, obj: Any, options: Any, arguments: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """The type of a checked field without its checks: ``Annotated[float, Gt(gt=0)]`` is a float."""
    while arguments and (start := arguments.find("Annotated[")) >= 0:
        depth, first = 0, 0
        for place in range(start + len("Annotated"), len(arguments)):
            depth += (arguments[place] in "[(") - (arguments[place] in "])")
            if arguments[place] == "," and depth == 1 and not first:
                first = place
            if depth == 0:
                break
        arguments = arguments[:start] + arguments[start + len("Annotated[") : first] + arguments[place + 1 :]
    return arguments, returned


def setup(app: Any) -> None:
    """Read docstrings as they are written, and show types as they are used."""
    app.connect(
        "autodoc-process-docstring", _plain_text, priority=400
    )  # before napoleon, which makes markup of its own
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-skip-member", _skip)
