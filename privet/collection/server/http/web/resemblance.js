/**
 * "Which of these groups do you resemble most": the score of each class, on this device.
 *
 * The order of the arithmetic is part of the question (linear_scores in privet/release/asks/resemblance.py): plain
 * 64-bit floats, feature by feature, each product and each sum rounded.
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
