"""The overview of a study in rounds: counts that name nobody."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
from rehearsed_rounds import ASKED, PANEL, add_second_round, first_round, people
from simulated_studies import make_study

from privet.collection.server.store.overview import overview, stores_of
from privet.collection.server.store.store import Store
from privet.mechanisms import SeededBits
from privet.release import PrivateData

DAY = 86_400


def test_two_rounds(tmp_path):
    graph = people()
    store = first_round(tmp_path / "study", graph).store()
    release, start = store.study.release, int(store.study.opens.timestamp())
    for day in range(2):
        some = ASKED[20 * day : 20 * day + 20]
        answers = release.perturb(PrivateData(some, labels=graph.labels[some]), SeededBits(day))
        store.insert(some.tolist(), release.wire.pack(answers), now=start + day * DAY)
    store.reject({"token": 2})
    store.forget(int(ASKED[1]), "participant", now=start)
    store.forget(int(ASKED[2]), "operator", now=start + 2 * DAY)
    newest = add_second_round(store)
    newest.reject({"token": 1, "busy": 4})
    newest.add_model({"name": "m", "system": "inquiry", "trained": "x", "metrics": {}, "erasures": 1})
    found = overview(stores_of(store))
    first, second = found["rounds"]

    assert (first["number"], first["state"], first["asked"], first["answered"]) == (1, "closed", 136, 38)
    assert (first["panel"], second["panel"], first["cost"], second["cost"]) == (len(PANEL), 0, 2.0, 2.0)
    assert [count for _, count in first["days"]] == [18, 20]
    assert first["days"][0][0] == f"{store.study.opens:%Y-%m-%d}"
    assert (second["state"], second["asked"], second["days"]) == ("open", 80, [])
    assert second["questions"] == [{"name": "resemblance", "words": "the class that they resemble most, of a few"}]
    assert (found["stored"], found["open"], found["to_come"], found["cost"]) == (0, True, [], 4.0)
    assert found["rejected"] == {"busy": 4, "token": 3}
    assert (found["erasures"], found["erased"]["by"]) == (2, {"participant": 1, "operator": 1})
    assert [count for _, count in found["erased"]["days"]] == [1, 1]
    assert found["models"][0]["erasures_since"] == 1
    assert first["delete_on"] == (store.study.closes + timedelta(days=90)).isoformat()
    assert json.loads(json.dumps(found))["guarantee"]["epsilon"] == 4.0
    store.dispose()


def test_states_of_a_round(tmp_path):
    study = make_study(opens="2026-01-01T00:00:00Z", closes="2026-02-01T00:00:00Z")
    store = Store.open(tmp_path / "store.sqlite", study)

    def state(month):
        return overview([store], datetime(2026, month, 15, tzinfo=UTC))["rounds"][0]["state"]

    assert [state(month) for month in (1, 2)] == ["open", "closed"]
    assert overview([store], datetime(2025, 12, 31, tzinfo=UTC))["rounds"][0]["state"] == "waiting"
    store.close()
    assert state(1) == "closed"
    assert overview([store])["to_come"] == []
    store.dispose()


def test_nothing_in_it_is_a_list_of_people(tmp_path):
    """No list is as long as a set of people, so none can be one."""
    store = first_round(tmp_path / "study", people()).store()
    add_second_round(store)

    def lengths(value):
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
        return [len(value) if isinstance(value, list) else 0, *(each for part in inside for each in lengths(part))]

    assert max(lengths(overview(stores_of(store)))) < 12 < np.min([len(PANEL), len(ASKED)])
    store.dispose()
