"""The optional parts of an installation: which extra brings which library."""

from __future__ import annotations

__all__ = ["extra_of", "needs"]

_LIBRARIES = {
    "collection": "httptools prometheus_client psycopg sqlalchemy starlette uvicorn uvloop",
    "learning": "dp_accounting jinja2 matplotlib pandas pyarrow pymetis safetensors torch torch_geometric tqdm yaml",
    "networkx": "networkx",
    "scale": "cryptography dask distributed",
    "search": "optuna",
    "sums": "Crypto llvmlite numba",
}


def extra_of(error: ModuleNotFoundError) -> str | None:
    """Return the extra that brings the missing library, or None if no extra does.

    Args:
        error: The error of an import.
    """
    library = (error.name or "").split(".")[0]
    return next((extra for extra, libraries in _LIBRARIES.items() if library in libraries.split()), None)


def needs(subject: str, extra: str) -> str:
    """Say in one sentence how to install an extra.

    Args:
        subject: What needs it, such as "privet run".
        extra: The extra's name.

    >>> needs("privet run", "learning")
    "privet run needs the extra 'learning': pip install 'privet[learning]'."
    """
    return f"{subject} needs the extra '{extra}': pip install 'privet[{extra}]'."
