"""Reading a study's reports from where they are: its directory, its public record, or an export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from privet.collection.operator.export.answer_files import read_answers, read_erasures
from privet.collection.operator.export.partitions import PartitionedAnswers
from privet.collection.operator.export.public_record import open_record
from privet.collection.operator.results.page import results_page, results_part
from privet.collection.operator.results.sources import RoundReports
from privet.collection.operator.results.study_results import StudyResults, results_of
from privet.collection.server.store.overview import stores_of
from privet.collection.server.store.store import Store

__all__ = ["results_at", "results_html", "results_in"]


def results_at(path: Path, by: str | None = None) -> StudyResults:
    """Estimate what people answered in a study.

    Args:
        path: The study's directory, its public record, or its reports as they were exported.
        by: "class", or a question by its number or words: each question is told for each group, too.
    """
    if PartitionedAnswers.is_at(path):
        parts = PartitionedAnswers.open(path)
        return results_of([RoundReports.of(*parts.answers(), parts.manifest.erasures)], by)
    if path.suffix.lower() == ".parquet" and not path.is_dir():
        return results_of([RoundReports.of(*read_answers(path), read_erasures(path))], by)
    store = open_record(path)
    try:
        return results_in(stores_of(store), by)
    finally:
        store.dispose()


def results_in(stores: Sequence[Store], by: str | None = None) -> StudyResults:
    """Estimate what people answered in a study whose stores are open.

    Args:
        stores: The stores of its rounds, oldest first.
        by: As for :func:`results_at`.
    """
    return results_of([RoundReports.at(store) for store in stores], by)


def results_html(stores: Sequence[Store], *, by: str | None, language: str, whole: bool) -> str:
    """Return what people answered as HTML for a collector.

    Args:
        stores: The stores of the rounds, oldest first.
        by: As for :func:`results_at`.
        language: The language of the words around the study's own.
        whole: True for a page, whose sheets are the collector's; False for a part of one.
    """
    results = results_in(stores, by)
    return results_page(results, language, linked=True) if whole else results_part(results, language)
