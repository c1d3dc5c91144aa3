"""The public side of a store: bytes by their hash, and rounds that never fork."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from rehearsed_rounds import PANEL, add_second_round, first_round, offers, people
from simulated_studies import make_study, two_rounds

from privet.collection.server.store.store import Store
from privet.collection.study.chain import BrokenChain
from privet.errors import InvalidData
from privet.release.blobs import array_digest, blob_of


def test_bytes_are_kept_under_their_hash(store):
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    store.publish(b"a list", blob_of(table))
    store.publish(b"a list")
    assert store.blob(hashlib.sha256(b"a list").hexdigest()) == b"a list"
    assert store.blob("0" * 64) is None
    np.testing.assert_array_equal(store.array(array_digest(table)), table)
    assert store.blob(store.study.id) == store.study.canonical()
    with pytest.raises(InvalidData, match="is not here"):
        store.array("sha256:" + "0" * 64)


def test_a_round_s_form_has_its_tables_and_its_people(tmp_path):
    store = first_round(tmp_path / "study", people()).store()
    second = add_second_round(store)
    assert store.form.panel.tolist() == PANEL.tolist()
    (question,) = second.form.release.questions
    np.testing.assert_array_equal(question.ask.offers, offers())
    assert second.form.count == 80
    assert [each.round for each in second.chain().rounds] == [1, 2]
    copy = Store.open(tmp_path / "copy.sqlite", store.study).at(second.study)
    copy.publish_from(second)
    assert copy.form.count == 80
    copy.dispose()
    store.dispose()


def test_a_second_round_in_the_place_of_another_is_refused(store):
    """Also where two people open the next round at once."""
    kept = {"title": store.study.title, "release": [store.study.asked[0]], "earlier": [store.study.id]}
    successors = [make_study(**kept, closes=f"2029-0{month}-01T00:00:00Z") for month in (1, 2)]

    def opened(study):
        try:
            return store.at(study).study.id
        except BrokenChain as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        found = sorted(pool.map(opened, successors), key=len)
    assert found[0] == "The study has another round 2 already."
    assert found[1] in {study.id for study in successors}
    assert opened(next(study for study in successors if study.id == found[1])) == found[1]  # the same again is no other


def test_rounds_of_other_studies_do_not_matter(store):
    for _ in range(2):
        first, second = two_rounds()
        assert store.at(first).at(second).chain().newest.id == second.id
