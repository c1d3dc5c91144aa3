"""``privet withdraw`` against a live collector."""

import json

import pytest
from simulated_studies import declaration, privet

from privet.collection.operator.folder import StudyFolder
from privet.collection.operator.rehearsal import live_collector

pytest.importorskip("starlette", reason="the collection extra is not installed")


def test_a_token_is_not_sent_over_http_to_another_machine(tmp_path):
    error = privet("withdraw", "http://x/#study=a&token=b", "--yes", home=tmp_path, status=2)
    assert "use https" in error
    assert error.count("\n") == 1
    assert "--insecure" in privet("withdraw", "--help", home=tmp_path)


def test_a_report_is_withdrawn_stays_charged_and_cannot_be_sent_again(tmp_path):
    home = tmp_path
    privet("study", "new", declaration(home), "--out", home / "study", home=home)
    folder = StudyFolder.open(home / "study")
    (home / "me.json").write_text(json.dumps({"features": [8, 2, 3, 1], "label": 1}))
    with live_collector(folder) as address:
        link = f"{address}/#study={folder.study.id}&token={folder.tokens.issue(7)}"
        participate = ["participate", link, "--answers", home / "me.json", "--yes"]
        privet(*participate, home=home)
        refused = privet("withdraw", link, home=home, status=2, given="n\n")
        assert "Nothing was erased" in refused
        assert "nobody here to ask" in privet("withdraw", link, home=home, status=2, given="")
        printed = privet("withdraw", link, home=home, given="y\n")
        assert "Habits" in printed
        assert "has erased all that you sent" in printed
        assert "still counts 2 for it: somebody has seen the report" in printed
        assert "has erased" in privet("withdraw", link, "--yes", home=home)
        assert "You withdrew from this study" in privet(*participate, home=home, status=2)
        other = home / "another device"
        assert "none is taken any more. No report was made" in privet(*participate, home=other, status=2)
        wrong = link.replace(folder.study.id, "0" * 64)
        assert "invited to" in privet("withdraw", wrong, "--yes", home=home, status=2)
    store = folder.store()
    assert (store.count(), [each.by for each in store.erasures()]) == (0, ["participant"])
    store.dispose()
    ledger = json.loads(privet("ledger", "--json", home=home))
    assert (ledger["spent"], ledger["reports"][0]["withdrawn"]) == (2.0, True)
    shown = privet("ledger", home=home)
    assert "withdrawn" in shown
    assert "A withdrawn report stays charged: it was erased, but somebody has seen it." in shown
