from __future__ import annotations

from pathlib import Path

import pytest

import privet.build
from privet.build import build_digest


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "inner" / "b.json").write_text("{}")
    monkeypatch.setattr(privet.build, "files", lambda name: tmp_path)
    return tmp_path


def digest() -> str:
    return build_digest.__wrapped__()


def test_the_same_files_have_the_same_digest_and_caches_do_not_count(package: Path) -> None:
    before = digest()
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "a.cpython-313.pyc").write_bytes(b"compiled")
    assert digest() == before


@pytest.mark.parametrize(
    "change",
    [
        lambda package: (package / "a.py").write_text("x = 2\n"),
        lambda package: (package / "inner" / "b.json").write_text("[]"),
        lambda package: (package / "a.py").rename(package / "c.py"),
        lambda package: (package / "inner" / "new.js").write_text(""),
        lambda package: (package / "a.py").write_text("x = 1\n{}") and (package / "inner" / "b.json").write_text(""),
    ],
)
def test_any_other_file_name_or_byte_changes_it(package: Path, change) -> None:  # type: ignore[no-untyped-def]
    before = digest()
    change(package)
    assert digest() != before
