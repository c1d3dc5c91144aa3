/** The non-linear steps of circuits, on polynomials that are given by their values at roots of unity. */

/** The smallest power of two that is not below a positive number. */
export const powerOfTwo = (least) => 2 ** Math.ceil(Math.log2(least));

/** Moves values at the roots of unity of one order to the roots of a multiple of it. */
class Transform {
  constructor(field, order, factor) {
    Object.assign(this, { field, order, factor });
    const root = field.root(order);
    this.forward = this.#powers(root, order / 2);
    this.inverse = this.#powers(field.inverse(root), order / 2);
    const part = field.inverse(BigInt(order));
    const shift = field.root(order * factor);
    const reversed = this.#reversed();
    this.twists = [];
    for (let coset = 1; coset < factor; coset++) {
      const powers = this.#powers(field.power(shift, BigInt(coset)), order);
      this.twists.push(reversed.map((i) => (part * powers[i]) % field.modulus));
    }
  }

  #powers(base, count) {
    const found = [1n];
    while (found.length < count) found.push((found.at(-1) * base) % this.field.modulus);
    return found;
  }

  /** The order in which the first transform leaves its coefficients. */
  #reversed() {
    let found = [0];
    while (found.length < this.order) found = [...found.map((i) => 2 * i), ...found.map((i) => 2 * i + 1)];
    return found;
  }

  /** The values at one coset of the roots. */
  #moved(values, twist) {
    const { order, inverse, forward } = this;
    const { modulus } = this.field;
    const found = values.slice();
    for (let half = order / 2; half >= 1; half /= 2) {
      const step = order / (2 * half);
      for (let start = 0; start < order; start += 2 * half) {
        for (let i = start; i < start + half; i++) {
          const [x, y] = [found[i], found[i + half]];
          found[i] = x + y >= modulus ? x + y - modulus : x + y;
          found[i + half] = ((x - y + modulus) * inverse[(i - start) * step]) % modulus;
        }
      }
    }
    for (let i = 0; i < order; i++) found[i] = (found[i] * twist[i]) % modulus;
    for (let half = 1; half < order; half *= 2) {
      const step = order / (2 * half);
      for (let start = 0; start < order; start += 2 * half) {
        for (let i = start; i < start + half; i++) {
          const [x, y] = [found[i], (found[i + half] * forward[(i - start) * step]) % modulus];
          found[i] = x + y >= modulus ? x + y - modulus : x + y;
          found[i + half] = x >= y ? x - y : x - y + modulus;
        }
      }
    }
    return found;
  }

  /** The values at all roots of the larger order. */
  finer(values) {
    const cosets = [values, ...this.twists.map((twist) => this.#moved(values, twist))];
    return Array.from({ length: this.order * this.factor }, (_, i) => cosets[i % this.factor][Math.floor(i / this.factor)]);
  }
}

/** The sum of the products of pairs of inputs. */
export class PairProducts {
  constructor(pairs) {
    Object.assign(this, { arity: 2 * pairs, degree: 2 });
  }

  /** The values of the sum of products of polynomials, each given by its values at as many roots. */
  ofPolynomials(field, wires) {
    const transform = new Transform(field, wires[0].length, 2);
    const sums = new Array(2 * wires[0].length).fill(0n);
    for (let wire = 0; wire < wires.length; wire += 2) {
      const [left, right] = [transform.finer(wires[wire]), transform.finer(wires[wire + 1])];
      for (let i = 0; i < sums.length; i++) sums[i] += left[i] * right[i];
    }
    return sums.map((x) => x % field.modulus);
  }
}

/** A polynomial of one input, its constant coefficient first. */
export class PolynomialOf {
  constructor(coefficients) {
    Object.assign(this, { arity: 1, degree: coefficients.length - 1, coefficients });
  }

  ofPolynomials(field, [wire]) {
    const factor = powerOfTwo(this.degree * (wire.length - 1) + 1) / wire.length;
    const values = new Transform(field, wire.length, factor).finer(wire);
    return values.map((x) => this.coefficients.reduceRight((sum, c) => field.of(sum * x + BigInt(c)), 0n));
  }
}
