/** A manifest (privet-study-4): understood whole or refused; see privet/collection/study/manifest.py. */

import { aboutLists, jointCost } from "./chain.js";
import { check, checkKeys, isCount, isObject, isText } from "./checks.js";
import { checkPlanned, readPlan, readRelease } from "./questions.js";

const MOST_FEATURES = 100_000; // what a page can ask for; the Python client has no such limit
const MOST_DAYS = 36_600;
const MOST_CHOICES = 30;
const MOST_EARLIER = 100; // each of them is fetched
const KEYS = [
  ...["format", "version", "title", "purpose", "operator", "eligible", "nodes", "schema", "questions"],
  ...["class_question", "release", "directory", "opens", "closes"],
  ...["earlier", "people", "panel", "plan", "inputs", "delete_after"],
];
const isHash = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const isDigest = (value) => typeof value === "string" && value.startsWith("sha256:") && isHash(value.slice(7));
const orNull = (value, fits) => value === null || fits(value);

/** The content of a manifest, with the mechanisms of its questions. */
export function understand(manifest) {
  const published = Object.hasOwn(manifest ?? {}, "publish_results"); // a key that is there only if it is true
  checkKeys(manifest, published ? [...KEYS, "publish_results"] : KEYS, "the manifest");
  check(manifest.format === "privet-study-4", `its format is “${manifest.format}”`);
  check(isCount(manifest.version, 1), "its version is not a number");
  for (const key of ["title", "purpose", "operator", "eligible"]) check(isText(manifest[key]), `${key} is not a text`);
  check(isCount(manifest.nodes, 2) && manifest.nodes < 2 ** 31, "the number of nodes is not one");
  const schema = readSchema(manifest.schema);
  const { domains, classes, classNames } = schema;
  checkTexts(manifest.questions, domains.length, "questions");
  check(orNull(manifest.class_question, isText), "class_question is not a text");
  check(!published || manifest.publish_results === true, "publish_results is not true");
  checkRounds(manifest);
  const [opens, closes] = [manifest.opens, manifest.closes].map((moment) => {
    const isForm = typeof moment === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(moment);
    check(isForm && !Number.isNaN(Date.parse(moment)), "a time is not one");
    return new Date(moment);
  });
  check(opens < closes, "it closes before it opens");
  const asked = readRelease(manifest.release, schema, manifest.nodes);
  check(asked.length > 0 || manifest.panel !== null, "it asks nobody anything");
  const planned = manifest.plan === null ? asked : readPlan(manifest.plan.questions, schema, manifest.nodes);
  if (manifest.plan !== null) checkPlanned(manifest.release, manifest.plan.questions);
  check(aboutLists(planned).length > 0 === manifest.schema.private_edges, "its neighbour lists do not fit its schema");
  const mechanism = (name) => asked.find((question) => question.name === name)?.mechanism ?? null;
  return {
    ...{ manifest, nodes: manifest.nodes, domains, classes, classNames, opens, closes, asked, planned },
    ...{ features: mechanism("features"), labels: mechanism("label"), neighbours: mechanism("neighbours") },
    shows: false,
  };
}

/** The fields that bind a round to others and to public data. */
function checkRounds({ directory, earlier, people, panel, plan, inputs, delete_after: days }) {
  check(orNull(directory, isHash), "directory is not a hash");
  check(Array.isArray(earlier) && earlier.every(isHash), "earlier is not a list of rounds");
  check(earlier.length <= MOST_EARLIER, `earlier names more than ${MOST_EARLIER} rounds`);
  check(new Set(earlier).size === earlier.length, "earlier names a round twice");
  check(orNull(people, isDigest) && orNull(panel, isDigest), "people or panel is not a hash");
  checkKeys(inputs, ["edges", "labels"], "inputs");
  check(orNull(inputs.edges, isDigest) && orNull(inputs.labels, isDigest), "inputs are not hashes");
  if (plan !== null) {
    checkKeys(plan, ["system", "settings", "questions"], "the plan");
    check(isObject(plan.settings), "the plan has no settings");
    check(isText(plan.system), "the plan names no system");
  }
  check(orNull(days, (value) => isCount(value, 0) && value <= MOST_DAYS), "delete_after is not a number of days");
}

function checkTexts(value, count, where) {
  check(orNull(value, Array.isArray), `${where} are not ${count} texts`);
  check(value === null || (value.length === count && value.every(isText)), `${where} are not ${count} texts`);
}

function readSchema(schema) {
  checkKeys(schema, ["version", "features", "classes", "private_edges"], "the schema");
  check(schema.version === 1, `its schema has the version ${schema.version}`);
  const { count: classes, names: classNames } = readCounted(schema.classes);
  check(classes === 0 || isCount(classes, 2), "the number of classes is not one");
  check(typeof schema.private_edges === "boolean", "private_edges is neither true nor false");
  check(Array.isArray(schema.features), "the schema's features are not a list");
  const domains = [];
  for (const entry of schema.features) {
    const kind = ["categories", "several"].find((name) => Object.hasOwn(entry ?? {}, name)) ?? "interval";
    const own = ["skip", "needs"].filter((name) => Object.hasOwn(entry ?? {}, name)); // there only if they say something
    checkKeys(entry, [kind, "repeat", ...own], "a feature");
    check(isCount(entry.repeat, 1), "a feature's repeat is not a number");
    check(domains.length + entry.repeat <= MOST_FEATURES, "it has more features than a page can ask for");
    const plain = kind === "interval" ? readInterval(entry.interval) : readCategories(entry[kind], kind);
    const domain = { ...plain, ...readOwn(entry, domains) };
    for (let i = 0; i < entry.repeat; i += 1) domains.push(domain);
  }
  check(domains.length > 0, "it has no features");
  return { domains, classes, classNames };
}

/** A number, or names that are counted. */
function readCounted(value) {
  if (!Array.isArray(value)) return { count: value, names: null };
  check(value.every(isText) && new Set(value).size === value.length, "its names are not different texts");
  return { count: value.length, names: value };
}

function readInterval(bounds) {
  const numbers = Array.isArray(bounds) && bounds.length === 2 && bounds.every(Number.isFinite);
  check(numbers && bounds[0] < bounds[1] && Number.isFinite(bounds[1] - bounds[0]), "an interval is not one");
  return { kind: "interval", low: bounds[0], high: bounds[1] };
}

function readCategories(value, kind) {
  const { count, names } = readCounted(value);
  const most = kind === "several" ? MOST_CHOICES : 2 ** 20;
  check(isCount(count, 2) && count <= most, "the number of a feature's categories is not one");
  return { kind, count, names, low: 0, high: kind === "several" ? 2 ** count - 1 : count - 1 };
}

/** Answers of their own: "prefer not to say", and that a question does not apply without an answer to an earlier one. */
function readOwn({ skip = false, needs = null }, earlier) {
  check(typeof skip === "boolean", "skip is neither true nor false");
  const shaped = needs === null || (Array.isArray(needs) && needs.length === 2 && Array.isArray(needs[1]));
  check(shaped, "the condition of a question is not one");
  if (needs === null) return { skip, needs, extras: Number(skip) };
  const [column, codes] = needs;
  const other = isCount(column, 0) ? earlier[column] : undefined;
  const known = codes.length > 0 && codes.every((code) => isCount(code, 0) && code < (other?.count ?? 0));
  check(other?.kind === "categories" && known, "the condition of a question is not one");
  return { skip, needs: { column, codes }, extras: Number(skip) + 1 };
}
