"""The directory of participants: one name for each number, and one hash for one list."""

import hashlib

import pytest

from privet.collection.study.directory import Directory
from privet.errors import InvalidData


def test_the_hash_is_that_of_the_lines(tmp_path):
    (tmp_path / "people.csv").write_text('node,name\n0,Ann\n1,"Smith, Bob"\n')
    people = Directory.read(tmp_path / "people.csv")
    assert people.names == ("Ann", "Smith, Bob")
    assert people.digest == hashlib.sha256(b"0,Ann\n1,Smith, Bob\n").hexdigest()
    assert people.node("Smith, Bob") == 1
    with pytest.raises(InvalidData, match="is not in the directory"):
        people.node("Carl")


def test_other_numbers_are_another_directory():
    assert Directory(("Ann", "Bob")).digest != Directory(("Bob", "Ann")).digest


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "columns node and name"),
        ("name,node\nAnn,0\n", "must be a CSV file with the columns"),
        ("node,name\n1,Ann\n", "such as 0,NAME"),
        ("node,name\n0,Ann\n0,Bob\n", "such as 1,NAME"),
        ("node,name\n0,Ann\n1,Ann\n", "'Ann' twice"),
        ("node,name\n0,\n", "printable"),
        ("node,name\n0,Ann\x1b[2J\n", "printable"),
        ("node,name\n0,Ann,more\n", "such as 0,NAME"),
    ],
)
def test_a_bad_list_is_refused_in_one_sentence(tmp_path, text, problem):
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(InvalidData, match=problem) as caught:
        Directory.read(tmp_path / "people.csv")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(InvalidData, match="No such file"):
        Directory.read(tmp_path / "people.csv")
