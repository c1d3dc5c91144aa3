/** The study's manifest: fetched, checked against the id that the link pins, and understood whole or refused. */

import { sumUp } from "./numbers.js";
import { toHex } from "./answers.js";
import {
  AdjacencyResponse,
  HDS,
  Laplace,
  MultiBit,
  Piecewise,
  RandomizedResponse,
  SampledResponse,
} from "./mechanisms.js";
import { Refusal } from "./refusal.js";

const NUMERIC = { "multi-bit": MultiBit, hds: HDS, piecewise: Piecewise, laplace: Laplace };
const PYTHON_ONLY = ["analytic-gaussian"];
const MOST_FEATURES = 100_000; // what a page can ask for; the Python client has no such limit
const KEYS = [
  ...["format", "version", "title", "purpose", "operator", "eligible", "nodes", "schema", "questions"],
  ...["class_question", "class_names", "release", "directory", "opens", "closes"],
];

/** The manifest's bytes as the server sends them. */
export async function fetchManifest() {
  let response;
  try {
    response = await fetch("/study", { cache: "no-store", credentials: "omit" });
  } catch {
    throw new Refusal("The study could not be loaded", "The server cannot be reached. Check your connection.", true);
  }
  if (!response.ok) {
    const text = `The server answered with status ${response.status} when it was asked for the study.`;
    throw new Refusal("The study could not be loaded", text, response.status >= 500);
  }
  return new Uint8Array(await response.arrayBuffer());
}

/** Why the collector takes no reports now; null if it takes them. Asked before a report is made and charged. */
export async function whyClosed() {
  let answer;
  try {
    const response = await fetch("/status", { cache: "no-store", credentials: "omit" });
    answer = await response.json();
  } catch {
    throw new Refusal("The study could not be loaded", "The server cannot be reached. Check your connection.", true);
  }
  if (answer.open === true) return null;
  return typeof answer.reason === "string" && answer.reason !== "" ? answer.reason : "The study takes no reports now.";
}

/** SHA-256 in hexadecimal. */
export async function sha256(bytes) {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** The study in some manifest bytes, if they are those whose id is pinned. */
export async function readStudy(bytes, pinned) {
  const id = await sha256(bytes);
  if (id !== pinned) {
    const text =
      "The server describes another study than the one that your link names: a question, a range or the privacy budget " +
      "may have been changed. Nothing was asked and nothing was sent. Tell the person who gave you the link.";
    throw new Refusal("This is not the study you were invited to", text, false, { "In your link": pinned, "From the server": id });
  }
  let manifest;
  try {
    manifest = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw unreadable("it is not JSON");
  }
  return { id, ...understand(manifest) };
}

/** Whether reports may be made now: "early", "open" or "over". */
export function phase(study, now = Date.now()) {
  if (now < study.opens.getTime()) return "early";
  return now < study.closes.getTime() ? "open" : "over";
}

/** Which node an enrolment token speaks for: node (4 bytes), serial (4 bytes), signature (16 bytes) in base64url. */
export function nodeOf(token, study) {
  const refusal = new Refusal(
    "Your link has a damaged enrolment token",
    "The part of the link after “token=” is not one that a study issues. Open the link again exactly as you received it.",
  );
  if (!/^[A-Za-z0-9_-]{32}$/.test(token)) throw refusal;
  const raw = Uint8Array.from(atob(token.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  const node = new DataView(raw.buffer).getUint32(0, true);
  if (node >= study.nodes) throw refusal;
  return node;
}

function unreadable(problem) {
  const text = `This page does not understand the study's description: ${problem}. It sends nothing that it does not understand.`;
  return new Refusal("This study cannot be answered here", text);
}

function check(holds, problem) {
  if (!holds) throw unreadable(problem);
}

const isText = (value) => typeof value === "string" && value.trim() !== "";
const isCount = (value, least) => Number.isSafeInteger(value) && value >= least;
const isBudget = (value) => typeof value === "number" && Number.isFinite(value) && value > 0;

function checkKeys(value, keys, where) {
  check(value !== null && typeof value === "object" && !Array.isArray(value), `${where} is not an object`);
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  check(unknown === undefined, `${where} has the unknown field “${unknown}”`);
  const missing = keys.find((key) => !Object.hasOwn(value, key));
  check(missing === undefined, `${where} lacks the field “${missing}”`);
}

function understand(manifest) {
  checkKeys(manifest, KEYS, "the manifest");
  check(manifest.format === "privet-study-2", `its format is “${manifest.format}”`);
  for (const key of ["title", "purpose", "operator", "eligible"]) check(isText(manifest[key]), `${key} is not a text`);
  check(isCount(manifest.nodes, 2) && manifest.nodes < 2 ** 31, "the number of nodes is not one");
  const domains = readSchema(manifest.schema);
  const { classes } = manifest.schema;
  checkTexts(manifest.questions, domains.length, "questions");
  checkTexts(manifest.class_names, classes, "class_names");
  check(manifest.class_question === null || isText(manifest.class_question), "class_question is not a text");
  const { directory } = manifest;
  check(directory === null || (isText(directory) && /^[0-9a-f]{64}$/.test(directory)), "directory is not a hash");
  const [opens, closes] = [manifest.opens, manifest.closes].map((moment) => {
    check(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(moment) && !Number.isNaN(Date.parse(moment)), "a time is not one");
    return new Date(moment);
  });
  check(opens < closes, "it closes before it opens");
  const asked = readRelease(manifest.release);
  const features = readFeatures(asked.features, domains);
  const labels = asked.label ? readLabels(asked.label, classes) : null;
  const neighbours = asked.neighbours ? readNeighbours(asked.neighbours, manifest.nodes) : null;
  check(manifest.schema.private_edges === (neighbours !== null), "its neighbour lists do not fit its schema");
  return {
    ...{ manifest, nodes: manifest.nodes, domains, classes, opens, closes, features, labels, neighbours },
    cost: sumUp([features.epsilon, labels?.epsilon ?? 0, neighbours?.chargedEpsilon ?? 0]),
    question: (feature) => manifest.questions?.[feature] ?? `Feature ${feature}`,
    className: (label) => manifest.class_names?.[label] ?? `Class ${label}`,
    classQuestion: manifest.class_question ?? "Which class do you belong to?",
  };
}

/** The questions by what they ask, in the order in which the report's bytes hold them. */
function readRelease(questions) {
  check(Array.isArray(questions) && questions.length > 0, "its release is not a list of questions");
  const order = ["features", "label", "neighbours"];
  const places = questions.map((question) => order.indexOf(question?.ask));
  check(places.every((place) => place >= 0), "it asks a question that this page does not have");
  check(places[0] === 0 && places.every((place, i) => i === 0 || place > places[i - 1]), "its questions are in another order");
  return Object.fromEntries(questions.map(({ ask, ...budget }) => [ask, budget]));
}

function checkTexts(value, count, where) {
  const fits = value === null || (Array.isArray(value) && value.length === count && value.every(isText));
  check(fits, `${where} are not ${count} texts`);
}

function readSchema(schema) {
  checkKeys(schema, ["version", "features", "classes", "private_edges"], "the schema");
  check(schema.version === 1, `its schema has the version ${schema.version}`);
  check(schema.classes === 0 || isCount(schema.classes, 2), "the number of classes is not one");
  check(typeof schema.private_edges === "boolean", "private_edges is neither true nor false");
  check(Array.isArray(schema.features), "the schema's features are not a list");
  const domains = [];
  for (const entry of schema.features) {
    const kind = Object.hasOwn(entry ?? {}, "categories") ? "categories" : "interval";
    checkKeys(entry, [kind, "repeat"], "a feature");
    check(isCount(entry.repeat, 1), "a feature's repeat is not a number");
    check(domains.length + entry.repeat <= MOST_FEATURES, "it has more features than a page can ask for");
    const domain = kind === "categories" ? readCategories(entry.categories) : readInterval(entry.interval);
    for (let i = 0; i < entry.repeat; i += 1) domains.push(domain);
  }
  check(domains.length > 0, "it has no features");
  return domains;
}

function readInterval(bounds) {
  const numbers = Array.isArray(bounds) && bounds.length === 2 && bounds.every(Number.isFinite);
  check(numbers && bounds[0] < bounds[1] && Number.isFinite(bounds[1] - bounds[0]), "an interval is not one");
  return { kind: "interval", low: bounds[0], high: bounds[1] };
}

function readCategories(count) {
  check(isCount(count, 2) && count <= 2 ** 20, "the number of a feature's categories is not one");
  return { kind: "categories", count, low: 0, high: count - 1 };
}

function readFeatures(budget, domains) {
  const extra = ["sample", "delta", "fill"].filter((key) => Object.hasOwn(budget, key));
  checkKeys(budget, ["mechanism", "epsilon", ...extra], "the features' budget");
  if (PYTHON_ONLY.includes(budget.mechanism)) {
    const text =
      `This study perturbs answers with the mechanism “${budget.mechanism}”, which this page does not have. ` +
      "You can take part with privet's Python client: privet participate.";
    throw new Refusal("This study needs the Python client", text);
  }
  check(isBudget(budget.epsilon), "the features' budget is not a number above 0");
  check((budget.delta ?? null) === null, "a delta is given where none belongs");
  check((budget.fill ?? "none") === "none", "its reports would be filled up with answers that nobody gave");
  const sample = budget.sample ?? null;
  check(sample === null || (isCount(sample, 1) && sample <= domains.length), "the number of sampled features is not one");
  if (budget.mechanism === "sampled-response") {
    check(domains.every(({ kind }) => kind === "categories"), "sampled-response needs categories");
    return guarded(() => new SampledResponse({ ...budget, sample }, domains));
  }
  check(Object.hasOwn(NUMERIC, budget.mechanism), `its mechanism “${budget.mechanism}” is unknown`);
  return guarded(() => new NUMERIC[budget.mechanism]({ ...budget, sample }, domains));
}

function readLabels(budget, classes) {
  checkKeys(budget, ["mechanism", "epsilon"], "the labels' budget");
  check(budget.mechanism === "randomized-response", `its mechanism “${budget.mechanism}” is unknown`);
  check(isBudget(budget.epsilon) && classes >= 2 && classes <= 2 ** 30, "the labels' budget does not fit");
  return guarded(() => new RandomizedResponse(budget, classes));
}

function readNeighbours(budget, nodes) {
  checkKeys(budget, ["mechanism", "epsilon", "one_sided"], "the neighbour lists' budget");
  check(budget.mechanism === "adjacency-response", `its mechanism “${budget.mechanism}” is unknown`);
  check(isBudget(budget.epsilon) && typeof budget.one_sided === "boolean", "the neighbour lists' budget does not fit");
  const mechanism = guarded(() => new AdjacencyResponse(budget, nodes));
  check(!mechanism.tooLong, "a report would name more neighbours than a browser can draw; use the Python client");
  return mechanism;
}

function guarded(build) {
  try {
    return build();
  } catch (error) {
    if (error instanceof RangeError) throw unreadable(error.message.replace(/\.$/, ""));
    throw error;
  }
}
