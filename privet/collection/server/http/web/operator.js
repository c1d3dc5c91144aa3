/** The operator's page: asks for the key, reads the summary every few seconds, and shows it. */

import { byId } from "./controls/dom.js";
import { closeRound, openNext, showActions } from "./operator/actions.js";
import { ask, download, remember, Told } from "./operator/requests.js";
import { clearResults, showResults } from "./operator/results.js";
import { clearRounds, showRounds } from "./operator/rounds.js";
import { showScreening } from "./operator/screening.js";
import { showStudy } from "./operator/study.js";

const EVERY = 5000;
const WHILE_COMPUTING = 1500;
const state = { summary: null, timer: 0 };

function showGate(problem = "") {
  clearTimeout(state.timer);
  byId("gate").hidden = false;
  byId("board").hidden = true;
  byId("leave").hidden = true;
  byId("gate-problem").hidden = problem === "";
  byId("gate-problem").textContent = problem;
  byId("key").setAttribute("aria-invalid", problem === "" ? "false" : "true");
  byId("key").focus();
}

async function refresh() {
  clearTimeout(state.timer);
  try {
    const { status, document: summary } = await ask("/operator/summary");
    if (status === 401) return forget("This is not the operator's key of this study.");
    if (status !== 200) throw new Told(summary.error ?? `The collector answered with status ${status}.`);
    byId("offline").hidden = true;
    show(summary);
  } catch (error) {
    if (!(error instanceof Told)) throw error;
    if (state.summary === null) return showGate(error.message);
    byId("offline").textContent = `${error.message} The figures below are those of the last answer.`;
    byId("offline").hidden = false;
  }
  state.timer = setTimeout(refresh, state.summary.next.running ? WHILE_COMPUTING : EVERY);
  return undefined;
}

function show(summary) {
  const before = state.summary;
  state.summary = summary;
  for (const [id, hidden] of [["gate", true], ["board", false], ["leave", false]]) byId(id).hidden = hidden;
  showStudy(summary);
  showScreening(summary.screening);
  showRounds(summary.rounds, keep);
  showActions(summary);
  showResults(summary);
  if (before !== null && before.rounds.length < summary.rounds.length) announce(`Round ${summary.rounds.length} is open.`);
}

function announce(sentence) {
  byId("announce").textContent = sentence;
}

function forget(problem = "") {
  remember(null);
  state.summary = null;
  clearRounds();
  clearResults();
  announce("");
  showGate(problem);
}

/** Run something that may fail with words for the operator, and announce how it went. */
async function told(action) {
  try {
    const sentence = await action();
    if (sentence === null) return;
    announce(sentence);
  } catch (error) {
    if (!(error instanceof Told)) throw error;
    announce(error.message);
  }
  byId("announce").scrollIntoView({ block: "nearest" });
}

async function keep(path, button) {
  button.disabled = true;
  await told(async () => `Downloaded ${await download(path)}.`);
  button.disabled = false;
  button.focus();
}

byId("gate-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const key = byId("key").value.trim();
  if (key === "") return showGate("Enter the key.");
  remember(key);
  byId("key").value = "";
  return refresh();
});
byId("leave").addEventListener("click", () => forget());
byId("close").addEventListener("click", () => told(() => closeRound(state.summary)).then(refresh));
byId("next-form").addEventListener("submit", (event) => {
  event.preventDefault();
  told(() => openNext(state.summary)).then(refresh);
});
byId("results-by").addEventListener("change", () => showResults(state.summary));
for (const form of ["results", "results-csv"]) {
  byId(`${form}-file`).addEventListener("click", () => keep(`/operator/export?form=${form}`, byId(`${form}-file`)));
}
byId("record").addEventListener("click", () => keep("/operator/export?form=record", byId("record")));
showGate();
