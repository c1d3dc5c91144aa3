"""Erasure by the operator of a study, and what is said about it afterwards."""

import pytest
from simulated_studies import simulated

from privet.collection.operator.erasures import Forgotten, erased_people, forget
from privet.errors import PrivetError


def test_a_person_is_forgotten_and_their_bytes_are_in_no_file(folder, study):
    answers = simulated(study, 0, count=20)
    bodies = dict(zip(answers.users.tolist(), (b"%032d" % node for node in answers.users), strict=True))
    store = folder.store()
    store.insert(list(bodies), list(bodies.values()))
    store.add_model({"name": "first", "erasures": 0})
    store.dispose()
    node = int(answers.users[4])
    assert forget(folder.path, node) == Forgotten(new=frozenset({node}), clean=True, models=("first",))
    assert forget(folder.path, node) == Forgotten(new=frozenset(), clean=True, models=("first",))
    assert erased_people(folder.path) == (node,)
    files = [path.read_bytes() for path in folder.path.iterdir()]
    assert not any(bodies[node] in data for data in files)
    assert any(bodies[int(answers.users[5])] in data for data in files)


def test_a_person_who_does_not_exist_is_refused(folder):
    with pytest.raises(PrivetError, match="below 500"):
        forget(folder.path, 5, 500)
    assert erased_people(folder.path) == ()
