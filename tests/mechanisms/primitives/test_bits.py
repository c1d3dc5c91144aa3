from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from privet.errors import InvalidParameter
from privet.mechanisms.primitives import bits
from privet.mechanisms.primitives.bits import Bits, SeededBits, SystemBits


class ListedBits(Bits):
    """Words from a list."""

    def __init__(self, words: list[int]) -> None:
        self.listed = words

    def words(self, count: int) -> np.ndarray:
        taken, self.listed = self.listed[:count], self.listed[count:]
        return np.array(taken, dtype=np.uint64)


def test_a_seed_repeats_bit_for_bit_and_the_system_does_not() -> None:
    assert (SeededBits(3).words(100) == SeededBits(3).words(100)).all()
    assert (SeededBits(3).words(100) != SeededBits(4).words(100)).any()
    assert (SystemBits().words(100) != SystemBits().words(100)).any()


@pytest.mark.parametrize("source", [SeededBits(0), SystemBits()], ids=["seeded", "system"])
@pytest.mark.parametrize("bound", [1, 2, 7, 256])
def test_below_is_uniform(source: Bits, bound: int) -> None:
    """Chi-square; a correct source fails with a chance of 1e-9."""
    draws = source.below(bound, (50_000,))
    counts = np.bincount(draws, minlength=bound)
    assert len(counts) == bound
    assert bound == 1 or stats.chisquare(counts).pvalue > 1e-9


def test_below_is_exact_at_the_edge_of_the_word() -> None:
    """2^64 mod 3 = 1, so of all words exactly the word 0 is drawn again."""
    assert ListedBits([0, 5]).below(3, (1,)).tolist() == [2]
    assert ListedBits([1, 2, 3]).below(3, (3,)).tolist() == [1, 2, 0]
    assert ListedBits([2**64 - 1]).below(2**53, (1,)).tolist() == [2**53 - 1]


def test_bounds_may_differ_by_entry() -> None:
    draws = SeededBits(0).below(np.array([1, 10, 1 << 53]), (1000, 3))
    assert (draws[:, 0] == 0).all()
    assert draws[:, 1].max() == 9
    assert draws[:, 2].max() > 1 << 52


@pytest.mark.parametrize("bound", [0, (1 << 53) + 1])
def test_bounds_outside_their_domain_are_refused(bound: int) -> None:
    with pytest.raises(InvalidParameter, match="2\\^53"):
        SeededBits(0).below(bound, (1,))


def test_words_use_all_64_bits() -> None:
    for source in (SeededBits(0), SystemBits()):
        words = source.words(4000)
        ones = ((words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).mean(axis=0)
        assert (np.abs(ones - 0.5) < 7 * 0.5 / np.sqrt(4000)).all()  # fails with a chance below 64 * 3e-12


def test_many_words_are_the_key_stream_of_a_fresh_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key and the first counter of CTR-AES256 in NIST SP 800-38A, F.5.5, and its first output block."""
    key = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
    drawn = bytes.fromhex(key + "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    asked = []
    monkeypatch.setattr(bits.os, "urandom", lambda count: asked.append(count) or drawn[:count])
    words = SystemBits().words(2000)
    assert words[:2].astype("<u8").tobytes().hex() == "0bdf7df1591716335e9a8b15c860c502"
    assert len(set(words.tolist())) == 2000
    SystemBits().words(2000)
    assert asked == [48, 48]  # another key for every call


def test_many_words_come_from_the_system_where_there_is_no_cipher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "Cipher", None)
    assert len(set(SystemBits().words(2000).tolist())) == 2000
