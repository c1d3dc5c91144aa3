/** Integer weights of two-sided geometric noise that is cut to 0 .. cap, as in privet/mechanisms/primitives/geometric.py. */

import { RESOLUTION } from "./bits.js";
import { expEnclosure, fraction, ONE } from "./odds.js";

const LEAST_EPSILON = 2 ** -20;
const MOST_EPSILON = 29;
const GROWTH = 1024n; // the smallest weight grows by at least this much in one step, so that steps are near exp(epsilon)

/** The smallest whole number from `low` to `high` for which a monotone condition holds; `high` if it holds for none. */
function first(low, high, holds) {
  while (low < high) {
    const middle = (low + high) / 2n;
    if (holds(middle)) high = middle;
    else low = middle + 1n;
  }
  return low;
}

/**
 * The tightest weights for which numbers that differ by one have likelihood ratios of at most exp(epsilon): `inner` by
 * the distance of a report from the number, and `ends` for the reports 0 and cap, which hold the tails.
 */
export function geometricWeights(epsilon, cap) {
  if (!(LEAST_EPSILON <= epsilon && epsilon <= MOST_EPSILON)) {
    throw new RangeError(`The budget is ${epsilon}, which finite precision cannot serve.`);
  }
  const factor = expEnclosure(fraction(epsilon))[0]; // rounded down: what keeps to it keeps to exp(epsilon)
  const overGrowth = (weight) => (weight * ONE + (factor - ONE) - 1n) / (factor - ONE);
  const least = overGrowth(GROWTH) > 1n ? overGrowth(GROWTH) : 1n;
  const made = (flat, start) => {
    const chain = [...new Array(Number(flat)).fill(least), start];
    while (chain.length <= cap) chain.push((chain.at(-1) * factor) / ONE);
    const ends = [chain[0] + overGrowth(chain[0])];
    for (const weight of chain.slice(1)) ends.push(ends.at(-1) + weight);
    return { inner: chain.slice(1).reverse(), ends: ends.reverse() };
  };
  const fits = ({ ends }) => ends[0] + ends[1] <= BigInt(RESOLUTION);
  const flat = first(0n, BigInt(cap), (count) => fits(made(count, least)));
  const start = first(least, BigInt(RESOLUTION), (value) => !fits(made(flat, value))) - 1n;
  const { inner, ends } = made(flat, start);
  return { inner: inner.map(Number), ends: ends.map(Number), total: Number(ends[0] + ends[1]) };
}
