/**
 * The question about everything on this device: which of a few groups features and friends point to most.
 *
 * It is two kinds with the same answer: one shows the features' controls, the other the list of friends. What the page
 * says about friends ("2 in group A") is counted here over the published table, and never sent.
 */

import { aboutEverything } from "../study/chain.js";
import { clipped, likeliest, pointsTo } from "../answers/functions.js";
import { element } from "../controls/dom.js";
import { picker } from "../controls/picker.js";
import { atMost, percent } from "../texts/numbers.js";
import { counted, listed, text } from "../texts/texts.js";
import { answeredFeatures, featureControl } from "./features.js";
import { className } from "./label.js";
import { inWords, listControl } from "./neighbours.js";

const find = (study) => aboutEverything(study.asked)[0];
const readsFriends = (study) => find(study).reads !== "features";

export const personFeatures = {
  name: "features",
  isAsked: (study) => find(study) !== undefined && find(study).reads !== "friends",
  control(study) {
    const made = featureControl(study);
    return { ...made, node: element("div", { class: "stack" }, made.node, readsFriends(study) ? null : hint(study)) };
  },
  cost: (study) => (readsFriends(study) ? null : cost(study)),
  answered: (study, raw) => [...answeredFeatures(study, raw), ...(readsFriends(study) ? [] : pointed(study, raw))],
  sent: (study, report) => (readsFriends(study) ? [] : sent(study, report)),
  unprotected: () => ["offered"],
};

export const personFriends = {
  name: "neighbours",
  isAsked: (study) => find(study) !== undefined && readsFriends(study),
  control(study, participant) {
    const summary = element("p", { id: "friends-summary", class: "preview", role: "status" });
    const update = (ids) => (summary.textContent = inGroups(study, ids));
    const made = study.names ? picker(study, participant, update) : listControl(study, participant);
    return { ...made, node: element("div", { class: "stack" }, made.node, study.names ? summary : null, hint(study)) };
  },
  cost,
  answered: (study, raw) => [
    [text("neighbours.question"), inWords(raw.neighbours, study.names)],
    [text("person.groups"), inGroups(study, raw.neighbours)],
    ...pointed(study, raw),
  ],
  sent,
  unprotected: (study) => (find(study).reads === "friends" ? ["offered"] : []),
};

const hint = (study) => element("p", { class: "hint" }, text("person.sent"), " ", describe(study));

function cost(study) {
  const { offers, cost: epsilon } = find(study);
  const groups = Array.isArray(offers) ? listed(offers.map((label) => className(study, label))) : "…";
  const ends = readsFriends(study) ? ` ${text("sent.both-devices", { both: atMost(2 * epsilon) })}` : "";
  return { name: text("person.question", { groups }), sent: describe(study) + ends, epsilon };
}

/** The group that everything points to, before anything is randomised. */
function pointed(study, raw) {
  const question = find(study);
  const features = question.reads === "friends" ? [] : clipped(raw.features, study.domains);
  const position = pointsTo(features, raw.neighbours ?? [], question, study.classes);
  return [[text("person.most"), className(study, question.offers[position])]];
}

function sent(study, report) {
  const { name, mechanism, offers } = find(study);
  const label = (position) => (Array.isArray(offers) ? className(study, offers[position]) : String(position + 1));
  return [[text("person.most"), listed(mechanism.held(report[name]).map(label))]];
}

/** “Of your friends, 2 in group A and 1 in group C. 3 are not counted in this round.” */
function inGroups(study, ids) {
  const { table } = find(study);
  if (ids.length === 0 || table === null || typeof table === "string") return text("friends.none");
  const counts = likeliest(ids, table, study.classes);
  const groups = counts.map((count, label) => [count, className(study, label)]).filter(([count]) => count > 0);
  const parts = groups.map(([count, group]) => counted("friends.in", count, { group }));
  const others = ids.length - counts.reduce((sum, count) => sum + count, 0);
  const rest = others === 0 ? "" : ` ${counted("friends.uncounted", others)}`;
  return ((parts.length === 0 ? "" : text("friends.counted", { groups: listed(parts) })) + rest).trim();
}

/** The probabilities with which the true group, and each other one, is among those that are sent. */
export function describeChoice({ mechanism, offers }) {
  if (!Array.isArray(offers)) return text("sent.offered-any");
  const [keep, flip] = mechanism.chances(offers.length).map(percent);
  const size = mechanism.sizes?.[offers.length - 2] ?? 1;
  if (size > 1) return text("sent.subset", { size, all: offers.length, keep, flip });
  return text(offers.length === 2 ? "sent.offered-two" : "sent.offered", { keep, flip, others: offers.length - 1 });
}

const describe = (study) => describeChoice(find(study));
