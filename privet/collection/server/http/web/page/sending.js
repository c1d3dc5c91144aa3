/**
 * The second step: check the answers and what may be sent for them, then send or not.
 *
 * The report is drawn when "Send" is pressed, and shown when the collector has it. Whoever saw it before could choose by
 * the result whether it is sent, and then its probabilities, which epsilon bounds, would be others.
 */

import { pack, perturb } from "../answers/answers.js";
import { SystemBits } from "../mechanisms/bits.js";
import { describeBudget } from "./budget.js";
import { answersOf, possibilities } from "../answers/comparison.js";
import { deliver } from "../device/delivery.js";
import { byId } from "../controls/dom.js";
import { showEnded, showSent } from "./finishing.js";
import { acknowledge, markTried, reserve } from "../device/ledger.js";
import { forgetPublic } from "../device/offline.js";
import { patiently } from "../device/patience.js";
import { Refusal } from "../study/refusal.js";
import { askPersonally, forgetAnswers, state } from "./state.js";
import { phase } from "../study/study.js";
import { moment, text } from "../texts/texts.js";
import { inLanguage, only, refuse, setStep, wants } from "./view.js";

const nudge = new EventTarget();

/** Show the answers and what may be sent for them; of a report that was made, that it waits to be sent. */
export function showCheck(focus) {
  const { study, raw, report } = state;
  const key = report !== null ? "check.words-made" : study.shows ? "check.words-shown" : "check.words";
  byId("check-words").textContent = text(key);
  byId("comparison").hidden = report !== null;
  byId("comparison").replaceChildren(...(report === null ? [answersOf(study, raw), possibilities(study)] : []));
  for (const id of ["decline", "change"]) byId(id).hidden = report !== null;
  describeBudget(study, report);
  setStep(1);
  only(["check", "budget"], focus ? "check" : null);
}

/** Forget the answers; nothing was drawn, so nothing is spent. */
async function decline() {
  if (!(await wants("decline"))) return;
  forgetAnswers();
  await forgetPublic();
  showEnded("declined", true);
}

/** Perturb once, and store with the cost before anything else happens; if another tab was first, its report counts. */
async function draw(onTrouble) {
  const { study, node, raw } = state;
  await patiently(askPersonally, onTrouble, nudge); // a report that the collector would not take is not drawn
  state.report = await reserve(study, node, () => {
    if (phase(study) !== "open") throw Refusal.of("over", { moment: moment(study.closes) });
    return pack(study, perturb(study, raw, new SystemBits()));
  });
  forgetAnswers();
  showCheck();
}

async function send() {
  const { study, node, token } = state;
  for (const id of ["send", "decline", "change"]) byId(id).disabled = true;
  byId("progress").className = "";
  byId("progress").textContent = text("check.sending");
  const onTrouble = (sentence, seconds) => {
    byId("progress").className = "waiting";
    const why = navigator.onLine === false ? text("delivery.offline") : inLanguage(sentence);
    const kept = text(state.report === null ? "check.undrawn" : "check.again", { seconds });
    byId("progress").textContent = `${why} ${kept}`;
    byId("nudge").hidden = false;
  };
  try {
    if (state.report === null) await draw(onTrouble);
    else await patiently(askPersonally, onTrouble, nudge); // one that was drawn long ago may be taken no more
    state.report = await markTried(study, node);
    if (state.report === null) throw Refusal.of("taken-back");
    await deliver(study, token, state.report.body, onTrouble, nudge);
    state.report = await acknowledge(study, node);
    await showSent(true);
  } catch (error) {
    if (byId("ended").hidden) {
      describeBudget(study, state.report, state.report === null);
      refuse(error, state.report === null ? ["budget"] : ["check", "budget"], true);
    }
  }
  for (const id of ["send", "decline", "change"]) byId(id).disabled = false;
  byId("nudge").hidden = true;
  byId("progress").textContent = "";
}

byId("send").addEventListener("click", send);
byId("decline").addEventListener("click", decline);
byId("nudge").addEventListener("click", () => nudge.dispatchEvent(new Event("nudge")));
