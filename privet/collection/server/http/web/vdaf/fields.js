/** The two prime fields of Prio3. Elements are BigInts from 0 to the prime less 1. */

/** A prime field with a subgroup of order 2^adicity that `generator` generates. */
class Field {
  constructor(modulus, size, generator, adicity) {
    Object.assign(this, { modulus, size, generator, adicity });
  }

  of(number) {
    const rest = BigInt(number) % this.modulus;
    return rest < 0n ? rest + this.modulus : rest;
  }

  subtract(left, right) {
    return left.map((x, i) => (x >= right[i] ? x - right[i] : x - right[i] + this.modulus));
  }

  power(base, exponent) {
    let found = 1n;
    for (let square = base; exponent > 0n; exponent >>= 1n) {
      if (exponent & 1n) found = (found * square) % this.modulus;
      square = (square * square) % this.modulus;
    }
    return found;
  }

  inverse(x) {
    return this.power(x, this.modulus - 2n);
  }

  /** The root of unity of an order that is a power of two. */
  root(order) {
    return this.power(this.generator, (1n << this.adicity) / BigInt(order));
  }

  encode(elements) {
    const bytes = new Uint8Array(elements.length * this.size);
    const view = new DataView(bytes.buffer);
    elements.forEach((x, i) => {
      for (let word = 0; word < this.size; word += 8) {
        view.setBigUint64(i * this.size + word, BigInt.asUintN(64, x >> BigInt(8 * word)), true);
      }
    });
    return bytes;
  }

  /** Elements from a stream; what is not below the prime is passed over. */
  draw(stream, count) {
    const found = [];
    while (found.length < count) {
      const wanted = count - found.length;
      const view = new DataView(stream.read(wanted * this.size).buffer);
      for (let i = 0; i < wanted; i++) {
        const low = view.getBigUint64(i * this.size, true);
        const x = this.size === 8 ? low : low | (view.getBigUint64(i * this.size + 8, true) << 64n);
        if (x < this.modulus) found.push(x);
      }
    }
    return found;
  }
}

function fieldOf(factor, adicity, size) {
  const modulus = (factor << adicity) + 1n;
  const field = new Field(modulus, size, 0n, adicity);
  field.generator = field.power(7n, factor);
  return Object.freeze(field);
}

export const FIELD64 = fieldOf((1n << 32n) - 1n, 32n, 8);
export const FIELD128 = fieldOf((1n << 62n) - 7n, 66n, 16);
