/** Where this participant stands, for all steps of the page. Raw answers live here and in the draft, nowhere else. */

import { mayReport } from "../device/delivery.js";
import { byId } from "../controls/dom.js";
import { forgetDraft } from "../device/draft.js";
import { findReport, refund } from "../device/ledger.js";
import { Refusal } from "../study/refusal.js";
import { phase, whyClosed } from "../study/study.js";
import { retold } from "../texts/texts.js";
import { checkWithdrawn } from "../device/withdrawal.js";

/** The study, the token and its node, the form, the raw answers while they are needed, and the report once it is made. */
export const state = { study: null, token: "", node: 0, form: null, raw: null, report: null };

/** Stop before anything is asked, made or sent if the collector takes no reports; refund one that never left. */
export async function askFirst() {
  const { study, node, report } = state;
  checkWithdrawn(study);
  if (phase(study) === "early" || (phase(study) === "over" && !report)) return; // the page knows why by itself
  const why = await whyClosed(study);
  if (why === null || report?.tried) return; // one that was sent may be stored: the collector still confirms it
  const reason = retold(why) ?? why;
  if (!report) throw Refusal.of("closed", { reason });
  await refund(study, node, why);
  state.report = null;
  throw Refusal.of("closed-refunded", { reason });
}

/**
 * The same for this person: stop if the collector has another report of theirs, or has erased it. Asked when "Send" is
 * pressed and not before, so that the collector does not hear of people who only read.
 */
export async function askPersonally() {
  await askFirst();
  const { study, node, token } = state;
  const isTried = () => {
    state.report = findReport(study, node); // another tab may have made it, or sent it meanwhile
    return Boolean(state.report?.tried);
  };
  if (isTried()) return;
  try {
    await mayReport(study, token);
  } catch (error) {
    if (isTried()) return;
    if (!error.temporary && state.report) {
      await refund(study, node, error.message);
      state.report = null;
    }
    throw error;
  }
}

/** Without a connection nothing is known about the collector; a report that it will not take is refunded later. */
export const ifReachable = (question) =>
  question().catch((error) => {
    if (!error.temporary) throw error;
  });

/** The raw answers are gone from the page as soon as they are no longer needed. */
export function forgetAnswers() {
  forgetDraft(state.study, state.node);
  state.raw = null;
  state.form?.clear();
  state.form = null;
  byId("questions").replaceChildren();
  byId("comparison").replaceChildren();
}
