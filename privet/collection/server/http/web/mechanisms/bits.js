/** Where randomness comes from: the browser's cryptographic source, or replayed words in tests. */

/** Draws are below 2^53 or smaller, so every draw is exact as a Number. */
export const RESOLUTION = 2 ** 53;

const WORDS_IN_ALL = 1n << 64n;
const WORDS_A_CALL = 8192; // getRandomValues gives at most 65,536 bytes at once

/** A source of uniform 64-bit words; everything else is derived from them by integer arithmetic. */
class Bits {
  /**
   * Uniform integers in [0, bound), exactly: words below 2^64 mod bound are drawn again.
   * `bound` is a Number or an array of `count` Numbers, each at most 2^53.
   */
  below(bound, count) {
    const bounds = Array.isArray(bound) ? bound.map(BigInt) : new Array(count).fill(BigInt(bound));
    if (bounds.some((value) => value < 1n || value > BigInt(RESOLUTION))) {
      throw new RangeError("A bound must be in [1, 2^53].");
    }
    const words = this.words(count);
    const isRefused = (place) => words[place] < WORDS_IN_ALL % bounds[place];
    let refused = [...words.keys()].filter(isRefused);
    while (refused.length > 0) {
      const again = this.words(refused.length);
      refused.forEach((place, i) => (words[place] = again[i]));
      refused = refused.filter(isRefused);
    }
    return Array.from(words, (word, i) => Number(word % bounds[i]));
  }
}

/** The browser's cryptographic source: what a real report is drawn with. */
export class SystemBits extends Bits {
  words(count) {
    const words = new BigUint64Array(count);
    for (let start = 0; start < count; start += WORDS_A_CALL) {
      crypto.getRandomValues(words.subarray(start, start + WORDS_A_CALL));
    }
    return words;
  }
}

/** Given words, for tests only: who knows the words can undo the noise. */
export class ReplayedBits extends Bits {
  constructor(hexadecimal) {
    super();
    this.stream = hexadecimal.match(/.{16}/g) ?? [];
    this.used = 0;
  }

  words(count) {
    if (this.used + count > this.stream.length) throw new RangeError("The replayed words are used up.");
    const taken = this.stream.slice(this.used, this.used + count);
    this.used += count;
    return BigUint64Array.from(taken, (word) => BigInt(`0x${word}`));
  }
}
