"""What an owner reads: what is asked, what is sent, what it costs, what is not protected."""

from datetime import UTC, datetime

from simulated_studies import make_study, two_rounds

from privet.collection.device.consent import describe, retention_in_words, rights_in_words
from privet.collection.device.ledger import Ledger
from privet.collection.study.chain import Chain
from privet.data import Schema


def test_words_and_numbers(study):
    ledger = Ledger(":memory:")
    ledger.reserve(Chain((make_study(),)), 5, lambda: b"")
    text = describe(study, ledger)
    for expected in (
        study.title,
        study.id,
        "feature 5: a number from 0 to 10",
        "multi-bit, epsilon 1",
        "your class: the true one with 58% probability",
        "by at most 7.39",
        "Epsilon 2, delta 0",
        "Spent so far: 2 of 4; after this study: 4.",
        "that you took part",
        "who is linked with whom, which the operator knows",
        "classifies people who did not answer",
    ):
        assert expected in text


def test_how_long_it_is_kept_and_how_to_withdraw():
    text = describe(make_study(closes="2026-01-31T12:00:00Z", delete_after=30))
    assert "The collector deletes your report 30 days after the study closes, on 2026-03-02." in text
    assert "you can withdraw with the same link" in text
    assert "The study does not say when your report will be deleted." in describe(make_study(delete_after=None))


def test_many_features_are_told_together():
    many = make_study(schema=Schema.numeric(500, low=0.0, high=1.0, classes=3))
    assert "500 features, each a number from 0 to 1" in describe(many)


def test_categories_and_classes_have_their_names():
    schema = Schema.categorical([["no", "yes"], 4], classes=["bus", "bike", "car"])
    text = describe(make_study(schema=schema, features={"mechanism": "sampled-response", "epsilon": 1.0}))
    for expected in (
        "feature 0: one of 'no', 'yes'",
        "feature 1: one of 4 categories",
        "one of 3 ('bus', 'bike', 'car')",
    ):
        assert expected in text


def test_lists_and_their_cost():
    schema = Schema.numeric(2, low=0.0, high=1.0, classes=3, private_edges=True)
    text = describe(make_study(schema=schema, neighbours={"epsilon": 3.0, "one_sided": False}))
    for expected in (
        "about all other people",
        "wrong with 4.74% probability",
        "lifetime budget: 8.",
        "cost at most k times as much",
    ):
        assert expected in text


def test_a_delta_is_told():
    gaussian = {"mechanism": "analytic-gaussian", "epsilon": 1.0, "delta": 1e-5}
    text = describe(make_study(features=gaussian), Ledger(":memory:"))
    assert "Epsilon 2, delta 1e-05" in text
    assert "Delta spent so far: 0 of 0.001." in text


def test_it_says_why_a_one_sided_list_counts_twice():
    schema = Schema.numeric(2, low=0.0, high=1.0, classes=3, private_edges=True)
    bare, bound = (make_study(schema=schema, neighbours={"epsilon": 3.0}, directory=each) for each in (None, "0" * 64))
    assert "A relationship counts twice: this device cannot exclude" in describe(bare)
    assert "relationship by at most 2990" in describe(bare).replace(",", "")
    assert "one relationship costs an epsilon of 6" in describe(bound)
    assert "lifetime budget: 8." in describe(bound)


def test_the_date_follows_from_the_manifest():
    study = make_study(closes="2026-01-31T12:00:00Z", delete_after=30)
    assert study.deletion_time == datetime(2026, 3, 2, 12, tzinfo=UTC)
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
    assert study.deletion_time is None
    assert retention_in_words(study) == "The study does not say when your report will be deleted."
    assert rights_in_words(study)[1].startswith("At any time you can withdraw")
