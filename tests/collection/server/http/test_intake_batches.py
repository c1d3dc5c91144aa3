"""The frame of a batch: read as it was written, or refused whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_studies import make_study

from privet.collection.server.http.intake import MOST_REPORTS, pack_batch, unpack_batch
from privet.collection.study.tokens import TOKEN_BYTES
from privet.errors import InvalidReports

STUDY = make_study()


def test_too_many_reports_are_refused():
    many = MOST_REPORTS + 1
    with pytest.raises(InvalidReports, match="1 to 10000 reports"):
        unpack_batch(pack_batch(STUDY.id, [bytes(TOKEN_BYTES)] * many, [b""] * many))


@given(st.lists(st.binary(max_size=9), min_size=1, max_size=8))
def test_a_batch_is_read_as_it_was_written(bodies):
    tokens = [bytes([i]) * TOKEN_BYTES for i in range(len(bodies))]
    assert unpack_batch(pack_batch(STUDY.id, tokens, bodies)) == (STUDY.id, b"".join(tokens), bodies)


@given(st.binary(max_size=120), st.integers(0, 60))
def test_a_damaged_batch_is_refused_whole(noise, place):
    batch = pack_batch(STUDY.id, [bytes(TOKEN_BYTES)], [b"12345"])
    for damaged in (noise, batch[:-1], batch + b"x", batch[:place] + noise + batch[place:]):
        if damaged != batch:
            with pytest.raises(InvalidReports):
                unpack_batch(damaged)
