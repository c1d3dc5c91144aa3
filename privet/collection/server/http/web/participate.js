/** The participant's page: reads the link and the study, finds where the participant stands, and shows that step. */

import { describeStudy } from "./page/about.js";
import { showQuestions } from "./page/answering.js";
import { describeBudget, listenForLimit } from "./page/budget.js";
import { byId } from "./controls/dom.js";
import { showEnded, showSent } from "./page/finishing.js";
import { listenForLanguage, speakWanted } from "./texts/languages.js";
import { exceeds, findReport, overLimit, readLedger } from "./device/ledger.js";
import { readLink, requireBrowser } from "./device/link.js";
import { keepForOffline } from "./device/offline.js";
import { fetchUnchecked } from "./study/public.js";
import { Refusal } from "./study/refusal.js";
import { roundOf } from "./study/round.js";
import { showCheck } from "./page/sending.js";
import { askFirst, ifReachable, state } from "./page/state.js";
import { fetchManifest, nodeOf, phase, readStudy } from "./study/study.js";
import { moment } from "./texts/texts.js";
import { refuse, setStep } from "./page/view.js";
import { checkWithdrawn, firstRound, withdrawnAt } from "./device/withdrawal.js";

/** The ids of the rounds that the link's one names, which anybody may read. */
let manifests = [];

async function start() {
  await speakWanted();
  byId("stuck").remove();
  await begin();
  byId("loading").hidden = true;
  keepForOffline(state.token, manifests);
}

async function begin() {
  try {
    requireBrowser();
    const link = readLink();
    const study = await readStudy((await fetchUnchecked(link.study)) ?? (await fetchManifest()), link.study);
    manifests = [study.id, ...study.manifest.earlier];
    state.node = nodeOf(link.token, study);
    state.token = link.token;
    state.report = findReport(study, state.node);
    if (!state.report?.sent) checkWithdrawn(study);
    state.study = await roundOf(study, state.node, link.token, state.report);
    describeStudy(state.study, state.node);
    setStep(0);
    if (!state.report?.sent) await ifReachable(askFirst);
    await chooseSection();
  } catch (error) {
    refuse(error);
  }
}

/** Where the participant stands: done, a report that waits to be sent, answers to be checked, or nothing yet. */
function chooseSection() {
  const { study, report } = state;
  if (report?.sent) return withdrawnAt(firstRound(study)) ? showEnded("withdrawn") : showSent();
  if (report) return showCheck();
  const ledger = readLedger();
  const now = phase(study);
  if (now === "early") return refuse(Refusal.of("early", { moment: moment(study.opens) }));
  if (now === "over") return refuse(Refusal.of("over", { moment: moment(study.closes) }));
  describeBudget(study, report);
  if (exceeds(ledger, study.cost)) {
    byId("budget").open = true;
    return refuse(overLimit(ledger, study.cost), ["budget"]);
  }
  return state.raw === null ? showQuestions() : showCheck();
}

/** Everything again in another language; what was entered stays. */
function speakAgain() {
  if (state.study === null || !byId("refusal").hidden) return begin();
  state.form = null;
  describeStudy(state.study, state.node);
  return chooseSection();
}

byId("refusal-retry").addEventListener("click", () => window.location.reload());
window.addEventListener("hashchange", () => window.location.reload());
listenForLanguage(speakAgain);
listenForLimit(() => {
  if (state.report === null) chooseSection();
  else describeBudget(state.study, state.report);
});
start();
