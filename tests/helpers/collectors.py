"""Stores of both kinds, and a live collector."""

import pytest

pytest.importorskip("starlette", reason="the collection extra is not installed")

from simulated_studies import STORES, Service, make_study, store_place
from starlette.testclient import TestClient

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import live_collector
from privet.collection.server.store.store import Store


@pytest.fixture
def study():
    return make_study()


@pytest.fixture(params=STORES)
def store(request, tmp_path, study):
    opened = Store.open(store_place(request.param, tmp_path), study)
    yield opened
    opened.dispose()


@pytest.fixture
def service(store, study):
    """A collector in memory over each kind of store, with a client."""
    made = Service(study, store)
    with TestClient(made.app) as made.client:
        yield made


@pytest.fixture
def folder(tmp_path, study):
    return StudyFolder.create(tmp_path / "study", study)


@pytest.fixture
def live(folder):
    """A running collector without a rate limit: its address and its study's folder."""
    with live_collector(folder) as address:
        yield address, folder
