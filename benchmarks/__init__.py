"""Benchmarks: each module's ``run`` compares with a reference in the same run and returns one JSON object."""
