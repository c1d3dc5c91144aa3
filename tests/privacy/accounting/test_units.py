from __future__ import annotations

from privet.privacy.accounting.units import noise_multiplier_of, paper_sigma


def test_the_paper_clips_to_one_half() -> None:
    assert paper_sigma(8.0) == 4.0
    assert noise_multiplier_of(paper_sigma(0.3)) == 0.3
