import pytest

from privet.data.files import atomic_directory, atomic_file
from privet.errors import InvalidParameter


def test_a_file_is_replaced_only_on_success(tmp_path):
    target = tmp_path / "a.txt"
    with atomic_file(target) as temporary:
        temporary.write_text("old")
        assert not target.exists()
    with pytest.raises(RuntimeError), atomic_file(target) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_directory_appears_only_on_success(tmp_path):
    target = tmp_path / "a"
    with pytest.raises(RuntimeError), atomic_directory(target) as temporary:  # noqa: PT012
        (temporary / "x").write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    target.mkdir()
    with atomic_directory(target) as temporary:
        (temporary / "x").write_text("whole")
    assert (target / "x").read_text() == "whole"
    assert list(tmp_path.iterdir()) == [target]


def test_a_directory_with_files_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(InvalidParameter, match="Name a new or empty directory"), atomic_directory(tmp_path):
        pass
    assert (tmp_path / "mine").read_text() == "precious"


@pytest.mark.parametrize("writer", [atomic_file, atomic_directory])
def test_the_parent_must_exist(writer, tmp_path):
    with pytest.raises(InvalidParameter, match="Name a file in an existing directory"), writer(tmp_path / "no" / "a"):
        pass
