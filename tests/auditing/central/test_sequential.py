from __future__ import annotations

import json

from privet.auditing.central.sequential import audit_sequentially
from privet.privacy.accounting.processes.heterogeneous_poisson import HeterogeneousPoisson


def test_the_audit_of_a_process_stops_when_it_is_sure_or_gives_up() -> None:
    process = HeterogeneousPoisson(rate=1.0, multiplier=0, steps=1, num_nodes=1000)
    broken = audit_sequentially(process, 4.0, "sml", delta=1e-5, canaries=500)
    assert broken.broken
    assert broken.epsilon_lower > broken.claim
    assert broken.runs < broken.most_runs
    holds = audit_sequentially(process, 4.0, delta=1e-5, canaries=500, runs=10)
    assert not holds.broken
    assert holds.runs == 10
    document = json.loads(json.dumps(holds.to_dict()))
    assert (document["audit"], document["broken"], document["most_runs"]) == ("sequential", False, 10)
