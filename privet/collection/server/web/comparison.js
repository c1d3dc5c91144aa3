/** The raw answers beside the report, and the report byte for byte. */

import { toHex, toJson, unpack } from "./answers.js";
import { element, scrolling, table } from "./dom.js";
import { rawInWords, symbolInWords } from "./words.js";

const MOST_ROWS = 500;

/** A table of what was answered (`raw`, or null if that is no longer known) and what will be sent. */
export function comparison(study, raw, report) {
  const chosen = report.coordinates ?? [...study.domains.keys()];
  const unknown = "no longer known here";
  const before = (value) => (raw === null ? unknown : value());
  const rows = chosen.slice(0, MOST_ROWS).map((feature, place) => {
    const domain = study.domains[feature];
    const sent = symbolInWords(study.features, report.symbols[place], domain);
    return [study.question(feature), before(() => rawInWords(raw.features[feature], domain)), sent];
  });
  if (chosen.length > MOST_ROWS) rows.push([`${chosen.length - MOST_ROWS} more`, "…", "…"]);
  if (study.labels) {
    const sent = study.className(report.label);
    rows.push([study.classQuestion, before(() => study.className(raw.label)), sent]);
  }
  if (study.neighbours) {
    rows.push(["Your connections", before(() => listInWords(raw.neighbours)), listInWords(report.neighbours)]);
  }
  const silent = study.domains.length - chosen.length;
  if (silent > 0) {
    const name = silent === 1 ? "1 other answer" : `${silent.toLocaleString("en")} other answers`;
    rows.push([name, raw === null ? unknown : "stays here", "nothing"]);
  }
  const headings = ["Question", "Your answer", "What will be sent"];
  const made = table("Your answers beside the report", headings, rows, { class: "compare" });
  return rows.length > 12 ? scrolling("Your answers beside the report", made) : made;
}

function listInWords(ids) {
  if (ids.length === 0) return "nobody";
  const few = ids.slice(0, 100).join(", ");
  return ids.length > 100 ? `${few} and ${(ids.length - 100).toLocaleString("en")} more` : few;
}

/** A body in hexadecimal and as plain values. */
export function bytesOf(study, body) {
  const shown = toHex(body.slice(0, 2048));
  const report = toJson(study, unpack(study, body));
  const json = JSON.stringify(report);
  return element(
    "div",
    {},
    element("p", {}, `${body.length.toLocaleString("en")} bytes, after the 32 bytes of the study's id:`),
    scrolling("The report in hexadecimal", element("code", {}, body.length > 2048 ? `${shown}…` : shown)),
    element("p", {}, "The same as plain values:"),
    scrolling("The report as JSON", element("code", {}, json.length > 8192 ? `${json.slice(0, 8192)}…` : json)),
  );
}
