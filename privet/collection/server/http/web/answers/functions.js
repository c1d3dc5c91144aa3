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
  return largest(offers.map((label) => scoreOf(features, scorer, classes, label, unitLength)));
}

function largest(scores) {
  const odd = scores.findIndex(Number.isNaN); // sums of enormous numbers, which numpy counts as the largest
  if (odd >= 0) return odd;
  return scores.reduce((best, score, i) => (score > scores[best] ? i : best), 0);
}

/** The position of the offered class to which features and friends together point most, the first of equals. */
export function pointsTo(features, friends, question, classes) {
  const { offers, scorer, unitLength, reads } = question;
  const ofFriends = reads === "features" ? null : friendScores(friends, question, classes);
  return largest(
    offers.map((label) => {
      const offset = scorer === null ? 0 : scorer[scorer.length - classes + label];
      let own = offset;
      if (reads !== "friends") own = unitLength ? scoreAtLengthOne(features, scorer, classes, label) : scoreOf(features, scorer, classes, label, false);
      return ofFriends === null ? own : own + ofFriends[label];
    }),
  );
}

/** As {@link scoreOf}, of features divided by their length, so that the scores of friends can be added. */
function scoreAtLengthOne(features, scorer, classes, label) {
  let [score, squares] = [0, 0];
  features.forEach((value, i) => {
    score += value * scorer[i * classes + label];
    squares += value * value;
  });
  const length = Math.sqrt(squares);
  return (length > 0 ? score / length : 0) + scorer[features.length * classes + label];
}

/** The score of each class by the published classes of friends; sums of whole numbers, exact in any order. */
export function friendScores(friends, { table, mixing, shares }, classes) {
  const logs = logShares(publishedWeights(friends, table, classes), shares);
  const scores = new Array(classes).fill(0);
  logs.forEach((log, k) => scores.forEach((_, c) => (scores[c] += log * mixing[k * classes + c])));
  return scores.map((score) => score / FIXED_POINT);
}

const FIXED_POINT = 2 ** 16;
const WHOLE = 255;
const TERMS = 10;

/** The sums of the table's rows of some friends, in 255ths. */
function publishedWeights(friends, table, classes) {
  const found = new Array(classes).fill(0);
  for (const other of new Set(friends)) found.forEach((_, k) => (found[k] += table[other * classes + k]));
  return found;
}

/** log(s_k / p_k) in whole units of 2^-16 (privet/release/log_shares.py), the same on every device. */
export function logShares(weights, shares) {
  const everybody = shares.reduce((sum, share) => sum + share, 0);
  const published = weights.reduce((sum, weight) => sum + weight, 0);
  return Array.from(shares, (share, k) => {
    const above = 10 * everybody * weights[k] + 3 * WHOLE * share;
    return Math.floor(logarithm(above / (share * (10 * published + 3 * WHOLE))) * FIXED_POINT + 0.5);
  });
}

/** 2 atanh((m - 1) / (m + 1)) + e log 2: Math.log may differ in its last bit from one browser to another. */
function logarithm(value) {
  let [mantissa, exponent] = [value, 0];
  for (; mantissa >= 1; exponent += 1) mantissa /= 2;
  for (; mantissa < 0.7071067811865476; exponent -= 1) mantissa *= 2;
  const t = (mantissa - 1) / (mantissa + 1);
  const square = t * t;
  let series = 1 / (2 * TERMS + 1);
  for (let odd = 2 * TERMS - 1; odd > 0; odd -= 2) series = series * square + 1 / odd;
  return 2 * t * series + exponent * 0.6931471805599453;
}

/** How many of some friends are likeliest in each class of a published table, and how many are not in it. */
export function likeliest(friends, table, classes) {
  const found = new Array(classes).fill(0);
  for (const other of new Set(friends)) {
    const row = Array.from({ length: classes }, (_, k) => table[other * classes + k]);
    const most = Math.max(...row);
    if (most > 0) found[row.indexOf(most)] += 1;
  }
  return found;
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
