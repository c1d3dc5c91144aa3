"""Settings that all tests share.

Machines differ in speed, so no example has a deadline. Examples are the same in every run, so that a change fails by
itself and not by chance, and few: ``pytest --hypothesis-profile explore`` draws new ones, and more of them.
"""

import os
import signal
from itertools import islice

import pytest
from hypothesis import HealthCheck, settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background: tests press Ctrl-C all the same
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The matrices of the tests are small: a second thread would only wait. Set before torch is imported, here and in
# the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Nothing is taken from, or left in, the caches of whoever runs the tests.
os.environ["PRIVET_CACHE"] = "off"

patient = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("privet", patient, derandomize=True, max_examples=20)
settings.register_profile("explore", patient, max_examples=500)
settings.load_profile("privet")

pytest_plugins = ["doctests", "small_graph"]

# The files that take longest, longest first. What begins late ends late, and leaves other processors idle.
LONGEST = (
    "journeys/test_documents.py", "journeys/collection/test_web.py", "auditing/central/test_isolated_modules.py",
    "mechanisms/test_conformance.py", "journeys/test_examples.py", "models/subgraphs/test_gradients.py",
    "auditing/central/test_replay_trainer.py", "journeys/collection/test_web_questions.py", "journeys/test_plugin.py",
    "systems/central/trainer/test_link_training.py", "journeys/collection/test_web_texts.py",
    "cli/demo/test_everything.py", "systems/central/trainer/test_private_trainer.py", "journeys/cli/test_cluster.py",
    "journeys/collection/test_web_offline.py", "journeys/collection/test_web_operator.py", "journeys/cli/test_demo.py",
    "journeys/collection/test_faults.py", "journeys/systems/test_on_cluster.py",
)  # fmt: skip


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each worker begin with long files: pytest-xdist deals equal slices of the list, in order, to its workers."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    places = {f"tests/{name}": place for place, name in enumerate(LONGEST)}
    files = [item.nodeid.partition("::")[0] for item in items]
    first: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for file, item in sorted(zip(files, items, strict=True), key=lambda pair: places.get(pair[0], len(places))):
        if file in places:
            first[places[file] % workers].append(item)
    rest = iter([item for file, item in zip(files, items, strict=True) if file not in places])
    size = -(-len(items) // workers)
    items[:] = [item for own in first for item in (*own, *islice(rest, max(0, size - len(own))))]
