/** Checks of what a server sent: one sentence says what a manifest has wrong. */

import { Refusal } from "./refusal.js";

/** The refusal of a description that this page does not understand. */
export function unreadable(problem) {
  const text = `This page does not understand the study's description: ${problem}. It sends nothing that it does not understand.`;
  return new Refusal("This study cannot be answered here", text);
}

/** Refuse unless a condition holds. */
export function check(holds, problem) {
  if (!holds) throw unreadable(problem);
}

export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** Refuse anything but an object with exactly these fields. */
export function checkKeys(value, keys, where) {
  check(isObject(value), `${where} is not an object`);
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  check(unknown === undefined, `${where} has the unknown field “${unknown}”`);
  const missing = keys.find((key) => !Object.hasOwn(value, key));
  check(missing === undefined, `${where} lacks the field “${missing}”`);
}

/** Build a mechanism; parameters that it cannot serve are a refusal. */
export function guarded(build) {
  try {
    return build();
  } catch (error) {
    if (error instanceof RangeError) throw unreadable(error.message.replace(/\.$/, ""));
    throw error;
  }
}

export const isCount = (value, least) => Number.isSafeInteger(value) && value >= least;

// Control characters and changes of direction could hide or forge what an owner reads before agreeing.
export const isText = (value) =>
  typeof value === "string" && value.trim() !== "" && !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(value);
