"""How long reports are kept, as date and in words."""

from datetime import UTC, datetime

from simulated_studies import make_study, two_rounds

from privet.collection.study.retention import deletion_time, retention_in_words, rights_in_words


def test_the_date_follows_from_the_manifest():
    study = make_study(closes="2026-01-31T12:00:00Z", delete_after=30)
    assert deletion_time(study) == datetime(2026, 3, 2, 12, tzinfo=UTC)
    assert (
        retention_in_words(study) == "The collector deletes your report 30 days after the study closes, on 2026-03-02."
    )
    assert "1 day after" in retention_in_words(make_study(delete_after=1))
    assert rights_in_words(study)[1].startswith("Until then you can withdraw")


def test_a_round_is_called_one():
    _, second = two_rounds(closes="2026-01-31T12:00:00Z", delete_after=30)
    assert "30 days after the round closes, on 2026-03-02" in retention_in_words(second)


def test_a_study_that_promises_nothing_says_so():
    study = make_study(delete_after=None)
    assert deletion_time(study) is None
    assert retention_in_words(study) == "The study does not say when your report will be deleted."
    assert rights_in_words(study)[1].startswith("At any time you can withdraw")
