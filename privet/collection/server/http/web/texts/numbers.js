/** Numbers for people, as their language writes them. Bounds are rounded up: never less than what an observer can do. */

import { fraction } from "../mechanisms/odds.js";
import { locale, text } from "./texts.js";

/** A number without the noise of floating point. */
export function tidy(value, digits = 6) {
  return value.toLocaleString(locale(), { maximumSignificantDigits: digits, useGrouping: false });
}

/** A figure after the words "at most", with four digits and rounded up, as privet/privacy/rounding.py writes it. */
export function atMost(figure) {
  if (figure === 0) return "0";
  const unit = 10 ** (Math.floor(Math.log10(figure)) - 3);
  return tidy(Math.ceil(figure / unit - 1e-9) * unit, 4);
}

/** exp(epsilon) with three digits, rounded up. */
export function oddsFactor(epsilon) {
  const factor = Math.exp(epsilon);
  if (!Number.isFinite(factor)) return `e^${atMost(epsilon)}`;
  const unit = 10 ** (Math.floor(Math.log10(factor)) - 2);
  const rounded = Number((Math.ceil(factor / unit - 1e-9) * unit).toPrecision(6));
  return rounded.toLocaleString(locale(), { maximumFractionDigits: 4 });
}

/** The certainty that somebody can reach who was undecided (1 : 1) before, in percent, rounded up. */
export function certainty(epsilon) {
  const chance = 1 / (1 + Math.exp(-epsilon));
  const scale = chance > 0.99 ? 100 : 1;
  return Math.min(100, Math.ceil(100 * scale * chance - 1e-9) / scale);
}

/** A number of percents as it is. */
export function percents(value) {
  return (value / 100).toLocaleString(locale(), { style: "percent", maximumFractionDigits: 2 });
}

/** A probability in percent. */
export function percent(chance) {
  const value = 100 * chance;
  if (value > 0 && value < 0.01) return text("number.less", { share: percents(0.01) });
  if (value > 99.99 && value < 100) return text("number.more", { share: percents(99.99) });
  const digits = value < 1 || value > 99 ? 2 : value < 10 ? 1 : 0;
  const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return chance.toLocaleString(locale(), { style: "percent", ...fixed });
}

/** The sum of numbers of at least 0, rounded up where it is not exact: a cost is never understated. */
export function sumUp(values) {
  return roundedUp(values.map(exact).reduce((sum, value) => sum + value, 0n));
}

/** A double as a whole number of 2^-1100, exactly: every double is a multiple of 2^-1074. */
export function exact(value) {
  const { numerator, denominator } = fraction(value);
  return (numerator << 1100n) / denominator;
}

/** The smallest double that is not below a whole number of 2^-1100; 0 for negative ones. */
export function roundedUp(units) {
  if (units <= 0n) return 0;
  const guess = Math.max(Number(units >> 1000n) / 2 ** 100, 2 ** -100);
  return exact(guess) >= units ? guess : nextUp(guess);
}

/** The smallest double above a positive one. */
function nextUp(positive) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, positive);
  view.setBigInt64(0, view.getBigInt64(0) + 1n);
  return view.getFloat64(0);
}
