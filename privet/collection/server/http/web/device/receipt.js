/** A receipt that a participant can keep as a proof: the report in words and bytes, its hash, and when it was confirmed. */

import { toHex } from "../answers/answers.js";
import { sentInWords } from "../answers/comparison.js";
import { element, facts } from "../controls/dom.js";
import { atMost } from "../texts/numbers.js";
import { sha256 } from "../study/study.js";
import { moment, text } from "../texts/texts.js";

/** The receipt as plain values. */
export async function receiptOf(study, node, report) {
  return {
    study: study.id,
    title: study.manifest.title,
    participant: node,
    cost: study.shows ? null : study.cost,
    shown_as_it_is: study.shows === true,
    made: report.made,
    acknowledged: report.sent,
    in_words: sentInWords(study, report.body).map(([question, sent]) => ({ question, sent })),
    report_sha256: await sha256(report.body),
    report: toHex(report.body),
  };
}

/** The receipt as a list for the page. */
export async function receiptFacts(study, node, report) {
  const proof = await receiptOf(study, node, report);
  return facts([
    [text("receipt.stored"), moment(new Date(report.sent))],
    [text("receipt.cost"), study.shows ? text("receipt.shown") : `ε = ${atMost(study.cost)}`],
    [text("receipt.report"), text("receipt.bytes", { count: report.body.length })],
    [text("about.id"), element("code", { class: "id" }, study.id)],
    [text("receipt.hash"), element("code", { class: "id" }, proof.report_sha256)],
  ]);
}

/** Save the receipt as a file on this device. */
export async function saveReceipt(study, node, report) {
  const proof = await receiptOf(study, node, report);
  const url = URL.createObjectURL(new Blob([JSON.stringify(proof, null, 2)], { type: "application/json" }));
  element("a", { href: url, download: `privet-receipt-${proof.study.slice(0, 8)}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
