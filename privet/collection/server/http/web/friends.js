/** "How many of your friends are in each group": counts over a public table; see privet/release/asks/friends.py. */

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
