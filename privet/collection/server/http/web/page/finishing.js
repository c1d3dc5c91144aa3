/** The last step: the receipt, a withdrawal, or the end without a report. */

import { describeBudget } from "./budget.js";
import { bytesOf, sentOf } from "../answers/comparison.js";
import { withdraw } from "../device/delivery.js";
import { byId, element } from "../controls/dom.js";
import { forgetPublic } from "../device/offline.js";
import { receiptFacts, saveReceipt } from "../device/receipt.js";
import { state } from "./state.js";
import { text } from "../texts/texts.js";
import { inLanguage, only, setStep, wants } from "./view.js";
import { markWithdrawn } from "../device/withdrawal.js";

/** Show that the collector has the report. */
export async function showSent(focus) {
  const { study, node, report } = state;
  byId("receipt").replaceChildren(await receiptFacts(study, node, report));
  const words = element("p", { class: "hint" }, text(study.shows ? "sent.as-shown" : "sent.chance"));
  byId("sent-values").replaceChildren(words, sentOf(study, report.body));
  byId("sent-report").replaceChildren(bytesOf(study, report.body));
  describeBudget(study, report);
  setStep(2);
  only(["sent", "budget"], focus ? "sent" : null);
}

/** Have everything erased that this person sent. */
async function takeBack() {
  const { study, token } = state;
  if (!(await wants("withdraw"))) return;
  byId("withdraw").disabled = true;
  byId("withdraw-progress").textContent = text("withdraw.asking");
  try {
    await withdraw(token);
    markWithdrawn(study);
    await forgetPublic();
    showEnded("withdrawn", true);
    byId("withdraw-progress").textContent = "";
  } catch (error) {
    byId("withdraw-progress").textContent = text("withdraw.failed", { problem: inLanguage(error.message) });
  }
  byId("withdraw").disabled = false;
}

/** The end without a report: "declined" (none was made) or "withdrawn" (erased by the collector). */
export function showEnded(how, focus) {
  byId("ended-heading").textContent = text(`ended.${how}.heading`);
  byId("ended-words").textContent = text(`ended.${how}.text`);
  describeBudget(state.study, state.report, true);
  setStep(null);
  only(["ended", "budget"], focus ? "ended" : null);
}

byId("withdraw").addEventListener("click", takeBack);
byId("save").addEventListener("click", () => saveReceipt(state.study, state.node, state.report));
