/** The second step: check the report, then send it or not. */

import { unpack } from "./answers.js";
import { describeBudget } from "./budget.js";
import { bytesOf, comparison } from "./comparison.js";
import { confirmed } from "./confirm.js";
import { deliver } from "./delivery.js";
import { byId } from "./dom.js";
import { showEnded, showSent } from "./finishing.js";
import { acknowledge, markTried, refund } from "./ledger.js";
import { patiently } from "./patience.js";
import { Refusal } from "./refusal.js";
import { askFirst, forgetAnswers, state } from "./state.js";
import { text } from "./texts.js";
import { inLanguage, only, refuse, setStep } from "./view.js";

/** The reason that the ledger keeps; the catalogues have it in other languages. */
export const NOT_SENT = "You decided not to send it.";

const nudge = new EventTarget();

/** Show the report that was made, beside the answers if they are still known. */
export function showCheck(focus) {
  const { study, raw, report } = state;
  byId("check-words").textContent = text(study.shows ? "check.words-shown" : raw ? "check.words" : "check.words-earlier");
  byId("comparison").replaceChildren(comparison(study, raw, unpack(study, report.body)));
  byId("bytes").replaceChildren(bytesOf(study, report.body));
  byId("decline").hidden = report.tried !== null;
  describeBudget(study, report);
  setStep(1);
  only(["check", "budget"], focus ? "check" : null);
}

/** Destroy the report, which never left this device. */
async function decline() {
  const { study, node } = state;
  if (!(await confirmed("decline"))) return;
  if ((await refund(study, node, NOT_SENT)) === null) return; // it left in the meantime, perhaps from another tab
  state.report = null;
  nudge.dispatchEvent(new Event("nudge"));
  forgetAnswers();
  showEnded("declined", true);
}

async function send() {
  const { study, node, token } = state;
  byId("send").disabled = true;
  byId("progress").className = "";
  byId("progress").textContent = text("check.sending");
  const onTrouble = (sentence, seconds) => {
    byId("progress").className = "waiting";
    const why = navigator.onLine === false ? text("delivery.offline") : inLanguage(sentence);
    byId("progress").textContent = `${why} ${text("check.again", { seconds })}`;
    byId("nudge").hidden = false;
  };
  try {
    await patiently(() => state.report && askFirst(), onTrouble, nudge); // reached once before anything leaves
    state.report = await markTried(study, node);
    if (state.report === null) throw Refusal.of("taken-back");
    byId("decline").hidden = true;
    await deliver(study, token, state.report.body, onTrouble, nudge);
    state.report = await acknowledge(study, node);
    forgetAnswers();
    await showSent(true);
  } catch (error) {
    if (byId("ended").hidden) {
      describeBudget(study, state.report, state.report === null);
      refuse(error, state.report === null ? ["budget"] : ["check", "budget"], true);
    }
  }
  byId("send").disabled = false;
  byId("nudge").hidden = true;
  byId("progress").textContent = "";
}

byId("send").addEventListener("click", send);
byId("decline").addEventListener("click", decline);
byId("nudge").addEventListener("click", () => nudge.dispatchEvent(new Event("nudge")));
