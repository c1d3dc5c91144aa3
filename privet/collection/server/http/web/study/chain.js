/**
 * A study in rounds: a chain of manifests, each of which names those before it by their ids.
 *
 * What people agreed to in the first round cannot change afterwards, and no question is asked twice. The same rules as
 * in privet/collection/study/chain.py and privet/collection/device/ledger.py.
 */

import { sumUp } from "../texts/numbers.js";
import { Refusal } from "./refusal.js";

const KEPT = [
  ...["title", "purpose", "nodes", "schema", "directory", "operator", "questions", "class_question", "plan"],
  ...["inputs", "delete_after", "publish_results"],
];
/** Questions of which nobody, or no pair of people, answers both, so that the dearer one is charged. */
const INSTEAD = [["features", "resemblance"], ["person", "person-again"]];
const OTHER_PAIRS = [["friends", "friends-again"]];

const isPair = (pairs, one, other) => pairs.some(([a, b]) => (a === one && b === other) || (a === other && b === one));

/** Refuse rounds, oldest first, that do not belong together. */
export function checkChain(rounds) {
  const asked = new Set();
  rounds.forEach((each, place) => {
    const round = String(place + 1);
    const before = rounds.slice(0, place).map(({ id }) => id);
    if (String(each.manifest.earlier) !== String(before)) throw Refusal.of("chain-named", { round });
    const changed = KEPT.find((key) => canonical(each.manifest[key]) !== canonical(rounds[0].manifest[key]));
    if (changed !== undefined) throw Refusal.of("chain-kept", { round, field: changed });
    if (place > 0 && each.manifest.panel !== null) throw Refusal.of("chain-panel", { round });
    for (const { name } of each.asked) {
      // A second round about other pairs can be checked against the first one only, not the other way round.
      const late = OTHER_PAIRS.some(([first, again]) => name === first && asked.has(again));
      if (asked.has(name) || late) throw Refusal.of("chain-twice", { round, question: name });
      asked.add(name);
    }
  });
}

/** The price of some questions together: of alternatives the dearest. */
export function jointCost(questions) {
  const groups = [];
  for (const question of questions) {
    const isOther = (name) => isPair(INSTEAD, name, question.name) || isPair(OTHER_PAIRS, name, question.name);
    const exclusive = ({ name, reads }) => isOther(name) && reads === question.reads; // promises about one unit
    const rivals = groups.find((group) => group.every(exclusive));
    if (rivals === undefined) groups.push([question]);
    else rivals.push(question);
  }
  return sumUp(groups.map((group) => Math.max(...group.map(({ cost }) => cost))));
}

/** The price of all rounds that a study's plan announces, those to come among them. Null if none is left. */
export function announcedCost(rounds) {
  const asked = rounds.flatMap((round) => round.asked);
  const left = rounds[0].planned.filter(({ name }) => !asked.some((question) => question.name === name));
  return left.length === 0 ? null : jointCost([...asked, ...left]);
}

/** The questions about everything on the device, or about the whole list or all features in one answer. */
export const aboutEverything = (asked) => asked.filter(({ name }) => name === "person" || name === "person-again");

/** The questions about a person's list. */
export function aboutLists(asked) {
  const whole = aboutEverything(asked).filter(({ reads }) => reads !== "features");
  return asked.filter((each) => whole.includes(each) || ["neighbours", "friends", "friends-again"].includes(each.name));
}

/** True if a panel shows its friends beside features and class, so that a question can weigh both. */
export const panelShowsFriends = ({ planned }) => aboutEverything(planned).some(({ reads }) => reads === "everything");

/** True if a table of people's classes is handed out, over which friends are counted. */
export const publishesClasses = (asked) => aboutLists(asked).some(({ name }) => name !== "neighbours");

/** The price of one relationship: both of its ends may answer. */
export function relationshipCost(asked) {
  const whole = aboutEverything(asked);
  return jointCost(aboutLists(asked).map((each) => (whole.includes(each) ? { ...each, cost: 2 * each.cost } : each)));
}

/** True if some questions take the place of one another: nobody is asked both. */
export const hasAlternatives = (names) => INSTEAD.some((pair) => pair.every((name) => names.includes(name)));

/** Refuse a question that takes the place of one that was answered: only one of them was paid for. */
export function checkInstead(answered, asked) {
  for (const { name: before } of answered) {
    const now = asked.find(({ name }) => isPair(INSTEAD, name, before));
    if (now !== undefined) throw Refusal.of("instead", { before, now: now.name });
  }
}

/** JSON with sorted keys, to compare values whatever their spelling. */
export function canonical(value) {
  const sorted = (_, each) =>
    each !== null && typeof each === "object" && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each;
  return JSON.stringify(value, sorted);
}
