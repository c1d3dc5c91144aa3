"""Directories that are removed however their process ends, and others that are left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from privet.graph.distributed.temporary import owned_directory, remove_abandoned

PROGRAM = """
import sys, time
from contextlib import ExitStack
from privet.graph.distributed.temporary import owned_directory
with ExitStack() as stack:
    folders = [stack.enter_context(owned_directory()) for _ in range(int(sys.argv[1]))]
    for folder in folders:
        (folder / "columns").write_bytes(bytes(100))
    print(*folders, sep="\\t", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def started(directories: int = 1) -> tuple[subprocess.Popen[str], list[Path]]:
    command = [sys.executable, "-c", PROGRAM, str(directories)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as printed:
        return process, [Path(name) for name in printed.readline().strip().split("\t")]


def test_it_is_removed_in_the_end_and_after_an_error(tmp_path: Path) -> None:
    with owned_directory() as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()
    with pytest.raises(ZeroDivisionError), owned_directory() as folder:
        raise ZeroDivisionError
    assert not folder.exists()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_sigterm_removes_it() -> None:
    process, (folder,) = started()
    assert (folder / "columns").exists()
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert not folder.exists()


def test_after_sigkill_the_next_start_removes_it_and_never_before() -> None:
    process, (folder,) = started()
    remove_abandoned()
    assert folder.exists()  # its process lives
    process.kill()
    process.wait(60)
    assert folder.exists()
    with owned_directory() as mine:
        assert not folder.exists()
        remove_abandoned()
        assert mine.exists()


def abandoned(tmp_path: Path, *names: str) -> list[Path]:
    """Make directories as a killed process leaves them, and rename them."""
    process, folders = started(len(names))
    process.kill()
    process.wait(60)
    return [folder.rename(tmp_path / name) for folder, name in zip(folders, names, strict=True)]


def test_what_is_not_ours_beyond_doubt_is_left_alone(tmp_path: Path) -> None:
    ours = [f"privet-temporary-{name}" for name in ("readable", "elsewhere", "unlocked", "owner", "certain")]
    named_otherwise, readable, elsewhere, unlocked, owner, certain = abandoned(tmp_path, "somebody", *ours)
    readable.chmod(0o755)
    (elsewhere / ".owner").write_text("another-machine")
    (unlocked / ".owner").unlink()
    link = tmp_path / "privet-temporary-link"
    link.symlink_to(named_otherwise)
    (owner / ".owner").rename(tmp_path / "lock")
    (owner / ".owner").symlink_to(tmp_path / "lock")
    remove_abandoned()
    assert not certain.exists()
    assert all(each.exists() for each in (named_otherwise, readable, elsewhere, unlocked, link, owner))


@pytest.mark.skipif(os.getuid() != 0, reason="gives a directory to another account")
def test_another_account_s_directory_is_left_alone(tmp_path: Path) -> None:
    (folder,) = abandoned(tmp_path, "privet-temporary-x")
    os.chown(folder, 12345, -1)
    remove_abandoned()
    assert folder.exists()
