"""Asks: the private field that a question is about and the public function that the device applies, one a file."""

from privet.registry import Registry
from privet.release.asks._base import Ask

ASKS: Registry[Ask] = Registry("question", "Ask", ("privet.release.asks",), "privet.asks")
"""Every ask by the name that a manifest uses."""

__all__ = ["ASKS", "Ask"]
