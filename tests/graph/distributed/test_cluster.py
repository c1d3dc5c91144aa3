"""How a cluster is named."""

from __future__ import annotations

import pytest

from privet.errors import InvalidParameter
from privet.graph.distributed import connect
from privet.graph.distributed.cluster import LocalWorkers, parse_cluster


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("local", LocalWorkers()),
        ("local:3", LocalWorkers(3)),
        ("local:2:1.5GiB", LocalWorkers(2, "1.5GiB")),
        ("local:2:800MB", LocalWorkers(2, "800MB")),
        ("tls://scheduler.example:8786", "tls://scheduler.example:8786"),
    ],
)
def test_spellings(text, meant):
    assert parse_cluster(text) == meant


@pytest.mark.parametrize("text", ["", "local:", "local:0", "local:2:", "local:2:much", "10.0.0.1:8786", "here"])
def test_others_are_told(text):
    with pytest.raises(InvalidParameter, match="local:WORKERS:MEMORY"), connect(text):
        pass
