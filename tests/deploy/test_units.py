"""The systemd units: valid, hardened, and without a secret in a command."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from privet.collection.operator.keys import VARIABLES

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = ("privet-collector@.service", "privet-backup.service", "privet-backup.timer")
ANALYZE = shutil.which("systemd-analyze")


@pytest.fixture
def units(tmp_path):
    """The units with a program that exists here."""
    program = tmp_path / "privet"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for name in UNITS:
        text = (DEPLOY / name).read_text()
        (tmp_path / name).write_text(text.replace("/opt/privet/bin/privet", str(program)))
    return tmp_path


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("name", UNITS)
def test_systemd_takes_the_unit(units, name):
    done = subprocess.run(
        [ANALYZE, "verify", "--man=no", str(units / name)], capture_output=True, text=True, timeout=60
    )
    complaints = [line for line in done.stderr.splitlines() if str(units) in line or name.split(".")[0] in line]
    assert complaints == []


@pytest.mark.skipif(ANALYZE is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("name", UNITS[:2])
def test_systemd_finds_little_exposed(units, name):
    command = [ANALYZE, "security", "--offline=yes", "--no-pager", "--threshold=20", str(units / name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze looks at running units only")
    assert done.returncode == 0, done.stdout[-600:] + done.stderr


def test_no_command_has_a_secret():
    for path in DEPLOY.iterdir():
        assert not re.search(r"://\w+:[^$@{\s]*@(?!database)", path.read_text()), path.name
    for name in UNITS[:2]:
        text = (DEPLOY / name).read_text()
        command = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE).group(1)
        assert not re.search("key|token|store|postgres", command)
        assert "Environment=" not in text  # systemd would prefer the file's values anyway


def test_secrets_are_files_that_the_environment_names():
    lines = (DEPLOY / "privet.env").read_text().splitlines()
    named = dict(line.split("=") for line in lines if not line.startswith("#"))
    assert set(named) == {"PRIVET_STUDY", *(f"{name}_FILE" for name in VARIABLES.values())}
    readme = (DEPLOY / "README.md").read_text()
    for name in VARIABLES.values():
        place = Path(named[f"{name}_FILE"])
        assert place.parent == Path("/etc/privet")
        assert f"> {place.name}" in readme  # the commands write each of them


@pytest.mark.parametrize("name", UNITS[:2])
def test_a_system_call_too_many_is_refused_and_does_not_kill(name):
    """Libraries of numbers ask for a processor (@resources), and go on without one."""
    text = (DEPLOY / name).read_text()
    assert "SystemCallErrorNumber=EPERM" in text
    assert "/etc/privet" not in re.sub("EnvironmentFile=.*|#.*", "", text)  # whoever may not read it cannot start


def test_what_was_not_run_says_so():
    for name in ("Containerfile", "compose.yaml"):
        assert (DEPLOY / name).read_text().startswith("# NOT RUN")
