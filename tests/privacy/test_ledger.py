from __future__ import annotations

from privet.privacy import Guarantee, Unit
from privet.privacy.ledger import LedgerLine


def test_a_line_has_the_price_of_its_guarantee() -> None:
    line = LedgerLine.of("label", "randomized-response", Guarantee.local(Unit.LABEL, 2.0, 1e-6))
    expected = {"part": "label", "unit": "label", "mechanism": "randomized-response", "epsilon": 2.0, "delta": 1e-6}
    assert line.to_dict() == expected
