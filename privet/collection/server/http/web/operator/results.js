/** What people answered, on the operator's page: the collector makes the tables, and this part of the page asks for them. */

import { byId, element } from "../controls/dom.js";
import { askText, Told } from "./requests.js";

const state = { key: "", by: "" };

/** Ask again whenever a report came, somebody was erased, or another group was chosen. */
export async function showResults(summary) {
  const answered = summary.rounds.map((round) => round.answered);
  const key = JSON.stringify([answered, summary.erasures, state.by]);
  if (key === state.key) return;
  state.key = key;
  await offerGroups();
  try {
    put(await askText(`/operator/results?lang=en&by=${encodeURIComponent(state.by)}`));
  } catch (error) {
    if (!(error instanceof Told)) throw error;
    state.key = "";
    byId("results").replaceChildren(element("p", { class: "hint notable", role: "status" }, error.message));
  }
}

/** Nothing of a study stays behind when the key is forgotten. */
export function clearResults() {
  Object.assign(state, { key: "", by: "" });
  byId("results").replaceChildren();
  byId("results-by").replaceChildren();
}

/** Show a part of a page that the collector made; scripts in it would not run, and its policy allows none. */
function put(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  byId("results").replaceChildren(...body.childNodes);
}

/** Name every question by which people can be told apart: the class, and those that are asked. */
async function offerGroups() {
  const choice = byId("results-by");
  if (choice.options.length > 0) return;
  const response = await fetch("/study", { cache: "no-store", credentials: "omit" }).catch(() => null);
  const manifest = response?.ok ? await response.json() : { questions: null, schema: { classes: 0 } };
  const pairs = (manifest.questions ?? []).map((words, i) => [String(i + 1), words]);
  if (manifest.schema.classes !== 0) pairs.unshift(["class", manifest.class_question ?? "Class"]);
  const options = [["", "everybody together"], ...pairs];
  choice.replaceChildren(...options.map(([value, words]) => element("option", { value }, words)));
}

byId("results-by").addEventListener("change", () => {
  state.by = byId("results-by").value;
  state.key = "";
});
