/**
 * What this browser remembers of withdrawals: the id of a study's first round and the moment. Whoever withdrew answers
 * no round of the study any more. The ledger keeps the cost.
 */

import { Refusal } from "../study/refusal.js";

const KEY = "privet-withdrawn-1";

/** The id of the first round of the study that a round belongs to. */
export const firstRound = (study) => study.manifest.earlier?.[0] ?? study.id;

function read() {
  try {
    const known = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return known !== null && typeof known === "object" ? known : {};
  } catch {
    return {};
  }
}

/** When the owner withdrew from the study with this first round, or null. */
export function withdrawnAt(first) {
  const known = read();
  return Object.hasOwn(known, first) ? new Date(known[first]) : null;
}

/** Refuse to make or send a report of a study from which the owner withdrew. */
export function checkWithdrawn(study) {
  if (withdrawnAt(firstRound(study)) !== null) throw Refusal.of("withdrawn");
}

/** Remember that the collector has erased the reports of all rounds of the study. */
export function markWithdrawn(study) {
  localStorage.setItem(KEY, JSON.stringify({ ...read(), [firstRound(study)]: new Date().toISOString() }));
}
