from __future__ import annotations

import json

from privet.privacy import Guarantee, Unit
from privet.privacy.ledger import LedgerLine


def test_a_line_has_the_price_of_its_guarantee() -> None:
    line = LedgerLine.of("label", "randomized-response", Guarantee.local(Unit.LABEL, 2.0, 1e-6))
    expected = {"part": "label", "unit": "label", "mechanism": "randomized-response", "epsilon": 2.0, "delta": 1e-6}
    assert expected.items() <= line.to_dict().items()


def test_a_line_can_be_written_as_json() -> None:
    line = LedgerLine("features", "feature vector", "multi-bit", 1.0)
    document = json.loads(json.dumps(line.to_dict()))
    assert {"part": "features", "unit": "feature vector", "epsilon": 1.0, "delta": 0.0}.items() <= document.items()
    assert LedgerLine(**document) == line
