"""Releases: everything that crosses a trust boundary, as objects that know their own price."""

from privet.release.answers import Answer, Answers
from privet.release.asks import ASKS, Ask
from privet.release.local import LocalRelease
from privet.release.private import PrivateData
from privet.release.question import Question
from privet.release.wire import WireForm

__all__ = ["ASKS", "Answer", "Answers", "Ask", "LocalRelease", "PrivateData", "Question", "WireForm"]
