"""Public arrays as bytes: read as they were written, or refused."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from privet.errors import InvalidData
from privet.release.blobs import array_digest, array_of, blob_of, new_salt, salt_of

arrays = hnp.arrays(
    st.sampled_from(["i1", "u1", "<i2", ">i2", "<i4", ">i4", "<i8"]), hnp.array_shapes(max_dims=2, min_side=0)
)


@given(arrays, st.binary(min_size=16, max_size=16))
def test_a_salt_travels_with_its_array(array, salt):
    blob = blob_of(array, salt)
    np.testing.assert_array_equal(array_of(blob), array)
    assert (salt_of(blob), salt_of(blob_of(array))) == (salt, b"")
    assert array_digest(array, salt) == "sha256:" + hashlib.sha256(blob).hexdigest() != array_digest(array)


def test_salts_are_new():
    assert len({new_salt() for _ in range(100)}) == 100
    assert len(new_salt()) == 16


@given(arrays)
def test_an_array_is_read_as_it_was_written(array):
    again = array_of(blob_of(array))
    assert again.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(again, array)
    assert array_digest(array) == "sha256:" + hashlib.sha256(blob_of(array)).hexdigest()


def test_the_form_of_the_bytes():
    assert blob_of(np.array([[1, -1]], dtype=np.int16)) == b"<i2 (1, 2) \x01\x00\xff\xff"
    assert blob_of(np.array([7], dtype=np.uint8)) == b"|u1 (1,) \x07"
    salt = bytes(range(16))
    assert blob_of(np.array([7], dtype=np.uint8), salt) == b"000102030405060708090a0b0c0d0e0f |u1 (1,) \x07"


@given(st.binary(max_size=40))
def test_other_bytes_are_refused(noise):
    with pytest.raises(InvalidData):
        array_of(b"x" + noise)


@pytest.mark.parametrize(
    "blob",
    [
        b"<f8 (1,) " + bytes(8),  # no float is equal on every device
        b"<i4 (2,) " + bytes(4),
        b"<i4 (1,) " + bytes(5),
        b"00 <i4 (1,) " + bytes(4),
        b"0" * 32 + b"<i4 (1,) " + bytes(4),
        b"<i4 (999999999999, 999999999999) ",
        b"<i4 (1, 1, 1) " + bytes(4),
        b"|O8 (1,) " + bytes(8),
    ],
)
def test_arrays_that_are_none_are_refused(blob):
    with pytest.raises(InvalidData, match="public array"):
        array_of(blob)
