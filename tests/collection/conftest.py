"""Stores of both kinds, and a live collector."""

from collectors import folder, live, service, store, study  # noqa: F401 (fixtures)
