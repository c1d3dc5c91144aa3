/** The screening of each round's reports: could honest devices have sent them? */

import { byId, element, table } from "../controls/dom.js";
import { fill } from "./filling.js";

/** Show a sentence and the tests of each round, the newest first. */
export function showScreening(rounds) {
  fill(byId("screening"), rounds, () => [...rounds.map(screening).reverse().flat(), limits()]);
}

function screening({ round, alarm, in_words: words, tests }) {
  const rows = tests.map((test) => [test.words, test.finding, seldom(test.p_value)]);
  const headings = ["Question", "Compared", "Honest studies as surprising"];
  return [
    element("p", { class: alarm ? "strong stale" : "strong" }, `Round ${round}: ${words}`),
    ...(rows.length > 0 ? [table(`Tests of round ${round}`, headings, rows, { class: "numbers stacked" })] : []),
  ];
}

function limits() {
  const words =
    "The tests hold whatever people's true answers are. They cannot see lies that keep the noise, " +
    "and they cannot see that one person has two tokens: give each person one.";
  return element("p", { class: "hint" }, words);
}

/** A p-value in words; it never claims more than the number says. */
function seldom(value) {
  if (value >= 0.1) return "many";
  return value < 1e-12 ? "fewer than 1 of 10^12" : `at most 1 of ${Math.floor(1 / value).toLocaleString("en")}`;
}
