"""Access to a collector: tokens of participants, and keys of the operator."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field

from privet.collection.study.tokens import Tokens

__all__ = ["Access"]


@dataclass(frozen=True)
class Access:
    """Everything that opens a door of a collector.

    Attributes:
        tokens: The checker of the participants' tokens.
        operator: The operator's keys; each of them opens the operator's page.
    """

    tokens: Tokens
    operator: tuple[str, ...] = field(repr=False)

    def is_operator(self, given: str) -> bool:
        """Tell whether a text is one of the operator's keys."""
        return any(hmac.compare_digest(given.encode(), key.encode()) for key in self.operator)
