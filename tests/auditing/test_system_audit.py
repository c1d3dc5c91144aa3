from __future__ import annotations

import json
from typing import Any

import pytest

from privet.auditing.system_audit import audit_system, auditable_systems
from privet.errors import InvalidParameter
from privet.systems import LPGNN, SYSTEMS

QUICK: dict[str, Any] = {"rate": 0.2, "steps": 2, "num_nodes": 500, "noise_multiplier": 6.0, "runs": 2000}


@pytest.mark.parametrize("name", ["heterpoisson", "private-mlp", "smoothed-mlp"])
def test_true_noise_holds(name: str) -> None:
    found = audit_system(SYSTEMS[name], **QUICK)
    assert not found.broken
    document = json.loads(json.dumps(found.to_dict()))
    assert 0 <= document["epsilon_lower"] < document["claim"]
    assert (document["system"], document["sigma"], document["claimed_by"]) == (name, 3.0, "the accountant")


def test_what_can_be_audited_follows_from_the_process() -> None:
    assert set(auditable_systems()) == {"heterpoisson", "private-mlp", "smoothed-mlp"}


@pytest.mark.parametrize(
    ("kind", "parameters", "words"),
    [
        (LPGNN, {"rate": 0.2}, "lpgnn has no parameter 'rate'"),
        (SYSTEMS["ndp"], {}, "one of .*heterpoisson"),
        (SYSTEMS["heterpoisson"], {**QUICK, "noise": "laplace"}, "gaussian or sml"),
        (SYSTEMS["heterpoisson"], {"classes": 3}, "heterpoisson has no parameter 'classes'"),
    ],
)
def test_bad_parameters_are_named(kind: Any, parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        audit_system(kind, **parameters)
