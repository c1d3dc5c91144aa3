/**
 * Prio3 of the VDAF draft 20, the client's part: a measurement becomes one share for each server, and a proof that it is
 * valid. Nothing here is constant in time: who measures the page's computing time to the microsecond may learn something.
 */

import { joined } from "./bytes.js";
import { Count, HigherDegree, Histogram, MultihotCountVec, Sum, SumVec } from "./circuits.js";
import { FIELD64 } from "./fields.js";
import { powerOfTwo } from "./gadgets.js";
import { TurboShake128 } from "./turboshake.js";

const VERSION = 18;
const SEED = 32;
const NONCE = 16;
const [MEASUREMENT, PROOF, CHALLENGES, PROVER, , CHALLENGE_SEED, CHALLENGE_PART] = [1, 2, 3, 4, 5, 6, 7];
const UNNAMED = 0xffffffff;

const VARIANTS = {
  Prio3Count: [1, () => new Count()],
  Prio3Sum: [2, (parameters) => new Sum(parameters)],
  Prio3SumVec: [3, (parameters) => new SumVec(parameters)],
  Prio3Histogram: [4, (parameters) => new Histogram(parameters)],
  Prio3MultihotCountVec: [5, (parameters) => new MultihotCountVec(parameters)],
  Prio3SumVecWithMultiproof: [UNNAMED, (parameters) => new SumVec(parameters, FIELD64)],
  Prio3HigherDegree: [UNNAMED, () => new HigherDegree()],
};

/** One variant by its name in the draft, with its parameters as in Python. */
export class Prio3 {
  constructor(name, parameters) {
    if (!Object.hasOwn(VARIANTS, name)) throw new RangeError(`There is no circuit ${name}.`);
    const [algorithm, make] = VARIANTS[name];
    const circuit = make(parameters);
    const order = powerOfTwo(1 + circuit.calls);
    const { shares = 2, proofs = name === "Prio3SumVecWithMultiproof" ? 3 : 1 } = parameters;
    Object.assign(this, { algorithm, circuit, shares, proofs, order });
    this.values = circuit.gadget.degree * (order - 1) + 1;
    this.proofLength = circuit.gadget.arity + this.values;
    this.randomSize = SEED * shares * (circuit.challenges ? 2 : 1);
  }

  /**
   * A report of a measurement: {nonce, publicShare, inputShares}, the leader's share first.
   * `context` names the application; nonce and random are the browser's by default.
   */
  shard(context, measurement, nonce = this.#random(NONCE), random = this.#random(this.randomSize)) {
    if (nonce.length !== NONCE || random.length !== this.randomSize) {
      throw new RangeError(`A report takes ${NONCE} and ${this.randomSize} random bytes.`);
    }
    const { circuit, shares, proofs } = this;
    const { field } = circuit;
    const seeds = Array.from({ length: random.length / SEED }, (_, i) => random.subarray(i * SEED, (i + 1) * SEED));
    const each = circuit.challenges ? 2 : 1; // seeds of a helper: its share and, with challenges, its blind
    const helpers = Array.from({ length: shares - 1 }, (_, i) => seeds.slice(i * each, (i + 1) * each));
    const own = seeds.slice(each * helpers.length);
    const proverSeed = own.pop();
    const inputs = circuit.encode(measurement);

    let leader = inputs;
    const parts = [];
    helpers.forEach(([seed, blind], i) => {
      const share = this.#vector(context, MEASUREMENT, seed, [i + 1], circuit.inputLength);
      leader = field.subtract(leader, share);
      if (blind) parts.push(this.#challengePart(context, i + 1, blind, nonce, share));
    });
    let challenges = [];
    if (circuit.challenges) {
      parts.unshift(this.#challengePart(context, 0, own[0], nonce, leader));
      const seed = this.#seed(context, CHALLENGE_SEED, new Uint8Array(SEED), joined(...parts));
      challenges = this.#vector(context, CHALLENGES, seed, [proofs], proofs * circuit.challenges);
    }

    const proverRandom = this.#vector(context, PROVER, proverSeed, [proofs], proofs * circuit.gadget.arity);
    const of = (vector, proof) => vector.slice((proof * vector.length) / proofs, ((proof + 1) * vector.length) / proofs);
    let proof = [];
    for (let i = 0; i < proofs; i++) proof.push(...this.#prove(inputs, of(proverRandom, i), of(challenges, i)));
    helpers.forEach(([seed], i) => {
      proof = field.subtract(proof, this.#vector(context, PROOF, seed, [proofs, i + 1], proofs * this.proofLength));
    });
    return {
      nonce,
      publicShare: joined(...parts),
      inputShares: [joined(field.encode(leader), field.encode(proof), ...own), ...helpers.map((one) => joined(...one))],
    };
  }

  #prove(inputs, seeds, challenges) {
    const { field, gadget } = this.circuit;
    const wires = this.circuit.wires(inputs, challenges, seeds, this.order);
    return [...seeds, ...gadget.ofPolynomials(field, wires).slice(0, this.values)];
  }

  #challengePart(context, server, blind, nonce, share) {
    return this.#seed(context, CHALLENGE_PART, blind, joined([server], nonce, this.circuit.field.encode(share)));
  }

  #seed(context, usage, seed, binder) {
    return this.#stream(context, usage, seed, binder).read(SEED);
  }

  #vector(context, usage, seed, binder, length) {
    return this.circuit.field.draw(this.#stream(context, usage, seed, binder), length);
  }

  #stream(context, usage, seed, binder) {
    const tag = new Uint8Array(8 + context.length);
    const view = new DataView(tag.buffer);
    view.setUint8(0, VERSION);
    view.setUint32(2, this.algorithm);
    view.setUint16(6, usage);
    tag.set(context, 8);
    const length = [tag.length & 0xff, tag.length >> 8];
    return new TurboShake128(joined(length, tag, [seed.length], seed, binder), 1);
  }

  #random(size) {
    return crypto.getRandomValues(new Uint8Array(size));
  }
}
