"""Bodies of reports: the same bytes for the same symbols, and nothing that no device could have sent."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_studies import make_study, simulated

from privet.data import Schema
from privet.errors import InvalidReports

STUDIES = {
    "multi-bit": make_study(),
    "all features": make_study(features={"mechanism": "multi-bit", "epsilon": 1.0, "sample": 6}),
    "hds": make_study(features={"mechanism": "hds", "epsilon": 2.0, "sample": 2}, labels=None),
    "piecewise": make_study(features={"mechanism": "piecewise", "epsilon": 4.0, "sample": 3}),
    "laplace": make_study(features={"mechanism": "laplace", "epsilon": 0.5}),
    "gaussian": make_study(features={"mechanism": "analytic-gaussian", "epsilon": 1.0, "delta": 1e-5}),
    "categories": make_study(
        schema=Schema.categorical([2, 3, 300], classes=200),
        features={"mechanism": "sampled-response", "epsilon": 2.0, "sample": 2},
    ),
    "lists": make_study(
        schema=Schema.numeric(6, low=0.0, high=10.0, classes=3, private_edges=True), neighbours={"epsilon": 4.0}
    ),
    "lists of both": make_study(
        schema=Schema.numeric(6, low=0.0, high=10.0, classes=3, private_edges=True),
        neighbours={"epsilon": 2.0, "one_sided": False},
        labels=None,
    ),
}


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("seed", range(3))
def test_what_was_packed_is_unpacked(name, seed):
    study = STUDIES[name]
    answers, form = simulated(study, seed), study.release.wire
    bodies = form.pack(answers)
    again = form.unpack(answers.users, bodies)
    assert {name: part.reports for name, part in again.items()} == {
        name: part.reports for name, part in answers.items()
    }
    assert all(len(body) <= form.longest for body in bodies)
    assert [form.from_json(form.to_json(body)) for body in bodies] == bodies


@pytest.mark.parametrize("name", STUDIES)
@given(data=st.data())
@settings(max_examples=60)
def test_a_group_is_good_if_and_only_if_each_of_its_bodies_is(name, data):
    study = STUDIES[name]
    form = study.release.wire
    answers = simulated(study, 0, count=3)
    bodies = form.pack(answers)
    row = data.draw(st.integers(0, 2))
    size = form.record.itemsize
    bodies[row] = data.draw(st.binary(max_size=size + 12) | st.binary(min_size=size, max_size=size))

    def good(nodes, group):
        try:
            form.unpack(nodes, group)
        except InvalidReports:
            return False
        return True

    assert good(answers.users, bodies) == good(answers.users[[row]], [bodies[row]])


def test_symbols_outside_the_alphabet_are_refused():
    study = STUDIES["multi-bit"]
    form = study.release.wire

    def read(coordinate, symbol, label):
        document = {"features": {"coordinates": [coordinate], "symbols": [symbol]}, "label": label}
        return form.unpack([0], [form.from_json(document)])

    assert read(5, -1, 2)["features"].reports.symbols.tolist() == [[-1]]
    for wrong in ((6, -1, 2), (-1, -1, 2), (5, 0, 2), (5, 2, 2), (5, -1, 3)):
        with pytest.raises(InvalidReports):
            read(*wrong)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {"features": {"coordinates": [1], "symbols": [1]}},
        {"features": {"symbols": [1]}, "label": 1},
        {"features": [1], "label": 1},
        {"features": {"coordinates": [1], "symbols": [1]}, "label": 1, "more": 1},
        {"features": {"coordinates": [1], "symbols": [1], "more": [1]}, "label": 1},
        {"features": {"coordinates": [1], "symbols": [1.0]}, "label": 1},
        {"features": {"coordinates": [1], "symbols": [True]}, "label": 1},
        {"features": {"coordinates": [1], "symbols": [1, 1]}, "label": 1},
        {"features": {"coordinates": [1 << 40], "symbols": [1]}, "label": 1},
        {"features": {"coordinates": [1], "symbols": [10**400]}, "label": 1},
        {"features": {"coordinates": "1", "symbols": [1]}, "label": 1},
        {"features": {"coordinates": [1], "symbols": [1]}, "label": [1]},
    ],
)
def test_json_of_another_shape_is_refused_in_one_sentence(document):
    with pytest.raises(InvalidReports) as caught:
        STUDIES["multi-bit"].release.wire.from_json(document)
    assert "\n" not in str(caught.value)


def test_a_list_names_others_only():
    study = STUDIES["lists"]
    form = study.release.wire
    body = {"features": {"coordinates": [1], "symbols": [1]}, "label": 1}
    form.unpack([3], [form.from_json({**body, "neighbours": [4, 499]})])
    for wrong in ([3], [2], [500], [5, 4], [4, 4], [-1]):
        with pytest.raises(InvalidReports):
            form.unpack([3], [form.from_json({**body, "neighbours": wrong})])


def test_nobody_is_an_answer_too():
    study = STUDIES["lists"]
    answers = study.release.wire.unpack([], [])
    assert len(answers.users) == 0
    assert study.release.wire.pack(answers) == []
