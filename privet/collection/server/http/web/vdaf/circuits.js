/** Validity circuits as a client needs them: how a measurement is encoded, and the gadget's inputs. */

import { FIELD64, FIELD128 } from "./fields.js";
import { PairProducts, PolynomialOf } from "./gadgets.js";

function checked(number, most) {
  const value = typeof number === "boolean" ? Number(number) : number;
  if (!Number.isSafeInteger(value) || value < 0 || value > most) {
    throw new RangeError(`A measurement must have whole numbers from 0 to ${most}.`);
  }
  return value;
}

function listed(measurement, length, most) {
  if (!Array.isArray(measurement) || measurement.length !== length) {
    throw new RangeError(`A measurement must be a list of ${length} numbers.`);
  }
  return measurement.map((each) => checked(each, most));
}

const bitsFor = (most) => BigInt(most).toString(2).length;

/** The bits of a number: weights 1, 2, 4 and so on, and a last one that makes up the bound. */
function bitsOf(number, most) {
  const low = bitsFor(most) - 1;
  const over = number >= 2 ** low;
  const rest = BigInt(over ? number - (most - (2 ** low - 1)) : number);
  return [...Array.from({ length: low }, (_, i) => (rest >> BigInt(i)) & 1n), over ? 1n : 0n];
}

/** A circuit whose gadget takes one element at each call, or the same element as both factors. */
class Single {
  constructor(gadget, inputLength) {
    Object.assign(this, { field: FIELD64, gadget, calls: inputLength, inputLength, challenges: 0 });
  }

  wires(inputs, _challenges, seeds, order) {
    return seeds.map((seed) => [seed, ...inputs, ...new Array(order - 1 - inputs.length).fill(0n)]);
  }
}

export class Count extends Single {
  constructor() {
    super(new PairProducts(1), 1);
  }

  encode(measurement) {
    return [BigInt(checked(measurement, 1))];
  }
}

export class HigherDegree extends Single {
  constructor() {
    super(new PolynomialOf([0, 2, -3, 1]), 1);
  }

  encode(measurement) {
    return [BigInt(checked(measurement, 2))];
  }
}

export class Sum extends Single {
  constructor({ max_measurement: most }) {
    super(new PolynomialOf([0, -1, 1]), bitsFor(most));
    this.most = most;
  }

  encode(measurement) {
    return bitsOf(checked(measurement, this.most), this.most);
  }
}

/** A circuit that checks chunks of elements for being 0 or 1. */
class Chunked {
  constructor(field, inputLength, chunk) {
    const calls = Math.ceil(inputLength / chunk);
    Object.assign(this, { field, inputLength, chunk, calls, challenges: calls, gadget: new PairProducts(chunk) });
  }

  wires(inputs, challenges, seeds, order) {
    const { modulus } = this.field;
    const wires = seeds.map((seed) => [seed, ...new Array(order - 1).fill(0n)]);
    challenges.forEach((challenge, call) => {
      let power = challenge;
      for (let j = 0; j < this.chunk; j++) {
        const x = inputs[call * this.chunk + j] ?? 0n;
        wires[2 * j][call + 1] = (x * power) % modulus;
        wires[2 * j + 1][call + 1] = x === 0n ? modulus - 1n : x - 1n;
        power = (power * challenge) % modulus;
      }
    });
    return wires;
  }
}

export class SumVec extends Chunked {
  constructor({ length, max_measurement: most, chunk_length: chunk }, field = FIELD128) {
    super(field, length * bitsFor(most), chunk);
    Object.assign(this, { length, most });
  }

  encode(measurement) {
    return listed(measurement, this.length, this.most).flatMap((each) => bitsOf(each, this.most));
  }
}

export class Histogram extends Chunked {
  constructor({ length, chunk_length: chunk }) {
    super(FIELD128, length, chunk);
    this.length = length;
  }

  encode(measurement) {
    const bucket = checked(measurement, this.length - 1);
    return Array.from({ length: this.length }, (_, i) => (i === bucket ? 1n : 0n));
  }
}

export class MultihotCountVec extends Chunked {
  constructor({ length, max_weight: most, chunk_length: chunk }) {
    super(FIELD128, length + bitsFor(most), chunk);
    Object.assign(this, { length, most });
  }

  encode(measurement) {
    const entries = listed(measurement, this.length, 1);
    const ones = entries.reduce((sum, x) => sum + x, 0);
    if (ones > this.most) throw new RangeError(`A measurement may have at most ${this.most} ones.`);
    return [...entries.map(BigInt), ...bitsOf(ones, this.most)];
  }
}
