"""Releases: everything that crosses a trust boundary, as objects that know their own price."""

from privet.release.answers import Answer, Answers
from privet.release.asks import ASKS, Ask
from privet.release.asks.features import Features
from privet.release.asks.friends import Friends, ranks_of
from privet.release.asks.label import Label
from privet.release.asks.length import Length
from privet.release.asks.neighbours import Neighbours
from privet.release.asks.resemblance import Resemblance
from privet.release.local import LocalRelease
from privet.release.private import PrivateData
from privet.release.question import Question
from privet.release.sum import Sum
from privet.release.wire import WireForm

__all__ = [
    "ASKS", "Answer", "Answers", "Ask", "Features", "Friends", "Label", "Length", "LocalRelease", "Neighbours",
    "PrivateData", "Question", "Resemblance", "Sum", "WireForm", "ranks_of",
]  # fmt: skip
