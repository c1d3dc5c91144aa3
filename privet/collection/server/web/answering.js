/** The first step: the questions, the draft, and the report that is made of the answers once. */

import { pack, perturb } from "./answers.js";
import { SystemBits } from "./bits.js";
import { byId } from "./dom.js";
import { forgetDraft, keepDraft, readDraft } from "./draft.js";
import { questionForm } from "./form.js";
import { reserve } from "./ledger.js";
import { Refusal } from "./refusal.js";
import { showCheck } from "./sending.js";
import { askFirst, ifReachable, state } from "./state.js";
import { phase } from "./study.js";
import { moment } from "./texts.js";
import { only, refuse } from "./view.js";

/** Show the questions, with what was entered before a reload. */
export function showQuestions(focus) {
  if (state.form === null) {
    state.form = questionForm(state.study, state.node);
    byId("questions").replaceChildren(state.form.node);
    state.form.restore(readDraft(state.study, state.node));
    noteDraft();
  }
  only(["answer", "budget"], focus ? "answer" : null);
}

function noteDraft() {
  const values = state.form.values();
  keepDraft(state.study, state.node, values);
  byId("forget").hidden = Object.keys(values).length === 0;
}

/** Perturb once, and store before anything else happens. */
async function makeReport(event) {
  event.preventDefault();
  const { study, node } = state;
  const raw = state.form.read();
  if (raw === null) return;
  byId("make").disabled = true;
  try {
    await ifReachable(askFirst);
    let fresh = false;
    state.report = await reserve(study, node, () => {
      if (phase(study) !== "open") throw Refusal.of("over", { moment: moment(study.closes) });
      fresh = true;
      return pack(study, perturb(study, raw, new SystemBits()));
    });
    state.raw = fresh ? raw : null; // another tab was first: its report counts, whatever was entered here
    forgetDraft(study, node);
    showCheck(true);
  } catch (error) {
    refuse(error, ["budget"], true);
  }
  byId("make").disabled = false;
}

function startAgain() {
  forgetDraft(state.study, state.node);
  state.form = null;
  showQuestions(true);
}

byId("form").addEventListener("submit", makeReport);
byId("form").addEventListener("input", noteDraft);
byId("forget").addEventListener("click", startAgain);
