/** The raw answers beside the report, and the report byte for byte. */

import { toHex, toJson, unpack } from "./answers.js";
import { element, scrolling, table } from "./dom.js";
import { kindsOf } from "./kinds/index.js";
import { text } from "./texts.js";

const MOST_ROWS = 12;
const MOST_SHOWN = 8192;

/** A table of what was answered (`raw`, or null if that is no longer known) and what will be sent. */
export function comparison(study, raw, report) {
  const rows = kindsOf(study).flatMap((kind) => kind.rows(study, raw, report));
  const shown = rows.map(([question, before, after]) => [question, before ?? text("check.unknown"), after]);
  const headings = [text("check.question"), text("check.answer"), text("check.sent")];
  const made = table(text("check.caption"), headings, shown, { class: "compare" });
  return rows.length > MOST_ROWS ? scrolling(text("check.caption"), made) : made;
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
