/** A table of each answer, what may be sent for it, and what was sent. */

import { toHex, toJson, unpack } from "./answers.js";
import { element, scrolling, table } from "../controls/dom.js";
import { kindsOf } from "../kinds/index.js";
import { text } from "../texts/texts.js";

const MOST_ROWS = 12;
const MOST_SHOWN = 8192;

/** A table of the answers, before anything is made of them. */
export function answersOf(study, raw) {
  const rows = kindsOf(study).flatMap((kind) => kind.answered(study, raw));
  return listed(text("check.caption"), [text("check.question"), text("check.answer")], rows);
}

/** A table of what may be sent for each question, with its probabilities: the same for everybody. */
export function possibilities(study) {
  const parts = kindsOf(study).map((kind) => kind.cost(study)).filter((part) => part !== null);
  const headings = [text("check.question"), text("check.may")];
  return table(text("check.may-caption"), headings, parts.map(({ name, sent }) => [name, sent]), { class: "pairs" });
}

function sentRows(study, body) {
  const report = unpack(study, body);
  return kindsOf(study).flatMap((kind) => kind.sent(study, report));
}

/** What was sent as pairs of texts: the question, and what stands in the report for it. */
export function sentInWords(study, body) {
  return sentRows(study, body).map((row) => row.map((cell) => cell.textContent ?? cell));
}

/** A table of what was sent. */
export function sentOf(study, body) {
  const rows = sentRows(study, body);
  return listed(text("sent.caption"), [text("check.question"), text("sent.what")], rows, "pairs sent-values");
}

function listed(caption, headings, rows, kind = "pairs") {
  const made = table(caption, headings, rows, { class: kind });
  return rows.length > MOST_ROWS ? scrolling(caption, made) : made;
}

/** A body in hexadecimal and as plain values. */
export function bytesOf(study, body) {
  const hex = toHex(body);
  const json = JSON.stringify(toJson(study, unpack(study, body)));
  const cut = (long) => element("code", {}, long.length > MOST_SHOWN ? `${long.slice(0, MOST_SHOWN)}…` : long);
  return element(
    "div",
    {},
    element("p", {}, text("bytes.count", { count: body.length })),
    scrolling(text("bytes.hex"), cut(hex)),
    element("p", {}, text("bytes.plain")),
    scrolling(text("bytes.json"), cut(json)),
  );
}
