/**
 * What one participant sends, as bytes (little-endian). First the parts of fixed length, question by question:
 * coordinates int32 x m unless all are reported, symbols x m of the mechanism's own width; then a reported list as int32
 * to the end. A member of the panel sends the answers as they are (open_answers.js).
 */

import { clipped, friendCounts, pointsTo, resembles } from "./functions.js";
import { packShown, unpackShown } from "./open_answers.js";

export { fromHex, toHex } from "../study/hex.js";

/** The function that answers each question from the raw answers {features, label, neighbours}, and where its report is kept. */
const ANSWERS = {
  features: ({ mechanism }, study, raw, bits) => mechanism.perturb(raw.features, bits),
  label: ({ mechanism }, study, raw, bits) => ({ label: mechanism.perturb(raw.label, bits) }),
  neighbours: ({ mechanism }, study, raw, bits) => ({ neighbours: mechanism.perturb(raw.neighbours, raw.node, bits) }),
  resemblance(question, study, raw, bits) {
    const position = resembles(clipped(raw.features, study.domains), question, study.classes);
    return { resemblance: question.mechanism.perturb([position, question.offers.length], bits) };
  },
  friends: (question, study, raw, bits) => ({ friends: counted(question, study, raw, bits) }),
  "friends-again": (question, study, raw, bits) => ({ "friends-again": counted(question, study, raw, bits) }),
  person: (question, study, raw, bits) => ({ person: pointed(question, study, raw, bits) }),
  "person-again": (question, study, raw, bits) => ({ "person-again": pointed(question, study, raw, bits) }),
};

function pointed(question, study, raw, bits) {
  const features = question.reads === "friends" ? [] : clipped(raw.features, study.domains);
  const position = pointsTo(features, raw.neighbours ?? [], question, study.classes);
  return question.mechanism.perturb([position, question.offers.length], bits);
}

function counted(question, study, raw, bits) {
  const { mechanism } = question;
  return mechanism.perturb(friendCounts(raw.node, raw.neighbours, question, study.classes, mechanism.cap), bits);
}

/** Perturb the raw answers, each question once, in the order of the release. */
export function perturb(study, raw, bits) {
  if (study.shows) return { features: raw.features, label: raw.label, ...(raw.neighbours ? { neighbours: raw.neighbours } : {}) };
  return Object.assign({}, ...study.asked.map((question) => ANSWERS[question.name](question, study, raw, bits)));
}

/** The body of a report. */
export function pack(study, report) {
  if (study.shows) return packShown(study, report);
  const parts = [];
  for (const { name, mechanism, width } of study.asked.filter(isFixed)) {
    if (name === "features" && width < mechanism.dimension) parts.push(integers(report.coordinates, 4));
    parts.push(integers(symbolsOf(report, name), mechanism.symbolBytes));
  }
  for (const { name } of study.asked.filter((question) => !isFixed(question))) parts.push(integers(report[name], 4));
  const body = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    body.set(part, offset);
    offset += part.length;
  }
  return body;
}

/** The report that a body stands for: what {@link pack} was given. */
export function unpack(study, body) {
  if (study.shows) return unpackShown(study, body);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  let offset = 0;
  const take = (count, bytes) => {
    const values = Array.from({ length: count }, (_, i) => readInteger(view, offset + i * bytes, bytes));
    offset += count * bytes;
    return values;
  };
  const report = {};
  for (const { name, mechanism, width } of study.asked.filter(isFixed)) {
    if (name === "features") report.coordinates = width < mechanism.dimension ? take(width, 4) : null;
    const symbols = take(width, mechanism.symbolBytes);
    if (name === "features") report.symbols = symbols;
    else report[name] = isSingle(name) ? symbols[0] : symbols;
  }
  for (const { name } of study.asked.filter((question) => !isFixed(question))) {
    report[name] = take((body.length - offset) / 4, 4);
  }
  return report;
}

/** The JSON form of a report: one entry for each question, as the collector reads it. */
export function toJson(study, report) {
  if (study.shows) return report;
  const entries = study.asked.map(({ name, mechanism }) => {
    if (name !== "features") return [name, isSingle(name) || name === "neighbours" ? report[name] : { symbols: report[name] }];
    const { coordinates, symbols } = report;
    if (mechanism.dimension === 1) return [name, symbols[0]];
    return [name, coordinates === null ? { symbols } : { coordinates, symbols }];
  });
  return Object.fromEntries(entries);
}

const isFixed = ({ width }) => width !== null;
const isSingle = (name) => ["label", "resemblance", "person", "person-again"].includes(name);

function symbolsOf(report, name) {
  if (name === "features") return report.symbols;
  return isSingle(name) ? [report[name]] : report[name];
}

function integers(values, bytes) {
  const view = new DataView(new ArrayBuffer(values.length * bytes));
  values.forEach((value, i) => {
    if (bytes === 8) view.setBigInt64(8 * i, BigInt(value), true);
    else view[`setInt${8 * bytes}`](bytes * i, value, true);
  });
  return new Uint8Array(view.buffer);
}

function readInteger(view, offset, bytes) {
  return bytes === 8 ? Number(view.getBigInt64(offset, true)) : view[`getInt${8 * bytes}`](offset, true);
}
