"""What a whole study promises a device's owner."""

from __future__ import annotations

from dataclasses import replace

from privet.privacy.guarantee import Guarantee, joint

__all__ = ["study_guarantee"]


def study_guarantee(features: Guarantee, labels: Guarantee | None, lists: Guarantee | None, classes: int) -> Guarantee:
    """The promise about everything that a device sends, and what the study leaves open."""
    parts = [part for part in (features, labels, lists) if part is not None]
    whole = joint(*parts) if len(parts) > 1 else features
    public = ["the labels of training and validation nodes, which are public"] if labels is None and classes else []
    public += ["the edges, which are public"] if lists is None else []
    return replace(whole, unprotected=(*whole.unprotected, *public))
