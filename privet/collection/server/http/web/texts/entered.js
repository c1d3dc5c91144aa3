/** Numbers as people write them: with a comma or a point, with groups of three digits, or with neither. */

import { locale } from "./texts.js";

/**
 * The number that a text stands for: {value}; or {readings: [small, large]} where the language leaves open which one is
 * meant, as "1.500" in German; or {} where it is none. Whoever asks must ask again: no answer is changed silently.
 */
export function readNumber(entered, decimal = decimalOf(locale())) {
  const plain = entered.trim().replace(/^[−–]/, "-");
  const found = [reading(plain, ".", ","), reading(plain, ",", ".")].filter((value) => value !== null);
  const [small, large] = [...new Set(found)].sort((a, b) => Math.abs(a) - Math.abs(b));
  if (small === undefined) return {};
  // Two readings differ in one separator before three digits: in its own language it is the decimal one.
  if (large === undefined || plain.includes(decimal)) return { value: small };
  return { readings: [small, large] };
}

/** The value of a number that is written with this decimal separator and that one between groups; null if it is not. */
function reading(plain, decimal, group) {
  const grouped = `[1-9]\\d{0,2}(?<mark>[${group}\\s'’])\\d{3}(?:\\k<mark>\\d{3})*`;
  const form = new RegExp(`^(?<sign>[+-]?)(?<whole>\\d*|${grouped})(?:[${decimal}](?<rest>\\d*))?$`, "u");
  const { sign, whole, rest = "" } = form.exec(plain)?.groups ?? {};
  if (whole === undefined || !/\d/.test(whole + rest)) return null;
  return Number(`${sign}${whole.replace(/\D/g, "") || "0"}.${rest || "0"}`);
}

/** The decimal separator of a language, which is a comma or a point. */
export function decimalOf(language) {
  return new Intl.NumberFormat(language).formatToParts(1.5).find(({ type }) => type === "decimal").value;
}

/** True if a number is written otherwise than the language does, so that it is worth saying how it was read. */
export function isForeign(entered) {
  return /[.,\s'’]/.test(entered.trim().replace(decimalOf(locale()), ""));
}
