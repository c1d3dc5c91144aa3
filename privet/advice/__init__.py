"""Advice before anything is collected: which system, which budget, or none at all."""
