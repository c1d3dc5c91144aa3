from __future__ import annotations

from pathlib import Path

import pytest

from privet.errors import InvalidData
from privet.evaluation.documents import demand, read_json


@pytest.mark.parametrize("content", ["", "{", "\x00"])
def test_files_that_are_no_json_are_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(InvalidData, match=r"r\.json"):
        read_json(tmp_path / "r.json")


def test_missing_fields_are_named() -> None:
    assert demand({"a": 1, "b": 2}, ("a",), "file", "a result") == {"a": 1, "b": 2}
    with pytest.raises(InvalidData, match="one without b, c"):
        demand({"a": 1}, ("a", "b", "c"), "file", "a result")
    with pytest.raises(InvalidData, match="a JSON int"):
        demand(3, (), "file", "a result")
