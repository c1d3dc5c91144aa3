/** Rare ones among many independent bits, drawn exactly at a cost of O(ones). */

import { RESOLUTION } from "./bits.js";

/**
 * The places of the ones in `length` independent bits that are 1 with probability low / total, ascending.
 * Only the gaps between ones are drawn: Pr[gap >= k] = (1 - low / total)^k.
 */
export function bernoulliPositions(length, low, total, bits) {
  const chance = low / total;
  const positions = [];
  let reached = -1;
  while (reached < length) {
    const expected = (length - reached) * chance;
    for (const gap of gaps(Math.trunc(expected + 5 * Math.sqrt(expected)) + 16, low, total, bits)) {
      reached += gap + 1;
      if (reached < length) positions.push(reached);
    }
  }
  return positions;
}

/**
 * Geometric gaps by inversion, exact: floor(log U / log(1 - q)) for a uniform real U of which 53 bits are drawn.
 * Where those bits and the floating-point error leave two answers possible, more bits of U are drawn.
 */
function gaps(count, low, total, bits) {
  const rate = -Math.log1p(-low / total);
  return bits
    .below(RESOLUTION, count)
    .map((draw) => {
      const longest = -Math.log(draw / RESOLUTION) / rate;
      const shortest = -Math.log((draw + 1) / RESOLUTION) / rate;
      const upper = Math.floor(Math.min(longest * (1 + 1e-13) + 1e-13, 2 ** 62));
      const lower = Math.floor(Math.max(shortest * (1 - 1e-13) - 1e-13, 0));
      return { draw, gap: lower, certain: upper === lower };
    })
    .map(({ draw, gap, certain }) => (certain ? gap : refinedGap(BigInt(draw), low, total, bits)));
}

function refinedGap(drawn, low, total, bits) {
  const word = BigInt(RESOLUTION);
  let numerator = drawn;
  let denominator = word;
  for (;;) {
    numerator = numerator * word + BigInt(bits.below(RESOLUTION, 1)[0]);
    denominator *= word;
    if (numerator === 0n) continue; // U may be as near to 0 as one likes, and the gap as long
    const precision = 2n * BigInt(denominator.toString(2).length) + 192n;
    const rate = -logarithm(BigInt(total - low), BigInt(total), precision);
    const longest = -logarithm(numerator, denominator, precision);
    const shortest = -logarithm(numerator + 1n, denominator, precision);
    const slack = 1n << 64n; // units of 2^-precision; the logarithms are off by far fewer
    const upper = (longest + slack) / (rate - slack);
    const lower = (shortest > slack ? shortest - slack : 0n) / (rate + slack);
    if (upper === lower) return Number(lower);
  }
}

/** ln(numerator / denominator) in units of 2^-precision, within a few thousand of them. */
function logarithm(numerator, denominator, precision) {
  const shift = denominator.toString(2).length - numerator.toString(2).length;
  const scaled = shift >= 0 ? [numerator << BigInt(shift), denominator] : [numerator, denominator << BigInt(-shift)];
  const ln2 = 2n * inverseTanh(1n, 3n, precision);
  return 2n * inverseTanh(scaled[0] - scaled[1], scaled[0] + scaled[1], precision) - BigInt(shift) * ln2;
}

/** artanh(y) = y + y^3 / 3 + y^5 / 5 + ..., for |y| <= 1/3. */
function inverseTanh(numerator, denominator, precision) {
  let power = (numerator << precision) / denominator;
  const square = (power * power) >> precision;
  let sum = 0n;
  for (let k = 1n; power !== 0n && power !== -1n; k += 2n) {
    sum += power / k;
    power = (power * square) >> precision;
  }
  return sum;
}
