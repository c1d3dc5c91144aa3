/** The first step: the questions and the draft. */

import { byId } from "../controls/dom.js";
import { forgetDraft, keepDraft, readDraft } from "../device/draft.js";
import { questionForm } from "./form.js";
import { showCheck } from "./sending.js";
import { askFirst, ifReachable, state } from "./state.js";
import { only, refuse, setStep } from "./view.js";

/** Show the questions, with what was entered before a reload. */
export function showQuestions(focus) {
  state.raw = null;
  if (state.form === null) {
    state.form = questionForm(state.study, state.node);
    byId("questions").replaceChildren(state.form.node);
    state.form.restore(readDraft(state.study, state.node));
    noteDraft();
  }
  setStep(0);
  only(["answer", "budget"], focus ? "answer" : null);
}

function noteDraft() {
  const values = state.form.values();
  keepDraft(state.study, state.node, values);
  byId("forget").hidden = Object.keys(values).length === 0;
}

/** Go on to the check; nothing is drawn yet. */
async function review(event) {
  event.preventDefault();
  const raw = state.form.read();
  if (raw === null) return;
  byId("make").disabled = true;
  try {
    await ifReachable(askFirst);
    state.raw = raw;
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

byId("form").addEventListener("submit", review);
byId("form").addEventListener("input", noteDraft);
byId("forget").addEventListener("click", startAgain);
byId("change").addEventListener("click", () => showQuestions(true));
