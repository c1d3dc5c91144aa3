"""Circuits: what they accept and refuse, on plain inputs and on shares; proofs against slow evaluation."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import InvalidData, InvalidParameter
from privet.vdaf.circuits import (
    Circuit,
    Count,
    HigherDegree,
    Histogram,
    MultihotCountVec,
    Sum,
    SumVec,
    best_chunk_length,
)
from privet.vdaf.circuits.integers import bits_of, weights_for
from privet.vdaf.fields import FIELD64, Elements
from privet.vdaf.proofs import ProofSystem

# Each circuit with valid measurements and with encoded inputs that it must refuse.
CASES: list[tuple[Circuit, list[Any], list[list[int]]]] = [
    (Count(), [0, 1], [[2], [-1]]),
    (Sum(10), [0, 10, 7], [[2, 0, 0, 0], [0, 0, 0, -1]]),
    (HigherDegree(), [0, 1, 2], [[3], [-1]]),
    (SumVec(2, 5, 4), [[0, 5], [3, 4]], [[0, 0, 2, 0, 0, 0], [1, 1, 1, 1, 1, -1]]),
    (SumVec(3, 1, 2, FIELD64), [[0, 1, 1]], [[0, 2, 0], [-1, 1, 1]]),
    (Histogram(5, 2), [0, 4], [[0, 0, 0, 0, 0], [1, 0, 0, 0, 1], [2, -1, 0, 0, 0]]),
    (
        MultihotCountVec(4, 2, 3),
        [[0, 0, 0, 0], [1, 0, 0, 1]],
        [[1, 1, 1, 0, 1, 1], [1, 0, 0, 0, 0, 0], [3, 0, 0, 0, 1, 1]],
    ),
]
EACH = pytest.mark.parametrize(("circuit", "valid", "invalid"), CASES, ids=[type(case[0]).__name__ for case in CASES])


def decided(circuit: Circuit, inputs: Elements, shares: int, proof_changes: int = 0) -> list[bool]:
    """Prove, divide inputs and proofs among servers at random, query each and decide."""
    field, system, random = circuit.field, ProofSystem(circuit), Random(shares)

    def drawn(length: int) -> Elements:
        return field.of([[random.randrange(field.modulus) for _ in range(length)] for _ in range(len(inputs))])

    challenges, seeds = drawn(circuit.challenges), drawn(system.prover_random)
    proofs = system.prove(inputs, seeds, challenges)
    assert proofs.shape[1] == system.proof_length
    if proof_changes:
        proofs = field.add(proofs, field.of([[1] + [0] * (system.proof_length - 1)] * len(inputs)))
    query, total = drawn(system.verifier_random), field.zeros(len(inputs), system.verifier_length)
    for server in range(shares):
        last = server == shares - 1
        input_share, proof_share = (
            (inputs, proofs) if last else (drawn(circuit.input_length), drawn(system.proof_length))
        )
        inputs, proofs = field.subtract(inputs, input_share), field.subtract(proofs, proof_share)
        told, useless = system.query(input_share, proof_share, query, challenges, shares)
        assert not useless.any()
        total = field.add(total, told)
    return system.decide(total).tolist()


@EACH
@pytest.mark.parametrize("shares", [1, 2, 3])
def test_servers_accept_the_valid_and_refuse_the_invalid(
    circuit: Circuit, valid: list[Any], invalid: list[list[int]], shares: int
) -> None:
    encoded = circuit.encode(valid)
    assert encoded.shape[1] == circuit.input_length
    assert decided(circuit, encoded, shares) == [True] * len(valid)
    assert decided(circuit, circuit.field.of(invalid), shares) == [False] * len(invalid)


@EACH
def test_a_changed_proof_is_refused(circuit: Circuit, valid: list[Any], invalid: list[list[int]]) -> None:
    assert decided(circuit, circuit.encode(valid), 2, proof_changes=1) == [False] * len(valid)


@EACH
def test_a_batch_sums_to_the_plain_sum(circuit: Circuit, valid: list[Any], invalid: list[list[int]]) -> None:
    outputs = circuit.truncate(circuit.encode(valid))
    assert outputs.shape[1] == circuit.output_length
    found = circuit.decode(circuit.field.integers(circuit.field.total(outputs)[0]))
    if isinstance(circuit, Histogram):
        assert found == [valid.count(bucket) for bucket in range(circuit.length)]
    else:
        assert found == np.sum(valid, axis=0).tolist()


def test_any_vector_of_bits_with_more_ones_than_declared_is_refused() -> None:
    """Whatever weight is told: all weights that bits can tell are tried."""
    circuit = MultihotCountVec(3, 2, 2)
    inputs = [[1, 1, 1, *told] for told in product((0, 1), repeat=2)]
    assert decided(circuit, circuit.field.of(inputs), 2) == [False] * 4


@given(most=st.integers(1, 2**62), share=st.floats(0, 1))
def test_numbers_up_to_the_bound_are_bits_and_none_beyond_is(most: int, share: float) -> None:
    weights = weights_for(most)
    assert sum(weights) == most
    numbers = sorted({0, most, most // 2, min(most, int(share * most))})
    bits = bits_of(np.array([numbers]), most).reshape(len(numbers), -1)
    assert set(np.unique(bits)) <= {0, 1}
    assert [sum(int(b) * w for b, w in zip(row, weights, strict=True)) for row in bits] == numbers


@pytest.mark.parametrize(
    ("circuit", "measurements", "sentence"),
    [
        (Count(), [0, 2], "Measurement 1 has a number outside 0 to 1."),
        (Sum(9), [9, 3, -1], "Measurement 2 has a number outside 0 to 9."),
        (Sum(9), [1.5], "Measurements must be whole numbers; round them before they are shared."),
        (Sum(9), [[1]], "Each measurement must be one whole number."),
        (Histogram(3, 2), [3], "Measurement 0 has a number outside 0 to 2."),
        (SumVec(3, 5, 2), [[1, 2]], "Each measurement must be a list of 3 whole numbers."),
        (SumVec(2, 5, 2), [[1, 2], [1]], "Each measurement must be a list of 2 whole numbers."),
        (SumVec(2, 5, 2), [[1, 2], [0, 6]], "Measurement 1 has a number outside 0 to 5."),
        (MultihotCountVec(4, 2, 2), [[1, 1, 0, 1]], "Measurement 0 has more ones than the 2 that were declared."),
    ],
)
def test_measurements_that_do_not_fit_are_refused(circuit: Circuit, measurements: list[Any], sentence: str) -> None:
    with pytest.raises(InvalidData) as caught:
        circuit.encode(measurements)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Sum(0), "max_measurement must be a whole number from 1 to 2^63 - 1, not 0."),
        (lambda: Sum(2**63), f"max_measurement must be a whole number from 1 to 2^63 - 1, not {2**63}."),
        (lambda: SumVec(0, 1, 1), "length must be a whole number from 1 to 2^63 - 1, not 0."),
        (lambda: Histogram(4, 0), "chunk_length must be a whole number from 1 to 2^63 - 1, not 0."),
        (lambda: MultihotCountVec(4, 5, 1), "max_weight must be at most the length, 4, not 5."),
    ],
)
def test_parameters_that_make_no_circuit_are_refused(make: Any, sentence: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        make()
    assert str(caught.value) == sentence


@pytest.mark.parametrize("elements", [1, 2, 3, 17, 100, 1433, 4242])
def test_the_best_chunk_length_is_best(elements: int) -> None:
    def proof(chunk: int) -> int:
        return ProofSystem(Histogram(elements, chunk)).proof_length

    assert proof(best_chunk_length(elements)) == min(proof(chunk) for chunk in range(1, min(elements, 200) + 1))
