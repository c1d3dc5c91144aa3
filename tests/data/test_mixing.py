"""The hash is SplitMix64's, alike for arrays and tensors."""

from __future__ import annotations

import numpy as np
import torch

from privet.data.mixing import STEP, STEP_WORD, mixed, mixed_words

FIRST_OUTPUTS = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]  # SplitMix64 with the seed 0


def test_it_gives_the_published_outputs() -> None:
    states = np.arange(1, 4, dtype=np.uint64) * STEP_WORD
    assert mixed_words(states).tolist() == FIRST_OUTPUTS


def test_arrays_and_tensors_agree() -> None:
    words = np.random.default_rng(0).integers(-(1 << 63), 1 << 63, 100, dtype=np.int64)
    assert torch.equal(mixed(torch.from_numpy(words)), torch.from_numpy(mixed(words)))
    assert int(STEP_WORD) == STEP % (1 << 64)
