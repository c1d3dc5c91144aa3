"""Files of a store: whole or not there at all, and damage is told with the file's name."""

from __future__ import annotations

import numpy as np
import pytest

from privet.data.store.files import flush_directory, mapped, reading, seal, write_array, write_text, writing
from privet.errors import InvalidData, InvalidParameter


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "a.txt", "half of it " * 10_000 + "\ud800")
    with pytest.raises(InvalidParameter, match=r"a\.txt cannot be written: No space left"), writing(tmp_path / "a.txt"):
        raise OSError(28, "No space left on device")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "old")]
    flush_directory(tmp_path)


def test_damage_is_noticed_by_size_and_by_checksum(tmp_path):
    (tmp_path / "part").mkdir()
    path = tmp_path / "part" / "x.npy"
    entry = write_array(path, np.arange(6)[::2], tmp_path)
    assert (entry.name, entry == seal(path, tmp_path), entry.matches(tmp_path)) == ("part/x.npy", True, True)
    np.testing.assert_array_equal(mapped(path), [0, 2, 4])
    whole = path.read_bytes()
    for damaged, told in ((whole[:-1], "bytes instead of"), (whole[:-1] + b"\x01", "checksum")):
        path.write_bytes(damaged)
        with pytest.raises(InvalidData, match=rf"x\.npy is damaged: .*{told}"):
            entry.check(tmp_path)
        assert not entry.matches(tmp_path)
    path.unlink()
    with pytest.raises(InvalidData, match=r"x\.npy is missing"):
        entry.check(tmp_path)


def test_arrays_that_cannot_be_mapped(tmp_path):
    write_array(tmp_path / "empty.npy", np.zeros((0, 3)), tmp_path)
    assert mapped(tmp_path / "empty.npy").shape == (0, 3)
    (tmp_path / "text.npy").write_text("no array")
    with pytest.raises(InvalidData, match=r"text\.npy is damaged: it is no \.npy file"):
        mapped(tmp_path / "text.npy")
    with pytest.raises(InvalidData, match="cannot be read: Is a directory"), reading(tmp_path):
        tmp_path.read_bytes()
