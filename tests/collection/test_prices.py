"""Random studies: whatever states a price states the same one, that of a slow exact reference.

The reference knows nothing of privet. It lists what one person, and one pair of people, can be in: which questions they
can have answered together, at both ends of the pair. Printed figures are read out of the documents that people get.
"""

from __future__ import annotations

import hashlib
import html
import itertools
import json
import math
import random
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run_privet
from simulated_studies import make_study

import privet.collection
from privet.accounts.account import account
from privet.cli.render.guarantees import print_account
from privet.collection.device.consent import describe
from privet.collection.device.ledger import Ledger
from privet.collection.device.participant import Participant, PrivateAnswers
from privet.collection.device.preparation import Prepared
from privet.collection.operator.dpia.assessment import impact_assessment
from privet.collection.operator.facts import Accuracy, Facts
from privet.collection.operator.models import TrainedModel
from privet.collection.study.chain import Chain
from privet.collection.study.manifest import Study
from privet.data import Schema
from privet.mechanisms import SeededBits
from privet.privacy.prose import as_text
from privet.privacy.statement import read_statement
from privet.reporting.report import build_report, read_results
from privet.systems import Fitted

WEB = Path(privet.collection.__file__).parent / "server" / "http" / "web"
NODES, CLASSES, ME = 40, 3, 3
WAVES = ("person", "person-again")
EPSILONS = (0.1, 0.25, 1 / 3, 0.7, 1.0, 1.9, 2.5, math.pi)
ABOUT_ONESELF = (("features", "resemblance"), ("label",), WAVES)  # of each group a person answers one question at most
ABOUT_PAIRS = (("friends", "friends-again"), ("neighbours",), ("length",))  # a pair is in one answer of each group


def exact(asked: list[dict[str, Any]]) -> Fraction:
    """The largest loss, over all that a person can have answered and that both ends of a pair can have reported."""

    def most(groups: tuple[tuple[str, ...], ...]) -> Fraction:
        epsilons = {each["ask"]: Fraction(each["epsilon"]) for each in asked}
        ways = itertools.product(*([None, *(name for name in group if name in epsilons)] for group in groups))
        return max(sum((epsilons[name] for name in way if name is not None), Fraction(0)) for way in ways)

    ends = most(ABOUT_PAIRS), most(ABOUT_PAIRS)  # nothing keeps a server from asking both
    return most(ABOUT_ONESELF) + sum(ends)


def planned(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The questions that a plan announces."""
    budgets = {
        "label": settings.get("epsilon_labels"),
        "features": settings.get("epsilon_features") if "pilot" in settings else None,
        "friends": settings.get("epsilon_edges"),
        "friends-again": settings.get("epsilon_edges"),
        "resemblance": settings.get("epsilon_features"),
        "person": settings.get("epsilon_person"),
        "person-again": settings.get("epsilon_person"),
    }
    return [{"ask": name, "epsilon": epsilon} for name, epsilon in budgets.items() if epsilon is not None]


def agrees(printed: str, price: Fraction, digits: int = 4) -> bool:
    """Whether a printed figure is the price, rounded up to so many digits and no further."""
    told = Fraction(printed.replace(",", ""))
    return price * (1 - Fraction(1, 10**14)) <= told <= price * (1 + Fraction(10) ** (1 - digits))


def is_factor(printed: str, price: Fraction) -> bool:
    """Whether a printed factor is e to the price, rounded up to three digits."""
    told, odds = float(printed.replace(",", "")), math.exp(price)
    return odds * (1 - 1e-12) <= told <= odds * 1.01


def read(pattern: str, text: str) -> tuple[str, ...]:
    """The figures at the only place of a document that looks like this."""
    (found,) = re.findall(pattern, " ".join(text.split()))
    return (found,) if isinstance(found, str) else found


def all_together(assessment: str) -> list[str]:
    """Epsilon and factor of everything together, in an impact assessment."""
    rows = [line.split("|") for line in assessment.partition("## 5.")[2].splitlines() if line.startswith("| ")]
    risks = [row for row in rows[2:] if "no limit" not in row[2]]
    table = list(itertools.takewhile(lambda row: len(row) == 9, risks))
    return [table[-1][2].strip(), table[-1][4].strip()]


def digest(name: str, kind: str = "sha256") -> str:
    return f"{kind}:{hashlib.sha256(name.encode()).hexdigest()}"


def one_round(draw: random.Random) -> Study:
    """A study of one round: features, perhaps the class, perhaps a list of either kind, perhaps a bound directory."""
    lists = draw.random() < 0.6
    release: list[dict[str, Any]] = [{"ask": "features", "mechanism": "multi-bit", "epsilon": draw.choice(EPSILONS)}]
    if draw.random() < 0.6:
        release.append({"ask": "label", "mechanism": "randomized-response", "epsilon": draw.choice(EPSILONS)})
    if lists:
        sides = {"one_sided": draw.random() < 0.5}
        release.append(
            {"ask": "neighbours", "mechanism": "adjacency-response", "epsilon": draw.choice(EPSILONS), **sides}
        )
    return make_study(
        nodes=NODES,
        schema=Schema.numeric(4, low=0.0, high=10.0, classes=CLASSES, private_edges=lists),
        release=release,
        directory=digest("names")[7:] if draw.random() < 0.3 else None,
    )


def in_rounds(draw: random.Random) -> list[Study]:
    """A study in rounds, as far as it has come: perhaps a panel or a pilot, private or public lists and classes."""
    settings: dict[str, Any] = {"seed": 0, "cap": 8}
    lists, source = draw.random() < 0.6, draw.choice(["panel", "pilot", None])
    if draw.random() < 0.6:
        settings["epsilon_labels"] = draw.choice(EPSILONS)
    if lists:
        settings["epsilon_edges"] = draw.choice(EPSILONS)
    if source is not None or not lists:
        settings |= {"epsilon_features": draw.choice(EPSILONS), source or "panel": 0.2}
    if draw.random() < 0.6:
        alone = draw.random() < 0.7
        settings = {name: each for name, each in settings.items() if not alone or name in ("seed", "epsilon_labels")}
        settings["epsilon_person"] = draw.choice(EPSILONS)
    public = {name: digest(name) for name, private in (("edges", lists), ("labels", "epsilon_labels" in settings))
              if not private}  # fmt: skip
    mechanisms: dict[str, dict[str, Any]] = {
        "label": {"mechanism": "randomized-response"},
        "features": {"mechanism": "multi-bit"},
        "resemblance": {"mechanism": "offered-response", "most": CLASSES, "scorer": digest("scorer")}
        | {"offers": digest("offers", "tree")},
    }
    for name in ("friends", "friends-again"):
        tables = {each: digest(name + each) for each in ("table", "ranks")}
        mechanisms[name] = {"mechanism": "counts", "cap": 8, **tables}
    for name in WAVES:
        needed = ("scorer", "table", "mixing", "shares") if lists else ("scorer",)
        arrays = {each: digest(name + each) for each in needed} | {"offers": digest(name, "tree")}
        fixed = {"mechanism": "offered-response", "most": CLASSES, "reads": "everything" if lists else "features"}
        mechanisms[name] = {**fixed, **arrays}
    questions = [{**each, **mechanisms[each["ask"]]} for each in planned(settings)]
    tables = ("scorer", "offers", "table", "ranks", "mixing", "shares")
    announced = [{name: each[name] for name in each if name not in tables} for each in questions]
    shows = "panel" in settings and draw.random() < 0.8
    releases = [[each] for each in questions]
    if shows and "epsilon_labels" not in settings:
        releases.insert(0, [])  # a panel is waited for before anything else is drawn up
    made: list[Study] = []
    title = f"Rounds {draw.random()}"
    for release in releases[: draw.randint(1, len(releases))]:
        made.append(
            make_study(
                title=title,
                nodes=NODES,
                schema=Schema.numeric(4, low=0.0, high=10.0, classes=CLASSES, private_edges=lists),
                release=release,
                earlier=[each.id for each in made],
                plan={"system": "inquiry", "settings": settings, "questions": announced},
                inputs=public,
                panel=digest("panel") if shows and not made else None,
            )
        )
    return made


def random_study(seed: int) -> list[Study]:
    draw = random.Random(seed)
    return [one_round(draw)] if seed % 2 else in_rounds(draw)


def asked_in(rounds: list[Study]) -> list[dict[str, Any]]:
    return [question for each in rounds for question in each.asked]


def announced_in(rounds: list[Study]) -> list[dict[str, Any]]:
    plan = rounds[0].plan
    return asked_in(rounds) if plan is None else planned(plan.settings)


SEEDS = range(80)
TIMES = "\N{MULTIPLICATION SIGN}"


def test_the_studies_are_of_every_kind() -> None:
    studies = [random_study(seed) for seed in SEEDS]
    asks = [{question["ask"] for question in asked_in(rounds)} for rounds in studies]
    for name in ("features", "label", "neighbours", "friends", "friends-again", "resemblance", *WAVES):
        assert sum(name in each for each in asks) >= 3, name
    assert sum(rounds[0].panel is not None for rounds in studies) >= 5
    assert sum(not asked_in(rounds) for rounds in studies) >= 2
    assert sum(asked_in(rounds) != announced_in(rounds) for rounds in studies) >= 5
    sides = [question.get("one_sided") for rounds in studies for question in asked_in(rounds)]
    assert min(sides.count(True), sides.count(False)) >= 5


@pytest.mark.parametrize("seed", SEEDS)
def test_consent_ledger_and_assessment_state_the_price(seed: int) -> None:
    rounds, ledger, answered = random_study(seed), Ledger(":memory:"), []
    ledger.limit = 1e6
    for place, study in enumerate(rounds, start=1):
        chain = Chain(tuple(rounds[:place]))
        announced = exact(announced_in(rounds))
        epsilon, factor = all_together(impact_assessment(chain))
        assert agrees(epsilon, announced)
        assert is_factor(factor, announced)
        if not study.asked:
            continue
        price = exact(answered + list(study.asked)) if not _instead(answered, study) else None
        if price is None:
            continue  # whoever answered the one question is not asked the other
        answered += study.asked
        told = describe(study, ledger, Prepared(chain, ME, study.release))
        factor, epsilon = read(r"by at most ([\d.]+)\..*? Epsilon ([\d.]+), delta 0", told)
        assert agrees(epsilon, price)
        assert is_factor(factor, price)
        (due,) = read(r"lifetime budget: ([\d.]+)\.", told)
        if due != "0":
            assert agrees(due, price - Fraction(ledger.spent))
        if chain.planned:
            cost, odds = read(r"announces would cost an epsilon of ([\d.]+) together \(odds times ([\d.]+)\)", told)
            assert agrees(cost, announced)
            assert is_factor(odds, announced)
        ledger.reserve(chain, ME, lambda: b"report")
        assert 0 <= Fraction(ledger.spent) - price <= price * Fraction(1, 10**14)  # never below


def _instead(answered: list[dict[str, Any]], study: Study) -> bool:
    names = {each["ask"] for each in (*answered, *study.asked)}
    return {"features", "resemblance"} <= names or set(WAVES) <= names


@pytest.mark.parametrize("seed", SEEDS[:24])
def test_statement_and_report_of_a_model_state_the_price(seed: int, tmp_path: Path) -> None:
    rounds = random_study(seed)
    price = exact(asked_in(rounds))
    if not price:
        return
    chain = Chain(tuple(rounds))
    chances = np.full((NODES, CLASSES), 1 / CLASSES, dtype=np.float32)
    fitted = Fitted("system", chain.guarantee(), chances, validation_score=0.5, lines=chain.release.lines())
    accuracy = Accuracy.of(np.ones(10, dtype=np.bool_))
    facts = Facts(NODES, NODES, 0, 0, 10, 10, accuracy, None, None, accuracy, None, 0.0, 0.1, CLASSES)
    TrainedModel(chain, fitted, facts).save(tmp_path / "model")
    text = as_text(read_statement(tmp_path / "model"))
    factor, epsilon = read(r"by at most ([\d.]+)\..*? This is the meaning of an epsilon of ([\d.]+), the", text)
    assert agrees(epsilon, price)
    assert is_factor(factor, price)
    page = html.unescape(build_report(read_results([tmp_path / "model"]))[0])
    (epsilon,) = read(r"<h2 id=[^>]*>[^<]*, epsilon ([\d.]+)</h2>", page)
    assert agrees(epsilon, price)
    (epsilon,) = read(r'together</th><td>[^<]*</td><td class="number">([\d.]+)</td>', page)
    assert agrees(epsilon, price)
    lines = [Fraction(each) for each in re.findall(r"an epsilon of ([\d.]+) for each", " ".join(text.split()))]
    assert sum(lines) >= price * (1 - Fraction(1, 1000))  # of alternatives each has a line


@pytest.mark.parametrize("seed", SEEDS[:24])
def test_a_simulation_s_account_states_what_the_study_charges(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    rounds = random_study(seed)
    first, budgets = rounds[0], {each["ask"]: each["epsilon"] for each in asked_in(rounds)}
    parameters: dict[str, Any] = {"num_nodes": NODES, "classes": CLASSES}
    if first.plan is not None and "epsilon_person" in first.plan.settings:
        return  # no system asks for everything in one answer and for parts of it besides
    if first.plan is not None:
        name, parameters = "inquiry", parameters | {k: v for k, v in first.plan.settings.items() if k != "seed"}
    elif "neighbours" in budgets and "label" not in budgets:
        name, sides = "solitude", asked_in(rounds)[-1]["one_sided"]
        parameters |= {"epsilon_features": budgets["features"], "epsilon_edges": budgets["neighbours"]}
        parameters |= {"one_sided": sides}
    elif "neighbours" not in budgets:
        name, parameters = "lpgnn", parameters | {"epsilon_features": budgets["features"]}
        parameters |= {"epsilon_labels": budgets.get("label")}
    else:
        return  # no system asks for all three
    price = exact(announced_in(rounds))
    found = account(name, parameters)
    assert agrees(str(Fraction(found.guarantee.epsilon)), price, 14)
    print_account(found)
    (epsilon,) = read(r"│ epsilon │ ([\d.]+) │", capsys.readouterr().out)
    assert agrees(epsilon, price, 6)


def test_the_page_states_the_price(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    studies = [[each for each in random_study(seed) if each.asked] for seed in SEEDS if random_study(seed)[0].asked]
    studies = [rounds for rounds in studies if not _instead([], rounds[0])]
    cut = []
    for rounds in studies:  # whoever answered the pilot's question is not asked the other
        answered: list[dict[str, Any]] = []
        kept = itertools.takewhile(lambda each, answered=answered: not _instead(answered, each), rounds)
        cut.append([(each, answered.extend(each.asked))[0] for each in kept])
    given = tmp_path / "studies.json"
    given.write_text(json.dumps([[[each.id, each.canonical().decode()] for each in rounds] for rounds in cut]))
    program = [node, Path(__file__).parent / "page_prices.js", given, WEB]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    for rounds, pages in zip(cut, json.loads(done.stdout), strict=True):
        charged = Fraction(0)
        for place, page in enumerate(pages, start=1):
            price, chain = exact(asked_in(rounds[:place])), Chain(tuple(rounds[:place]))
            assert page["total"] == chain.price.epsilon
            assert agrees(str(Fraction(page["total"])), price, 14)
            charged += Fraction(page["cost"])
            assert 0 <= charged - price <= price * Fraction(1, 10**14)
            assert is_factor(re.findall(r"by at most ([\d.,]+\d)", page["words"])[0], price)
            assert is_factor(re.findall(rf"odds {TIMES} ([\d.,]+\d)", page["lines"][1][1])[0], price)
            pairs = exact([each for each in rounds[place - 1].asked if each["ask"] in sum(ABOUT_PAIRS, ())])
            whole = [each for each in rounds[place - 1].asked if each.get("reads") == "everything"]
            pairs += 2 * exact(whole)  # both ends may answer
            if whole:  # nothing bounds how many single friends are counted, in whichever round
                counted = any(each["ask"] in sum(ABOUT_PAIRS, ()) for each in asked_in(rounds[:place]))
                assert ("any one of your connections" in page["words"]) == counted
                assert ("whoever your friends are" in page["words"]) != counted
            assert [agrees(read(r"epsilon of ([\d.]+);", each)[0], pairs) for each in page["relationship"]] == (
                [True] if pairs else []
            )
            told = re.findall(rf"announces would cost ε = ([\d.]+) together \(odds {TIMES} ([\d.,]+)\)", page["words"])
            assert len(told) == bool(chain.planned)
            for cost, odds in told:
                assert agrees(cost, exact(announced_in(rounds)))
                assert is_factor(odds, exact(announced_in(rounds)))


@pytest.mark.parametrize("seed", range(1, 24, 4))
def test_a_device_that_answers_is_charged_the_price(seed: int) -> None:
    (study,) = random_study(seed)
    device = Participant(Ledger(":memory:"), SeededBits(seed))
    device.ledger.limit = 1e6
    device.agree(study)
    device.answer(study, ME, PrivateAnswers([1.0, 2.0, 3.0, 4.0], label=1, neighbours=[5, 6]))
    price = exact(list(study.asked))
    assert 0 <= Fraction(device.ledger.spent) - price <= price * Fraction(1, 10**14)


@pytest.mark.parametrize("seed", range(10))
def test_study_new_states_the_price_and_the_assessment_of_its_directory_too(seed: int, tmp_path: Path) -> None:
    """Before, a panel made the assessment say that nothing changes, and `study new` said 20.1 where it said 54.6."""
    draw = random.Random(1000 + seed)
    lists, rounds = draw.random() < 0.6, seed % 2 == 0
    nodes = range(NODES)
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{i},{(i + 1) % NODES}\n" for i in nodes))
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"{i},{i % CLASSES}\n" for i in nodes if i < 30))
    features, labels, edges = (draw.choice(EPSILONS) for _ in range(3))
    asked = [{"ask": "features", "epsilon": features}]
    changes: list[str] = [f"budgets.features={features}"]
    if lists:
        changes += [f"budgets.edges={edges}"]
        asked.append({"ask": "friends" if rounds else "neighbours", "epsilon": edges})
        changes += [] if rounds else [f"mechanism.one_sided={draw.choice(['true', 'false'])}"]
    if draw.random() < 0.5:
        changes += [f"budgets.labels={labels}"]
        asked.append({"ask": "label", "epsilon": labels})
    elif rounds:
        changes += ["public.labels=labels.csv"]
    if rounds:
        changes += ["system.name=inquiry", "people.panel=0.3"]
        changes += [] if lists else ["public.edges=edges.csv"]
    (tmp_path / "study.toml").write_text(
        'title = "Prices"\npurpose = "Why."\noperator = { name = "Who", contact = "Where" }\n'
        f"people.nodes = {NODES}\nquestions = [{{ low = 0, high = 10, repeat = 4 }}]\nclass.answers = {CLASSES}\n"
        "budgets.high_cost = true\n"
    )
    place = tmp_path / "study"
    options = [option for change in changes for option in ("--set", change)]
    done = run_privet("study", "new", tmp_path / "study.toml", *options)
    assert done.returncode == 0, done.stderr
    price = exact(asked)
    (cost,) = read(r"It costs a participant ([\d.]+) of", done.stdout)
    made = Study.from_bytes((place / "study.json").read_bytes())
    now = exact(list(made.asked))
    assert agrees(cost, now) if now else cost == "0"
    (factor,) = read(r"by at most ([\d.]+)\. ", done.stdout)
    assert is_factor(factor, now)
    if rounds:
        (cost,) = read(r"All rounds together cost at most ([\d.]+)\.", done.stdout)
    assert agrees(cost, price)
    assessed = run_privet("statement", "--dpia", place)
    assert assessed.returncode == 0, assessed.stderr
    epsilon, factor = all_together(assessed.stdout)
    assert agrees(epsilon, price)
    assert is_factor(factor, price)
    assert rounds == ("no limit" in assessed.stdout)
