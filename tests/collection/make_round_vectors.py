"""Writes round_vectors.json: what Python and the browser must both find in studies of several rounds.

Run ``python tests/collection/make_round_vectors.py`` after a deliberate change of the protocol. Hash trees with proofs,
public arrays, scores, counts, what a panel shows, prices of chains, whole reports from given random words, and the
tries of a dishonest server with the reason for which a device refuses them. vectors.json is about single rounds.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import runpy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.collection.device.preparation import prepare
from privet.collection.study.chain import Chain
from privet.collection.study.forms import OpenForm
from privet.collection.study.manifest import Study
from privet.data import Categories, Interval, Schema
from privet.mechanisms import Counts, OfferedResponse
from privet.release import PrivateData
from privet.release.asks.friends import Friends
from privet.release.asks.person import Person
from privet.release.asks.resemblance import Resemblance, linear_scores
from privet.release.blobs import array_digest, blob_of
from privet.release.log_shares import log_shares
from privet.release.tree import HashTree

HERE = Path(__file__).parent
VECTORS = HERE / "round_vectors.json"
SHARED = runpy.run_path(str(HERE / "make_vectors.py"))
CLASSES = ("A", "B", "C", "D")
SCHEMA = Schema((Interval(0.0, 12.0), Categories(2, ("no", "yes")), Interval(-1.0, 1.0)), 4, True, CLASSES)
SALT = bytes(range(16))
WHOLE = ("scorer", "table", "mixing", "shares")
TABLES = ("scorer", "offers", "unit_length", "table", "ranks", "mixing", "shares")


@dataclass
class Server:
    """A collector that serves public data and one person's rows."""

    public: dict[str, str] = field(default_factory=dict)
    rows: dict[str, Any] = field(default_factory=dict)
    node: int = 0
    changes: dict[str, Any] = field(default_factory=dict)

    def add(self, content: bytes) -> str:
        """Serve some bytes; their hash."""
        digest = hashlib.sha256(content).hexdigest()
        self.public[digest] = content.hex()
        return digest

    def array(self, values: Any) -> str:
        """Serve an array of bytes, or of 32-bit integers, with a salt; the digest that a manifest writes."""
        kind = np.uint8 if getattr(values, "dtype", None) == np.uint8 else np.int32
        return "sha256:" + self.add(blob_of(np.asarray(values, dtype=kind), SALT))

    def blob(self, digest: str) -> bytes:
        return bytes.fromhex(self.public[digest])

    def invitation(self, study_id: str) -> bytes:
        return json.dumps({"study": study_id, "node": self.node, "rows": self.rows} | self.changes).encode()


def vectors() -> dict[str, Any]:
    """All of them, by what they are about; every call makes the same."""
    refusals, served = _refusals()
    return {
        "trees": _trees(),
        "arrays": _arrays(),
        "scores": _scores(),
        "counts": _counts(),
        "pointed": _pointed(),
        "logs": _logs(),
        "shown": _shown(),
        "reports": [*(_report(number) for number in range(40)), *(_whole_report(number) for number in range(40, 70))],
        "prices": _prices(),
        "refusals": [{"key": key, **case} for key, case in refusals],
        "served": served,
        "unreadable": _unreadable(),
    }


def plan(*questions: dict[str, Any]) -> dict[str, Any]:
    """Return a plan that announces some questions, which it states without their tables."""
    stated = [{name: value for name, value in each.items() if name not in TABLES} for each in questions]
    return {"system": "inquiry", "settings": {"seed": 7, "labels": None}, "questions": stated}


def declared(server: Server, release: list[dict[str, Any]], **rest: Any) -> Study:
    """Declare a round and serve its manifest."""
    values = {"schema": SCHEMA, "nodes": 13, "plan": plan(*USUAL), "release": release} | rest
    texts = {"title": "Rounds", "purpose": "Déjà vu.", "operator": "privet developers", "eligible": "Nobody."}
    study = Study.read({**texts, "opens": "2026-01-01T00:00:00Z", "closes": "2026-02-01T00:00:00Z", **values})
    server.add(study.canonical())
    return study


def offered(chance: random.Random, nodes: int, classes: int, width: int) -> NDArray[np.int16]:
    """Offers of one to ``width`` classes a person."""
    rows = np.full((nodes, width), -1, dtype=np.int16)
    for row in rows:
        some = sorted(chance.sample(range(classes), chance.randint(1, width)))
        row[: len(some)] = some
    return rows


def resemblance(server: Server, offers: NDArray[np.int16], scorer: Any, node: int, **rest: Any) -> dict[str, Any]:
    """Declare the feature question, and invite a person to it."""
    tree = HashTree(offers, SALT)
    server.node = node
    own = {"row": offers[node].tolist(), "salt": tree.salt(node), "proof": tree.proof(node)}
    server.rows = {"resemblance": {"offers": own}}
    arrays = {"scorer": server.array(scorer), "offers": tree.root}
    fixed = {"ask": "resemblance", "mechanism": "offered-response", "epsilon": 1.0, "unit_length": True, "most": 3}
    return {**fixed, **arrays, **rest}


def friends(server: Server, table: Any, ranks: Any, again: bool = False, **rest: Any) -> dict[str, Any]:
    """Declare the friend question."""
    arrays = {"table": server.array(table), "ranks": server.array(ranks)}
    name = "friends-again" if again else "friends"
    return {"ask": name, "mechanism": "counts", "epsilon": 0.75, "cap": 3, **arrays, **rest}


LABEL = {"ask": "label", "mechanism": "randomized-response", "epsilon": 0.5}
FEATURES = {"ask": "features", "mechanism": "multi-bit", "epsilon": 1.25}
USUAL = (
    LABEL,
    {"ask": "friends", "mechanism": "counts", "epsilon": 0.75, "cap": 3},
    {"ask": "friends-again", "mechanism": "counts", "epsilon": 0.75, "cap": 3},
    {"ask": "resemblance", "mechanism": "offered-response", "epsilon": 1.0, "most": 3},
)


def person(server: Server, offers: NDArray[np.int16], node: int, again: bool = False, **rest: Any) -> dict[str, Any]:
    """Declare the question about everything on the device, and invite a person to it."""
    tree = HashTree(offers, SALT)
    name = "person-again" if again else "person"
    server.node = node
    own = {"row": offers[node].tolist(), "salt": tree.salt(node), "proof": tree.proof(node)}
    server.rows = {**server.rows, name: {"offers": own}}
    fixed = {"ask": name, "mechanism": "offered-response", "epsilon": 1.0, "unit_length": True, "most": 3}
    return {**fixed, "reads": "everything", "offers": tree.root, **rest}


def whole_arrays(chance: random.Random, nodes: int, width: int, classes: int, reads: str) -> dict[str, NDArray[Any]]:
    """Draw the arrays of the question about everything on the device, as far as it reads what they are about."""
    rows = 1 if reads == "friends" and chance.random() < 0.5 else width + 1
    arrays = {
        "scorer": np.array(
            [[chance.randint(-1 << 18, 1 << 18) for _ in range(classes)] for _ in range(rows)], np.int32
        ),
        "table": np.array([_weights(chance, classes) for _ in range(nodes)], dtype=np.uint8),
        "mixing": np.array(
            [[chance.randint(-1 << 20, 1 << 20) for _ in range(classes)] for _ in range(classes)], np.int32
        ),
        "shares": np.array([chance.choice([1, 7, 30_000 // classes]) for _ in range(classes)], dtype=np.int32),
    }
    if reads == "features":
        return {"scorer": arrays["scorer"]}
    if reads == "friends" and chance.random() < 0.5:
        del arrays["scorer"]
    return arrays


def _weights(chance: random.Random, classes: int) -> list[int]:
    """One row of a published table: nothing, one class for certain, or some of each."""
    kind, row = chance.randrange(3), [0] * classes
    if kind == 1:
        row[chance.randrange(classes)] = 255
    return row if kind < 2 else [chance.randint(0, 255) for _ in range(classes)]


def report(vector: dict[str, Any], bits: Any) -> bytes:
    """Return the body that a device sends, from the bytes that a server sends."""
    server = Server(vector["public"], vector["rows"], vector["raw"]["node"])
    study = Study.from_bytes(server.blob(vector["id"]))
    raw = vector["raw"]
    ready = prepare(study, raw["node"], server)
    if ready.shows:
        return OpenForm(study.declared).pack(raw["features"], raw["label"])
    private = PrivateData.one(raw["node"], study.nodes, raw["features"], raw["label"], raw["neighbours"])
    ready.release.check(private)
    return ready.release.wire.pack(ready.release.perturb(private, bits))[0]


def nasty(chance: random.Random, count: int) -> list[float]:
    """Numbers whose sums depend on the order in which they are added."""
    large = [chance.uniform(-1, 1) * 10.0 ** chance.randint(-20, 20) for _ in range(count)]
    return [chance.choice([value, value, 0.0, 1 / 3, 0.1, -0.1, 5e-324, math.pi]) for value in large]


def _trees() -> list[dict[str, Any]]:
    made = []
    for count in (1, 2, 3, 5, 8, 13, 100):
        rows = offered(random.Random(count), count, 300, 4)
        tree = HashTree(rows, SALT)
        numbers = sorted({0, count // 2, count - 1})
        proofs = [{"number": i, "row": rows[i].tolist(), "salt": tree.salt(i), "proof": tree.proof(i)} for i in numbers]
        made.append({"count": count, "root": tree.root, "proofs": proofs})
    return made


def _arrays() -> list[dict[str, Any]]:
    tables = [[0], [-1, 5, 2**31 - 1, -(2**31)], [], [[1, 2, 3], [4, 5, 6]], [[7]]]
    arrays = [np.array(table, dtype=np.int32) for table in tables]
    return [
        {
            "bytes": blob_of(a, salt).hex(),
            "digest": array_digest(a, salt),
            "shape": list(a.shape),
            "values": a.ravel().tolist(),
        }
        for a in arrays
        for salt in (b"", SALT)
    ]


def _scores() -> list[dict[str, Any]]:
    made = []
    for number in range(120):
        chance = random.Random(number)
        width, classes = chance.choice([1, 2, 3, 17, 40]), chance.choice([2, 3, 7])
        values = nasty(chance, width) if number % 3 else [float(chance.choice([0, 0, 1])) for _ in range(width)]
        largest = 1 << 20 if number % 3 else 2
        scorer = np.array([[chance.randint(-largest, largest) for _ in range(classes)] for _ in range(width + 1)])
        if number % 5 == 0:
            scorer[:, 1] = scorer[:, 0]  # equal scores: the first of them counts
        offers = np.array([sorted(chance.sample(range(classes), chance.randint(2, classes)))], dtype=np.int16)
        unit_length = bool(number % 2)
        ask = Resemblance(offers, scorer.astype(np.int32), unit_length)
        features = np.array([values])
        position, _ = ask.apply(PrivateData(np.array([0]), features), OfferedResponse(epsilon=1.0))[0].tolist()
        scores = linear_scores(features, scorer, unit_length)[0].tolist()
        question = {"scorer": scorer.ravel().tolist(), "offers": offers[0].tolist(), "unitLength": unit_length}
        made.append({"features": values, "classes": classes, "position": position, "scores": scores, **question})
    return made


def _counts() -> list[dict[str, Any]]:
    made = []
    for number in range(40):
        chance = random.Random(number)
        nodes, classes, cap = chance.choice([2, 9, 60]), chance.choice([2, 5]), chance.choice([1, 3, 40])
        table = [chance.randint(-1, classes - 1) for _ in range(nodes)]
        ranks = [chance.randint(0, 3) for _ in range(nodes)]
        node = chance.randrange(nodes)
        listed = sorted(chance.sample([i for i in range(nodes) if i != node], chance.randint(0, nodes - 1)))
        ask = Friends(np.array(table), np.array(ranks))
        private = PrivateData.one(node, nodes, None, None, listed)
        found = ask.apply(private, Counts(epsilon=1.0, classes=classes, cap=cap))[0].tolist()
        tables = {"table": table, "ranks": ranks, "classes": classes, "cap": cap}
        made.append({"node": node, "friends": listed, "counts": found, **tables})
    return made


def _logs() -> list[dict[str, Any]]:
    chance, made = random.Random(5), []
    for _ in range(100):
        shares = [chance.choice([1, chance.randint(1, 20_000)]) for _ in range(3)]
        weights = [chance.choice([0, 255 * chance.randint(0, 9), chance.randint(0, 10**6)]) for _ in range(3)]
        found = log_shares(np.array([weights]), np.array(shares, dtype=np.int32))[0].tolist()
        made.append({"shares": shares, "weights": weights, "logs": found})
    return made


def _pointed() -> list[dict[str, Any]]:
    made = []
    for number in range(120):
        chance = random.Random(number)
        reads, classes = chance.choice(["everything", "everything", "friends", "features"]), chance.choice([2, 3, 7])
        nodes, width = chance.choice([2, 9, 60]), chance.choice([1, 3, 17])
        arrays = whole_arrays(chance, nodes, width, classes, reads)
        offers = np.array([sorted(chance.sample(range(classes), chance.randint(2, classes)))] * nodes, dtype=np.int16)
        values = [0.0] * width if number % 11 == 0 else nasty(chance, width)
        listed = sorted(chance.sample(range(1, nodes), chance.randint(0, nodes - 1)))
        unit_length = bool(number % 2)
        ask = Person(offers, reads, unit_length=unit_length, **arrays)
        private = PrivateData.one(0, nodes, values, None, listed)
        position, _ = ask.apply(private, OfferedResponse(epsilon=1.0))[0].tolist()
        question = {name: arrays[name].ravel().tolist() if name in arrays else None for name in WHOLE}
        question |= {"offers": offers[0].tolist(), "unitLength": unit_length, "reads": reads}
        made.append({"features": values, "friends": listed, "classes": classes, "position": position, **question})
    return made


def _shown() -> list[dict[str, Any]]:
    server = Server()
    study = declared(server, [], panel=server.array([3]))
    rows = [([0.1, 1, -1.0], 3), ([12.0, 0, 1 / 3], 0), ([5e-324, 1, -0.0], 2)]
    form, manifest = OpenForm(SCHEMA), study.canonical().decode()
    made = [
        {"manifest": manifest, "id": study.id, "features": x, "label": y, "body": form.pack(x, y).hex()}
        for x, y in rows
    ]
    whole = {"ask": "person", "mechanism": "offered-response", "epsilon": 1.0, "most": 3, "reads": "everything"}
    study = declared(server, [], panel=server.array([3]), plan=plan(whole))
    form, manifest = OpenForm.of(study), study.canonical().decode()
    for (x, y), friends in zip(rows, ([], [0, 12], [2, 5, 11]), strict=True):
        shown = {"features": x, "label": y, "neighbours": friends}
        made.append({"manifest": manifest, "id": study.id, **shown, "body": form.pack(x, y, friends).hex()})
    return made


def _values(chance: random.Random) -> list[float]:
    return [chance.uniform(0, 12), float(chance.randint(0, 1)), chance.choice([chance.uniform(-1, 1), 1.0, 1 / 3])]


def _report(number: int) -> dict[str, Any]:
    """A chain of one to three rounds with random tables, and what a device answers in the last of them."""
    chance, server = random.Random(number), Server()
    nodes = chance.choice([5, 13, 64])
    common = {"nodes": nodes, "directory": server.add("".join(f"{i},Näme {i}\n" for i in range(nodes)).encode())}
    node = chance.randrange(nodes)
    later = _later(chance, server, nodes, node, chance.choice([1, 2])) if number % 10 else []
    common["plan"] = plan(LABEL, *(question for asked, _ in later for question in asked)) if later else plan(*USUAL)
    study = declared(server, [LABEL], panel=server.array([node] if number % 10 == 0 else []), **common)
    for asked, people in later:
        study = declared(server, asked, earlier=[*study.earlier, study.id], people=people, **common)
    others = [i for i in range(nodes) if i != node]
    listed = sorted(chance.sample(others, chance.randint(0, min(nodes - 1, 20))))
    raw = {"node": node, "features": _values(chance), "label": chance.randrange(4), "neighbours": listed}
    words = [SHARED["_word"](chance) for _ in range(400)]
    vector = {"id": study.id, "public": server.public, "rows": server.rows, "raw": raw}
    bits = SHARED["ReplayedBits"](words)
    body = report(vector, bits)
    stream = "".join(f"{word:016x}" for word in words[: bits.used])
    return {**vector, "words": stream, "used": bits.used, "body": body.hex(), "shows": number % 10 == 0}


def _whole_report(number: int) -> dict[str, Any]:
    """One or two waves of the question about everything on the device, and what a device answers in the last."""
    chance, server = random.Random(number), Server()
    nodes = chance.choice([5, 13, 64])
    node, waves, reads = chance.randrange(nodes), 1 + number % 2, chance.choice(["everything", "friends", "features"])
    common: dict[str, Any] = {"nodes": nodes, "schema": replace(SCHEMA, private_edges=reads != "features")}
    names = "".join(f"{i},Näme {i}\n" for i in range(nodes)).encode()
    common["directory"] = server.add(names) if chance.random() < 0.5 else None
    epsilon, subsets = chance.choice([0.1, 1.0, 3.0]), chance.random() < 0.5
    fixed = {"epsilon": epsilon, "reads": reads}
    fixed |= {"mechanism": "subset-response", "most": 4, "sizes": [1, 2, 2]} if subsets else {}
    asked = []
    for wave in range(waves):
        offers = offered(chance, nodes, 4, 3)
        mine = sorted(chance.sample(range(4), chance.choice([2, 3]))) if wave == waves - 1 else []
        offers[node] = [*mine, *[-1] * (3 - len(mine))]
        server.rows = {}
        arrays = whole_arrays(chance, nodes, 3, 4, reads)
        declared_as = dict.fromkeys(WHOLE) | {name: server.array(each) for name, each in arrays.items()}
        form = {"unit_length": chance.random() < 0.5}
        asked.append(person(server, offers, node, wave == 1, **fixed, **declared_as, **form))
    common["plan"] = plan(LABEL, *({name: each for name, each in q.items() if each is not None} for q in asked))
    study = declared(server, [LABEL], people=server.array([0]), **common)
    for question in asked:
        study = declared(server, [question], earlier=[*study.earlier, study.id], **common)
    others = [i for i in range(nodes) if i != node]
    listed = sorted(chance.sample(others, chance.randint(0, min(nodes - 1, 20)))) if reads != "features" else []
    raw = {"node": node, "features": _values(chance), "label": None, "neighbours": listed}
    words = [SHARED["_word"](chance) for _ in range(100)]
    vector = {"id": study.id, "public": server.public, "rows": server.rows, "raw": raw}
    bits = SHARED["ReplayedBits"](words)
    body = report(vector, bits)
    stream = "".join(f"{word:016x}" for word in words[: bits.used])
    return {**vector, "words": stream, "used": bits.used, "body": body.hex(), "shows": False}


def _later(
    chance: random.Random, server: Server, nodes: int, node: int, rounds: int
) -> list[tuple[list[dict[str, Any]], str | None]]:
    """Draw the questions of later rounds, and whom they ask."""
    published = [chance.randint(0, 3) if i % 3 == 0 and i != node else -1 for i in range(nodes)]
    ranks = [chance.randint(0, 2) for _ in range(nodes)]
    ranks[node] = chance.randint(1, 3)
    offers = offered(chance, nodes, 4, 3)
    offers[node] = (
        [*sorted(chance.sample(range(4), 2)), -1] if chance.random() < 0.5 else sorted(chance.sample(range(4), 3))
    )
    scorer = [[chance.randint(-1000, 1000) for _ in range(4)] for _ in range(4)]
    epsilon, unit = chance.choice([0.1, 1.0, 3.0]), chance.random() < 0.5
    asked = [
        resemblance(server, offers, scorer, node, epsilon=epsilon, unit_length=unit),
        friends(server, published, ranks, cap=chance.choice([1, 3, 40])),
        {"ask": "neighbours", "mechanism": "adjacency-response", "epsilon": 3.0, "one_sided": chance.random() < 0.5},
    ]
    chance.shuffle(asked)
    if rounds > 1:
        asked = [question for question in asked if question["ask"] != "neighbours"]
    people = server.array(sorted({node, *chance.sample(range(nodes), 3)})) if chance.random() < 0.5 else None
    if rounds == 1:
        return [(asked, people)]
    rest = [chance.randint(-1, 3) if each < 0 and i != node else -1 for i, each in enumerate(published)]
    ranks = [0 if each >= 0 else chance.randint(0, 4) for each in published]
    ranks[node] = 5
    server.rows = {}
    return [(asked, people), ([friends(server, rest, ranks, again=True)], None)]


def _prices() -> list[dict[str, Any]]:
    """Chains of which a device answered some rounds: what all of them cost together."""
    server = Server()
    table, zeros = [0, *[-1] * 12], [0, *[1] * 12]
    kinds = {
        "label": LABEL,
        "features": FEATURES,
        "resemblance": resemblance(server, offered(random.Random(1), 13, 4, 3), [[1] * 4] * 4, 3, epsilon=0.1),
        "friends": friends(server, table, zeros, epsilon=0.3),
        "friends-again": friends(server, table, zeros, again=True, epsilon=0.7),
        "neighbours": {"ask": "neighbours", "mechanism": "adjacency-response", "epsilon": 0.4, "one_sided": True},
    }
    arrays = {name: server.array(each) for name, each in whole_arrays(random.Random(2), 13, 3, 4, "everything").items()}
    for again, epsilon in ((False, 0.6), (True, 0.8)):
        question = person(server, offered(random.Random(3), 13, 4, 3), 3, again, epsilon=epsilon, **arrays)
        kinds[question["ask"]] = question
    cases = [
        ["label"],
        ["label", "features"],
        ["label", "resemblance"],
        ["features", "resemblance"],
        ["friends", "friends-again"],
        ["label", "resemblance", "friends", "friends-again", "neighbours"],
        ["label", "person"],
        ["person", "person-again"],
        ["resemblance", "person", "person-again", "friends"],
    ]
    made = []
    for names in cases:
        rounds: list[Study] = []
        for name in names:
            earlier = [each.id for each in rounds]
            rounds.append(declared(server, [kinds[name]], earlier=earlier, plan=plan(*kinds.values())))
        chain = Chain(tuple(rounds))
        cost = chain.price.epsilon
        made.append({"rounds": [[each.id, each.canonical().decode()] for each in rounds], "cost": cost})
    return [*made, _other_units(server, kinds["person"], kinds["person-again"])]


def _other_units(server: Server, first: dict[str, Any], again: dict[str, Any]) -> dict[str, Any]:
    """Two waves that promise different units, of which none can stand for the other: they add up."""
    narrow = {**again, "reads": "friends"}
    one = declared(server, [first], plan=plan(first, narrow))
    other = declared(server, [narrow], earlier=[one.id], plan=plan(first, narrow))
    rounds = [[each.id, each.canonical().decode()] for each in (one, other)]
    return {"rounds": rounds, "cost": Chain((one, other)).price.epsilon}


def _honest(node: int = 4) -> tuple[Server, Study, Study]:
    server = Server()
    directory = server.add("".join(f"{i},Name {i}\n" for i in range(13)).encode())
    first = declared(server, [LABEL], directory=directory)
    table, ranks = [0, 1, *[-1] * 11], [0, 0, *[2] * 11]
    offers = np.array([[0, 2, -1], [1, 3, -1], *[[0, 1, 3]] * 11], dtype=np.int16)
    asked = [resemblance(server, offers, [[1, 2, 3, 4]] * 4, node), friends(server, table, ranks)]
    return server, first, declared(server, asked, earlier=[first.id], directory=directory)


def _case(server: Server, study: Study, node: int = 4, **replaced: str) -> dict[str, Any]:
    return {"id": study.id, "replaced": replaced, "rows": server.rows, "changes": server.changes, "node": node}


def _refusals() -> tuple[list[tuple[str, dict[str, Any]]], dict[str, str]]:
    """The tries of a dishonest server, with the key of the page's refusal (none for an honest one), and its data."""
    made: list[tuple[str, dict[str, Any]]] = []
    server, first, second = _honest()
    asked = [dict(each) for each in second.asked]
    common = {"earlier": [first.id], "directory": first.directory}
    made.append(("", _case(server, second)))
    scorer, table = asked[0]["scorer"].removeprefix("sha256:"), asked[1]["table"].removeprefix("sha256:")
    other = blob_of(np.full((4, 4), 9, dtype=np.int32)).hex()
    made.append(("public", _case(server, second, **{scorer: other})))
    made.append(("public", _case(server, second, **{table: blob_of(np.zeros(13, dtype=np.int32)).hex()})))
    assert first.directory is not None
    made.append(("public", _case(server, second, **{first.directory: b"0,Somebody\n".hex()})))
    made.append(("public", _case(server, second, **{first.id: second.canonical().hex()})))
    made += [("invitation", _case(each, second)) for each in _dishonest_invitations(server)]
    changed = declared(server, asked, **common, title="Another")
    made.append(("chain-kept", _case(server, changed)))
    made.append(("chain-kept", _case(server, declared(server, asked, earlier=[first.id], directory=None))))
    made.append(("chain-kept", _case(server, declared(server, asked, **common, publish_results=True))))
    made.append(("chain-named", _case(server, declared(server, asked, **common | {"earlier": [second.id]}))))
    made.append(("chain-twice", _case(server, declared(server, [LABEL], **common))))
    for panel in ([4], [1], []):
        made.append(("chain-panel", _case(server, declared(server, asked, **common, panel=server.array(panel)))))
    made.append(("not-asked", _case(server, declared(server, asked, **common, people=server.array([1, 3])))))
    for row in ([3, 1, -1, -1], [0, -1, 2, -1], [0, 0, 1, -1], [0, 4, -1, -1], [0, 1, 2, 3], [-2, 0, 1, -1]):
        wrong = replace(server)  # whose tree holds a row that nobody may be offered
        question = resemblance(wrong, np.array([row] * 13, dtype=np.int16), [[1, 2, 3, 4]] * 4, 4)
        made.append(("invitation", _case(wrong, declared(wrong, [question], **common))))
    alone = replace(server)
    question = resemblance(alone, np.array([[2, -1]] * 13, dtype=np.int16), [[1, 2, 3, 4]] * 4, 4)
    made.append(("not-asked", _case(alone, declared(alone, [question], **common))))
    idle = [dict(asked[1], ranks=server.array([0] * 13))]
    made.append(("not-asked", _case(server, declared(server, idle, **common))))
    short = [dict(asked[1], table=server.array([0, 1]))]
    made.append(("table", _case(server, declared(server, short, **common))))
    large = [dict(asked[1], table=server.array([4, 1, *[-1] * 11]))]
    made.append(("table", _case(server, declared(server, large, **common))))
    small = [dict(asked[0], scorer=server.array([[1, 2, 3, 4]] * 3))]
    made.append(("table", _case(server, declared(server, small, **common))))
    again = friends(server, [0, *[-1] * 12], [0, *[1] * 12], again=True)
    third = declared(server, [again], earlier=[first.id, second.id], directory=first.directory)
    made.append(("pairs", _case(server, third)))
    made += _dishonest_arrays(server, first)
    early = declared(server, [again], **common)
    late = declared(server, [asked[1]], **common | {"earlier": [first.id, early.id]})
    made.append(("chain-twice", _case(server, late)))
    return made, server.public


def _dishonest_arrays(server: Server, first: Study) -> list[tuple[str, dict[str, Any]]]:
    """Arrays of the question about everything on the device that do not fit the study, and honest ones before them."""
    good = whole_arrays(random.Random(2), 13, 3, 4, "everything")
    bad = [
        ("", {}),
        ("table", {"table": good["table"][:-1]}),
        ("table", {"table": np.zeros((13, 5), dtype=np.uint8)}),
        ("public", {"table": good["table"].astype(np.int32)}),
        ("table", {"scorer": good["scorer"][:-1]}),
        ("table", {"mixing": good["mixing"][:-1]}),
        ("table", {"mixing": np.full((4, 4), (1 << 20) + 1)}),
        ("table", {"shares": np.array([1, 2, 0, 4])}),
        ("table", {"shares": np.array([1, 65_536, 1, 4])}),
        ("public", {"shares": np.array([1, 2, 3, 4], dtype=np.uint8)}),
    ]
    made = []
    usual = plan(
        LABEL, {"ask": "person", "mechanism": "offered-response", "epsilon": 1.0, "most": 3, "reads": "everything"}
    )
    start = declared(server, [LABEL], directory=first.directory, plan=usual)
    for key, changed in bad:
        serving = replace(server, rows={})
        arrays = {name: serving.array(each) for name, each in {**good, **changed}.items()}
        question = person(serving, np.array([[0, 2, -1]] * 13, dtype=np.int16), 4, **arrays)
        study = declared(serving, [question], earlier=[start.id], directory=first.directory, plan=usual)
        made.append((key, _case(serving, study)))
    return made


def _dishonest_invitations(server: Server) -> list[Server]:
    entry = server.rows["resemblance"]["offers"]
    rows = [
        {},
        {"resemblance": {"offers": entry["row"]}},
        {"resemblance": {"offers": {**entry, "epsilon": 9}}},
        {"resemblance": {"offers": {**entry, "row": [0, 1, 2]}}},
        {"resemblance": {"offers": {**entry, "salt": "0" * 32}}},
        {"resemblance": {"offers": {**entry, "salt": entry["salt"][:-2]}}},
        {"resemblance": {"offers": {**entry, "salt": 7}}},
        {"resemblance": {"offers": {"row": entry["row"], "proof": entry["proof"]}}},
        {"resemblance": {"offers": {**entry, "row": [0, 1, 65539]}}},
        {"resemblance": {"offers": {**entry, "proof": entry["proof"][:-1]}}},
        {"resemblance": {"offers": {**entry, "proof": [1, 2, 3, 4]}}},
        {"resemblance": {"offers": {**entry, "proof": entry["proof"] * 20}}},
    ]
    changes = [{"node": 5}, {"study": "0" * 64}, {"epsilon": 8}, {"rows": []}]
    return [*(replace(server, rows=each) for each in rows), *(replace(server, changes=each) for each in changes)]


def _unreadable() -> list[dict[str, Any]]:
    """Rounds with two questions of which a person answers one, and rounds that misread answers of their own."""
    server, offers = Server(), offered(random.Random(1), 13, 4, 3)
    arrays = {name: server.array(each) for name, each in whole_arrays(random.Random(2), 13, 3, 4, "everything").items()}
    first, again = (person(server, offers, 3, wave, **arrays) for wave in (False, True))
    pairs = [(first, again), (first, {**again, "reads": "friends"})]
    pairs.append((FEATURES, resemblance(server, offers, [[1] * 4] * 4, 3)))
    made = []
    for one, other in pairs:
        document = json.loads(declared(server, [one], plan=plan(one, other, USUAL[1])).canonical())
        made.append(_written(document | {"release": [one, other]}))
    schema = json.loads(json.dumps(document["schema"]))
    schema["features"][1]["skip"] = True  # an answer of its own, which the question would read as a category
    for question in (first, other):
        release = {"release": [question], "plan": plan(question, USUAL[1])}
        made.append(_written(document | release | {"schema": schema}))
    return made


def _written(document: dict[str, Any]) -> dict[str, str]:
    written = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return {"id": hashlib.sha256(written.encode()).hexdigest(), "manifest": written}


if __name__ == "__main__":
    made = vectors()
    lines = (f"{json.dumps(name)}: {json.dumps(each, sort_keys=True)}" for name, each in made.items())
    VECTORS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{sum(map(len, made.values()))} vectors, {VECTORS.stat().st_size:,} bytes")
