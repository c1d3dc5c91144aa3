/**
 * Integer weights whose ratio is at most exp(epsilon): the one place where privacy meets arithmetic.
 *
 * Numbers are exact fractions or fixed-point integers, so the results are those of privet/mechanisms/odds.py to the
 * last digit, whatever the browser's Math.exp does.
 */

import { RESOLUTION } from "./bits.js";

const SMALLEST_WEIGHT = 1024; // below this the integers would be too coarse to be near exp(epsilon)
const FRACTION_BITS = 320n; // fixed point: a BigInt x stands for x / 2^320 (96 digits)
const GUARD_BITS = 128n;
const HALVINGS = 16n;

/** The fixed-point number 1. */
export const ONE = 1n << FRACTION_BITS;

/** The exact value of a double, as {numerator, denominator} in BigInt. */
export function fraction(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const stored = bits & ((1n << 52n) - 1n);
  const significand = (exponent === 0 ? stored : stored | (1n << 52n)) * (bits >> 63n ? -1n : 1n);
  const power = BigInt(Math.max(exponent, 1) - 1075);
  return power >= 0n
    ? { numerator: significand << power, denominator: 1n }
    : { numerator: significand, denominator: 1n << -power };
}

/** The fraction of a double divided by an integer, exactly. */
export function share(epsilon, parts) {
  const { numerator, denominator } = fraction(epsilon);
  return { numerator, denominator: denominator * BigInt(parts) };
}

/** A fraction to the nearest double, well enough for words and limits (never for weights). */
export function approximate({ numerator, denominator }) {
  return Number((numerator << 200n) / denominator) / 2 ** 200;
}

/** Fixed-point a <= exp(exponent) <= b that agree in more than 90 digits, for exponents from 0 to 64. */
export function expEnclosure({ numerator, denominator }) {
  const bits = FRACTION_BITS + GUARD_BITS;
  const reduced = ((numerator << bits) / denominator) >> HALVINGS;
  let term = 1n << bits;
  let sum = 0n;
  for (let k = 1n; term > 0n; k += 1n) {
    sum += term;
    term = ((term * reduced) >> bits) / k;
  }
  // Fewer than 64 truncations, each doubled by 16 squarings: a relative error below 2^-420, and exp(64) < 2^93.
  for (let i = 0n; i < HALVINGS; i += 1n) sum = (sum * sum) >> bits;
  const floor = sum >> GUARD_BITS;
  return [floor - 1n, floor + 2n];
}

/**
 * The tightest weights below 2^53 for `highs` likely and `lows` unlikely symbols:
 * high = floor(low * exp(epsilon)) and highs * high + lows * low = total <= 2^53.
 */
export function odds(epsilon, highs = 1, lows = 1) {
  const least = (1.1 * SMALLEST_WEIGHT * (highs + lows)) / RESOLUTION;
  const most = Math.log((RESOLUTION / SMALLEST_WEIGHT - lows) / highs);
  const budget = approximate(epsilon);
  if (!(least <= budget && budget <= most)) {
    throw new RangeError(`The budget of one symbol is ${budget}, which finite precision cannot serve.`);
  }
  const [lower, upper] = expEnclosure(epsilon);
  const low = (BigInt(RESOLUTION) << FRACTION_BITS) / (BigInt(highs) * upper + BigInt(lows) * ONE);
  const high = (low * lower) >> FRACTION_BITS;
  return { high: Number(high), low: Number(low), total: highs * Number(high) + lows * Number(low) };
}

/** round(steps * b) with the square wave's b = (z e^z - e^z + 1) / (e^z (e^z - z - 1)). */
export function squareWaveWindow(z, steps) {
  const grown = expEnclosure(z)[0];
  const fixed = (z.numerator << FRACTION_BITS) / z.denominator;
  const above = ((fixed * grown) >> FRACTION_BITS) - grown + ONE;
  const below = (grown * (grown - fixed - ONE)) >> FRACTION_BITS;
  return nearest(BigInt(steps) * above, below);
}

/** round(steps * e^(-z/2)), the window of the piecewise mechanism. */
export function piecewiseWindow(z, steps) {
  const half = { numerator: z.numerator, denominator: 2n * z.denominator };
  return nearest(BigInt(steps) * ONE, expEnclosure(half)[0]);
}

function nearest(numerator, denominator) {
  return Math.max(1, Number((2n * numerator + denominator) / (2n * denominator)));
}
