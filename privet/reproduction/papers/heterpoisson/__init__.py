"""HeterPoisson (Xiang, Wang and Wang 2024)."""

from privet.reproduction.papers.heterpoisson.tables import TABLES

__all__ = ["TABLES"]
