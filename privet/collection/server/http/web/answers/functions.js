/**
 * The public functions of private answers that questions apply, on this device.
 *
 * The order of the arithmetic is part of a question (linear_scores in privet/release/asks/resemblance.py): plain 64-bit
 * floats, feature by feature, each product and each sum rounded. Friends are counted over a public table
 * (privet/release/asks/friends.py).
 */

/** The score of one class: `scorer` has one row of weights a feature and a last row of offsets, `classes` columns. */
export function scoreOf(features, scorer, classes, label, unitLength) {
  let [score, squares] = [0, 0];
  features.forEach((value, i) => {
    score += value * scorer[i * classes + label];
    squares += value * value;
  });
  const offset = scorer[features.length * classes + label];
  return score + (unitLength ? Math.sqrt(squares) * offset : offset);
}

/** The position of the offered class of largest score, the first of equals. */
export function resembles(features, { scorer, offers, unitLength }, classes) {
  const scores = offers.map((label) => scoreOf(features, scorer, classes, label, unitLength));
  const odd = scores.findIndex(Number.isNaN); // sums of enormous numbers, which numpy counts as the largest
  if (odd >= 0) return odd;
  return scores.reduce((best, score, i) => (score > scores[best] ? i : best), 0);
}

/** Answers outside their range count as its nearest end, as everywhere. */
export function clipped(features, domains) {
  return features.map((value, i) => Math.min(Math.max(value, domains[i].low), domains[i].high));
}

/** True if a person counts somebody: whoever is published and of lower rank, so that only one end counts a pair. */
export function counts(own, other, { table, ranks }) {
  return table[other] >= 0 && ranks[other] < ranks[own];
}

/** The number of friends of lower rank in each published class, before any noise; `cap` is the most that counts. */
export function friendCounts(own, friends, tables, classes, cap = Infinity) {
  const found = new Array(classes).fill(0);
  for (const other of new Set(friends)) {
    if (counts(own, other, tables)) found[tables.table[other]] += 1;
  }
  return found.map((count) => Math.min(count, cap));
}

/** A person who might be in the counts of two rounds (published in the earlier, taking part in the later); -1 if none. */
export function countedTwice(earlier, later) {
  return later.table.findIndex((label, i) => earlier.table[i] >= 0 && (label >= 0 || later.ranks[i] > 0));
}
