"""``privet ledger``: what a device has reported, and what is left."""

import stat

from simulated_studies import make_study, privet

from privet.collection.device.ledger import Ledger
from privet.collection.study.chain import Chain


def test_a_ledger_is_not_invented(tmp_path):
    home = tmp_path
    assert "There is no ledger" in privet("ledger", "--ledger", home / "typo.sqlite", home=home, status=2)
    assert not (home / "typo.sqlite").exists()
    (home / "open").touch(mode=0o644)
    privet("ledger", "--ledger", home / "open", home=home)
    assert stat.S_IMODE((home / "open").stat().st_mode) == 0o600


def test_an_odd_title_is_printed_as_it_is(tmp_path):
    title = "[/] [red]x[/] [conceal]"
    Ledger(tmp_path / "ledger").reserve(Chain((make_study(title=title),)), 1, lambda: b"")
    assert title in privet("ledger", "--ledger", tmp_path / "ledger", home=tmp_path)
