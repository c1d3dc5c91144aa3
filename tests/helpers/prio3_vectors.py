"""Play vectors of Prio3, official or our own: every operation that they list, each as it must end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.vdaf import Prio3, variant
from privet.vdaf.verification import Verified, Verifying

PARAMETERS = ("shares", "length", "max_measurement", "max_weight", "chunk_length")


def prio3_of(name: str, vector: Mapping[str, Any]) -> Prio3:
    return variant(name, **{key: vector[key] for key in PARAMETERS if key in vector})


def raw(texts: list[str]) -> list[bytes]:
    return [bytes.fromhex(text) for text in texts]


class Player:
    """Plays the operations of one vector, all reports as one batch, and tells what differs.

    Args:
        name: The variant's name in the draft.
        vector: The vector in the draft's format.
    """

    def __init__(self, name: str, vector: Mapping[str, Any]) -> None:
        self.prio3, self.vector, self.reports = prio3_of(name, vector), vector, vector["reports"]
        self.context, self.key = bytes.fromhex(vector["ctx"]), bytes.fromhex(vector["verify_key"])
        self.nonces = raw([report["nonce"] for report in self.reports])
        self.states: dict[int, Verifying] = {}
        self.verified: dict[int, Verified] = {}
        self.differences: list[str] = []

    def play(self) -> list[str]:
        """Return a sentence for each difference."""
        for name in dict.fromkeys(each["operation"] for each in self.vector["operations"]):
            steps = [each for each in self.vector["operations"] if each["operation"] == name]
            for server in dict.fromkeys(step.get("aggregator_id") for step in steps):
                ends = [step["success"] for step in steps if step.get("aggregator_id") == server]
                failed = getattr(self, name)(server)
                if failed != (not all(ends)):
                    self.differences.append(f"{name} by {server} {'failed' if failed else 'did not fail'}")
        return self.differences

    def compare(self, what: str, found: object, expected: object) -> None:
        if found != expected:
            self.differences.append(f"{what} differs")

    def shard(self, _: None) -> bool:
        random = raw([report["rand"] for report in self.reports])
        made = self.prio3.shard(self.context, [r["measurement"] for r in self.reports], self.nonces, random)
        self.compare("public share", [each.public_share.hex() for each in made], self.told("public_share"))
        self.compare("input share", [[s.hex() for s in r.input_shares] for r in made], self.told("input_shares"))
        return False

    def verify_init(self, server: int) -> bool:
        inputs = raw([shares[server] for shares in self.told("input_shares")])
        public = raw(self.told("public_share"))
        state, shares = self.prio3.verify_init(self.key, self.context, server, self.nonces, public, inputs)
        self.states[server] = state
        expected = [rounds[0][server] for rounds in self.told("verifier_shares") if rounds]
        self.compare("verifier share", [share and share.hex() for share in shares][: len(expected)], expected)
        return bool(state.refused)

    def verifier_shares_to_message(self, _: None) -> bool:
        told = [raw(rounds[0]) for rounds in self.told("verifier_shares")]
        messages, refused = self.prio3.verifier_messages(self.context, list(zip(*told, strict=True)))
        expected = [rounds[0] if rounds else None for rounds in self.told("verifier_messages")]
        self.compare(
            "verifier message", [message if message is None else message.hex() for message in messages], expected
        )
        return bool(refused)

    def verify_next(self, server: int) -> bool:
        messages = raw([rounds[0] for rounds in self.told("verifier_messages")])
        self.verified[server] = self.prio3.verify_next(self.states[server], messages)
        if not self.verified[server].refused:
            found = self.prio3.circuit.field.encode(self.verified[server].outputs)
            self.compare(
                "out share", [row.tobytes().hex() for row in found], [r[server] for r in self.told("out_shares")]
            )
        return bool(self.verified[server].refused)

    def aggregate(self, server: int) -> bool:
        share = self.prio3.aggregate(self.verified[server])
        self.compare("aggregate share", share.hex(), self.vector["agg_shares"][server])
        return False

    def unshard(self, _: None) -> bool:
        self.compare("result", self.prio3.unshard(raw(self.vector["agg_shares"])), self.vector["agg_result"])
        return False

    def told(self, key: str) -> list[Any]:
        return [report[key] for report in self.reports]
