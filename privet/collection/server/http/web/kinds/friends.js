/** The question for the number of friends in each group: counted here over a public table, then randomised. */

import { element } from "../controls/dom.js";
import { friendCounts } from "../answers/functions.js";
import { percent } from "../texts/numbers.js";
import { picker } from "../controls/picker.js";
import { counted, listed, text } from "../texts/texts.js";
import { className } from "./label.js";
import { listControl } from "./neighbours.js";

export const friends = kind("friends");
export const friendsAgain = kind("friends-again");

function kind(name) {
  const find = (study) => study.asked.find((question) => question.name === name);
  const byGroup = (study, counts) =>
    Array.from(counts, (count, label) => [text(`${name}.group`, { group: className(study, label) }), String(count)]);
  return {
    name: "neighbours",
    isAsked: (study) => find(study) !== undefined,
    control,
    cost(study) {
      const { mechanism, cost } = find(study);
      return { name: text(`${name}.each`), sent: `${describe(mechanism)} ${text("sent.twice-tables")}`, epsilon: cost };
    },
    answered: (study, raw) => byGroup(study, friendCounts(study.node, raw.neighbours, find(study), study.classes)),
    sent: (study, report) => byGroup(study, report[name]),
    unprotected: () => [],
  };
}

/** The picker, or a box for numbers, and beneath it what would be counted. */
function control(study, participant) {
  const summary = element("p", { id: "friends-summary", class: "preview", role: "status" });
  const update = (ids) => (summary.textContent = inWords(study, participant, ids));
  const made = study.names ? picker(study, participant, update) : listControl(study, participant);
  const sent = element("p", { class: "hint" }, text("friends.sent"), " ", describe(countsOf(study)[0].mechanism));
  return { ...made, node: element("div", { class: "stack" }, made.node, study.names ? summary : null, sent) };
}

const countsOf = (study) => study.asked.filter(({ name }) => name === "friends" || name === "friends-again");

/** “2 of your friends are in A, 1 in C. 3 are not counted.” */
function inWords(study, participant, ids) {
  if (ids.length === 0) return text("friends.none");
  const sentences = countsOf(study).map((question) => {
    const counts = friendCounts(participant, ids, question, study.classes);
    const groups = counts.map((count, label) => [count, className(study, label)]).filter(([count]) => count > 0);
    const parts = groups.map(([count, group]) => counted("friends.in", count, { group }));
    const others = ids.length - counts.reduce((sum, count) => sum + count, 0);
    const rest = others === 0 ? "" : ` ${counted("friends.uncounted", others)}`;
    return (parts.length === 0 ? "" : text("friends.counted", { groups: listed(parts) })) + rest;
  });
  return sentences.join(" ").trim();
}

/** The probabilities with which a number in the middle of its range is sent as it is, and at most one off. */
function describe({ weights: { inner, ends, total }, cap }) {
  const weight = (count, report) => {
    if (report === 0) return ends[count];
    return report === cap ? ends[cap - count] : inner[Math.abs(report - count)];
  };
  const middle = Math.floor(cap / 2);
  const near = [middle - 1, middle, middle + 1].filter((report) => report >= 0 && report <= cap);
  const within = near.reduce((sum, report) => sum + weight(middle, report), 0);
  return text("sent.counts", { cap, chance: percent(weight(middle, middle) / total), near: percent(within / total) });
}
