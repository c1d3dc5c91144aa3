"""Properties on which a promise of privacy rests are tried on a hundred examples, not on the profile's twenty."""

from hypothesis import settings

__all__ = ["thorough"]

thorough = settings(max_examples=max(100, settings.default.max_examples))
