/** The questions of a release: each entry of a manifest is understood whole or refused. */

import { canonical, hasAlternatives } from "./chain.js";
import { check, checkKeys, guarded, isCount, isObject } from "./checks.js";
import {
  AdjacencyResponse,
  Counts,
  HDS,
  Laplace,
  MultiBit,
  OfferedResponse,
  Piecewise,
  RandomizedResponse,
  SampledResponse,
  SubsetResponse,
} from "../mechanisms/mechanisms.js";
import { MixedResponse } from "../mechanisms/mixed_response.js";
import { Refusal } from "./refusal.js";

const NUMERIC = { "multi-bit": MultiBit, hds: HDS, piecewise: Piecewise, laplace: Laplace };
const PYTHON_ONLY = ["analytic-gaussian", "degree-response"];
const READERS = {
  ...{ features, label, neighbours, resemblance, friends, person },
  ...{ "friends-again": friends, "person-again": person },
};
const CHOICES = { "offered-response": OfferedResponse, "subset-response": SubsetResponse };

const EVERYTHING = ["offers", "scorer", "table", "mixing", "shares"];

/** The public tables of a question, with the kind of their hashes. A plan states questions without them. */
const TABLES = {
  resemblance: ["scorer", "offers"],
  ...{ friends: ["table", "ranks"], "friends-again": ["table", "ranks"] },
  ...{ person: EVERYTHING, "person-again": EVERYTHING },
};
const HASHES = {
  ...{ scorer: "sha256", offers: "tree", table: "sha256", ranks: "sha256" },
  ...{ mixing: "sha256", shares: "sha256" },
};

const isBudget = (value) => typeof value === "number" && Number.isFinite(value) && value > 0;
const isDigest = (value, kind) => typeof value === "string" && new RegExp(`^${kind}:[0-9a-f]{64}$`).test(value);

/**
 * The questions in their order: {name, mechanism, cost, width} and what else belongs to one. `cost` is what an answer
 * costs its owner, of a list a whole relationship; `width` is the number of symbols, null if reports differ in length.
 */
export function readRelease(release, schema, nodes) {
  const asked = readQuestions(release, schema, nodes, TABLES);
  const names = asked.map(({ name }) => name);
  check(!hasAlternatives(names), "it asks two questions in one round of which a person answers one");
  return asked;
}

/** The questions of all rounds, as {@link readRelease} reads them, but without the tables that are drawn up later. */
export function readPlan(questions, schema, nodes) {
  return readQuestions(questions, schema, nodes, {});
}

/** Refuse a question that the plan does not announce, or announces with another mechanism or budget. */
export function checkPlanned(release, questions) {
  for (const entry of release) {
    const announced = questions.find(({ ask }) => ask === entry.ask);
    check(announced !== undefined, `it asks “${entry.ask}”, which its plan does not announce`);
    const later = [...(TABLES[entry.ask] ?? []), "unit_length"];
    const kept = Object.entries(entry).filter(([key, value]) => value !== null && !later.includes(key));
    const same = canonical(Object.fromEntries(kept)) === canonical(announced);
    check(same, `it asks “${entry.ask}” otherwise than its plan announces`);
  }
}

function readQuestions(list, schema, nodes, tables) {
  check(Array.isArray(list), "its release is not a list of questions");
  const asked = list.map((entry) => {
    check(isObject(entry), "its release is not a list of questions");
    const { ask, ...budget } = entry;
    check(typeof ask === "string" && typeof budget.mechanism === "string", "a question or a mechanism is not a text");
    if (PYTHON_ONLY.includes(budget.mechanism)) throw pythonOnly(budget.mechanism);
    check(Object.hasOwn(READERS, ask), "it asks a question that this page does not have");
    check(isBudget(budget.epsilon), `the budget of “${ask}” is not a number above 0`);
    return { name: ask, ...READERS[ask](budget, schema, nodes, tables[ask] ?? []) };
  });
  const names = asked.map(({ name }) => name);
  check(new Set(names).size === names.length, "it asks a question twice");
  return asked;
}

function pythonOnly(mechanism) {
  const text =
    `This study perturbs answers with the mechanism “${mechanism}”, which this page does not have. ` +
    "You can take part with privet's Python client: privet participate.";
  return new Refusal("This study needs the Python client", text);
}

/** Refuse unknown fields and missing ones; those with a default may be left out. */
function checkFields(budget, needed, optional, where) {
  checkKeys(budget, [...needed, ...optional.filter((key) => Object.hasOwn(budget, key))], where);
}

/** True if every answer is a number or a category, as every function and mechanism reads it. */
export const isPlain = (domains) => domains.every(({ kind, extras }) => kind !== "several" && extras === 0);

function features(budget, { domains }) {
  checkFields(budget, ["mechanism", "epsilon"], ["sample", "delta", "fill"], "the features' budget");
  check((budget.delta ?? null) === null, "a delta is given where none belongs");
  check((budget.fill ?? "none") === "none", "its reports would be filled up with answers that nobody gave");
  const sample = budget.sample ?? null;
  check(sample === null || (isCount(sample, 1) && sample <= domains.length), "the number of sampled features is not one");
  const isSampled = budget.mechanism === "sampled-response";
  check(!isSampled || domains.every(({ kind }) => kind === "categories"), "sampled-response needs categories");
  const isMixed = budget.mechanism === "mixed-response";
  check(isMixed || isPlain(domains), `“${budget.mechanism}” would read several choices, or answers of their own, as something else`);
  const known = isSampled || isMixed || Object.hasOwn(NUMERIC, budget.mechanism);
  check(known, `its mechanism “${budget.mechanism}” is unknown`);
  const Kind = isSampled ? SampledResponse : isMixed ? MixedResponse : NUMERIC[budget.mechanism];
  const mechanism = guarded(() => new Kind({ ...budget, sample }, domains));
  return { mechanism, cost: mechanism.epsilon, width: mechanism.sampled };
}

function label(budget, { classes }) {
  checkFields(budget, ["mechanism", "epsilon"], [], "the labels' budget");
  check(budget.mechanism === "randomized-response", `its mechanism “${budget.mechanism}” is unknown`);
  check(classes >= 2 && classes <= 2 ** 30, "the labels' budget does not fit");
  const mechanism = guarded(() => new RandomizedResponse(budget, classes));
  return { mechanism, cost: mechanism.epsilon, width: 1 };
}

function neighbours(budget, _, nodes) {
  checkFields(budget, ["mechanism", "epsilon", "one_sided"], [], "the neighbour lists' budget");
  check(budget.mechanism === "adjacency-response", `its mechanism “${budget.mechanism}” is unknown`);
  check(typeof budget.one_sided === "boolean", "the neighbour lists' budget does not fit");
  const mechanism = guarded(() => new AdjacencyResponse(budget, nodes));
  check(!mechanism.tooLong, "a report would name more neighbours than a browser can draw; use the Python client");
  return { mechanism, cost: mechanism.chargedEpsilon, width: null };
}

function resemblance(budget, { classes, domains }, _, tables) {
  check(isPlain(domains), "“resemblance” would read several choices, or answers of their own, as something else");
  const form = tables.length > 0 ? ["unit_length"] : [];
  checkFields(budget, ["mechanism", "epsilon", ...tables], [...form, "most", "sizes"], "“resemblance”");
  check(tables.every((name) => isDigest(budget[name], HASHES[name])), "it does not bind scorer and offers");
  const { scorer, offers, unit_length: unitLength = true } = budget;
  check(typeof unitLength === "boolean" && classes >= 2, "“resemblance” does not fit");
  const mechanism = choice(budget);
  return { mechanism, cost: mechanism.epsilon, width: 1, scorer, offers, unitLength };
}

/** A mechanism that chooses among offered options. */
function choice(budget) {
  check(Object.hasOwn(CHOICES, budget.mechanism), `its mechanism “${budget.mechanism}” is unknown`);
  const { most = 15, sizes = null } = budget;
  check((sizes === null) === (budget.mechanism === "offered-response"), "the sizes of its subsets do not fit");
  return guarded(() => new CHOICES[budget.mechanism]({ ...budget, most }));
}

/** Which arrays a question about everything on the device needs; a scorer of offsets may stand beside friends alone. */
const NEEDED = {
  everything: EVERYTHING,
  features: ["offers", "scorer"],
  friends: ["offers", "table", "mixing", "shares"],
};

function person(budget, { classes, domains }, _, tables) {
  const { reads = "everything", unit_length: unitLength = true, scorer = null, table = null } = budget;
  check(Object.hasOwn(NEEDED, reads), "it reads something that a device does not hold");
  const isRead = reads === "friends" || isPlain(domains);
  check(isRead, "“person” would read several choices, or answers of their own, as something else");
  const needed = NEEDED[reads].filter((name) => tables.includes(name));
  const others = tables.filter((name) => !needed.includes(name));
  const form = tables.length > 0 ? ["unit_length"] : [];
  const optional = ["reads", "most", "sizes", ...form, ...others];
  checkFields(budget, ["mechanism", "epsilon", ...needed], optional, "“person”");
  const isBound = (name) => isDigest(budget[name], HASHES[name]);
  const isFree = (name) => (budget[name] ?? null) === null || (name === "scorer" && isBound(name));
  check(needed.every(isBound) && others.every(isFree), "it does not bind the arrays of “person”");
  check(typeof unitLength === "boolean" && classes >= 2, "“person” does not fit");
  const mechanism = choice(budget);
  const { offers, mixing = null, shares = null } = budget;
  return { mechanism, cost: mechanism.epsilon, width: 1, reads, unitLength, offers, scorer, table, mixing, shares };
}

function friends(budget, { classes }, _, tables) {
  checkFields(budget, ["mechanism", "epsilon", ...tables], ["cap"], "“friends”");
  check(budget.mechanism === "counts", `its mechanism “${budget.mechanism}” is unknown`);
  check(tables.every((name) => isDigest(budget[name], HASHES[name])), "it does not bind the friends' tables");
  check(classes >= 2, "“friends” needs classes");
  const { table, ranks, cap = 32 } = budget;
  const mechanism = guarded(() => new Counts({ ...budget, cap }, classes));
  // This device cannot know that the other end of a pair was given the same tables, so both might count it.
  return { mechanism, cost: 2 * mechanism.epsilon, width: classes, table, ranks };
}
