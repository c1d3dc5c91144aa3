"""A study behind nginx as deploy/nginx.conf sets it up."""

from contextlib import contextmanager

import pytest

pytest.importorskip("starlette", reason="the collection extra is not installed")

from simulated_studies import make_study
from study_in_rounds.https import behind_nginx, installed

from privet.collection.operator.folder import StudyFolder
from privet.collection.server.http.limits import Limits


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Two collectors with a small rate limit behind nginx, which several tests share."""
    with started(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture
def own_site(tmp_path):
    """The same for a test that kills collectors."""
    with started(tmp_path) as running:
        yield running


@pytest.fixture
def school(tmp_path):
    """The same with the collectors' default limits."""
    with started(tmp_path, Limits().rate) as running:
        yield running


@contextmanager
def started(home, rate=0.2):
    if not installed():
        pytest.skip("nginx or openssl is not installed (PRIVET_NGINX names another place)")
    folder = StudyFolder.create(home / "study", make_study())
    with behind_nginx(folder, home, rate=rate) as running:
        yield running
