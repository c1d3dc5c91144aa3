"""Typed results as text for a terminal: the only place that makes rich tables of them."""
