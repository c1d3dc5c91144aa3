"""Public arrays as bytes: read as they were written, or refused."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from privet.errors import InvalidData
from privet.release.blobs import array_digest, array_of, blob_of

arrays = hnp.arrays(
    st.sampled_from(["i1", "u1", "<i2", ">i2", "<i4", ">i4", "<i8"]), hnp.array_shapes(max_dims=2, min_side=0)
)


@given(arrays)
def test_an_array_is_read_as_it_was_written(array):
    again = array_of(blob_of(array))
    assert again.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(again, array)
    assert array_digest(array) == "sha256:" + hashlib.sha256(blob_of(array)).hexdigest()


def test_the_form_of_the_bytes():
    assert blob_of(np.array([[1, -1]], dtype=np.int16)) == b"<i2 (1, 2) \x01\x00\xff\xff"
    assert blob_of(np.array([7], dtype=np.uint8)) == b"|u1 (1,) \x07"


@given(st.binary(max_size=40))
def test_other_bytes_are_refused(noise):
    with pytest.raises(InvalidData):
        array_of(noise if not noise.startswith((b"<", b"|")) else b"x" + noise)


@pytest.mark.parametrize(
    "blob",
    [
        b"<f8 (1,) " + bytes(8),  # no float is equal on every device
        b"<i4 (2,) " + bytes(4),
        b"<i4 (1,) " + bytes(5),
        b"<i4 (999999999999, 999999999999) ",
        b"<i4 (1, 1, 1) " + bytes(4),
        b"|O8 (1,) " + bytes(8),
    ],
)
def test_arrays_that_are_none_are_refused(blob):
    with pytest.raises(InvalidData, match="public array"):
        array_of(blob)
