/** The participant's page: read, answer, check, send. Raw answers live in `state.raw` until the report is sent. */

import { pack, perturb, toHex, toJson, unpack } from "./answers.js";
import { SystemBits } from "./bits.js";
import { deliver } from "./delivery.js";
import { byId, element, facts, scrolling, show, table } from "./dom.js";
import { budgetBar, guessBars } from "./figures.js";
import { questionForm } from "./form.js";
import { acknowledge, exceeds, findReport, overLimit, readLedger, reserve, setLimit, spent } from "./ledger.js";
import { certainty, oddsFactor, tidy } from "./numbers.js";
import { Refusal } from "./refusal.js";
import { fetchManifest, nodeOf, phase, readStudy, sha256 } from "./study.js";
import { inOneSentence, parts, rawInWords, symbolInWords, unprotected } from "./words.js";

const MOST_ROWS = 500;
const SECTIONS = ["refusal", "cost", "budget", "answer", "check", "sent"];
const state = { study: null, token: "", node: 0, form: null, raw: null, report: null };
const nudge = new EventTarget();

function moment(date) {
  return date.toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
}

/** The link's fragment, which a browser never sends to a server. */
function readLink() {
  const link = new URLSearchParams(window.location.hash.slice(1));
  const study = (link.get("study") ?? "").toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(study)) {
    const text =
      "It must end with “#token=…&study=…”. The study's id in it protects you: without it the page could not tell " +
      "whether the server has changed the questions or the cost. Open the link again exactly as you received it.";
    throw new Refusal("Your link is not complete", text);
  }
  return { study, token: link.get("token") ?? "" };
}

function requireBrowser() {
  if (window.isSecureContext && window.crypto?.subtle && navigator.locks && "localStorage" in window) return;
  const text =
    "The page was opened over a connection that is not encrypted (or in a very old browser), where somebody on the way " +
    "could have changed it. Your answers are not asked for. Open the link with https:// in an up-to-date browser.";
  throw new Refusal("This connection is not safe", text);
}

async function start() {
  try {
    requireBrowser();
    const link = readLink();
    state.study = await readStudy(await fetchManifest(), link.study);
    state.token = link.token;
    state.node = nodeOf(link.token, state.study);
    describeStudy();
    state.report = findReport(state.study, state.node);
    await chooseSection();
  } catch (error) {
    refuse(error);
  }
  byId("loading").hidden = true;
}

/** Where the participant stands: done, a report that waits to be sent, or nothing made yet. */
function chooseSection(focus = false) {
  const { study, report } = state;
  if (report?.sent) return showSent(focus);
  if (report) return showCheck(focus);
  const now = phase(study);
  if (now !== "open") {
    const early = `It takes answers from ${moment(study.opens)} on.`;
    const over = `It closed on ${moment(study.closes)}. No answers are asked for.`;
    const headline = now === "early" ? "This study is not open yet" : "This study is over";
    return refuse(new Refusal(headline, now === "early" ? early : over));
  }
  describeBudget();
  if (exceeds(readLedger(), study.cost)) {
    refuse(overLimit(readLedger(), study.cost), ["cost", "budget"]);
    byId("budget-details").open = true;
    return undefined;
  }
  if (state.form === null) {
    state.form = questionForm(study, state.node);
    byId("questions").replaceChildren(state.form.node);
  }
  return only(["cost", "budget", "answer"], focus ? "answer" : null);
}

function only(names, focused) {
  for (const name of SECTIONS) byId(name).hidden = !names.includes(name);
  if (focused) show(byId(focused));
}

function setStep(current) {
  byId("introduction").hidden = current > 0;
  [...byId("steps").children].forEach((item, i) => {
    item.classList.toggle("done", i < current);
    if (i === current) item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
  });
}

function refuse(error, others = []) {
  const known = error instanceof Refusal;
  if (!known) console.error(error);
  byId("refusal-headline").textContent = known ? error.headline : "The page has a fault";
  byId("refusal-text").textContent = known ? error.message : "Nothing was sent. Please tell the people who run the study.";
  const pairs = known ? Object.entries(error.facts).filter(([, value]) => typeof value === "string") : [];
  byId("refusal-facts").replaceChildren(facts(pairs.map(([name, id]) => [name, element("code", { class: "id" }, id)])));
  byId("refusal-retry").hidden = !(known && error.temporary);
  only(["refusal", ...others], null);
}

function describeStudy() {
  const { study, node } = state;
  const { title, purpose, operator, eligible } = study.manifest;
  document.title = `${title} – take part`;
  byId("title").textContent = title;
  byId("purpose").textContent = purpose;
  byId("facts").replaceChildren(
    facts([
      ["Run by", operator],
      ["Who may take part", eligible],
      ["Open until", `${moment(study.closes)}, your time`],
      ["You are", `Participant ${node.toLocaleString("en")} of ${study.nodes.toLocaleString("en")}`],
      ["Study id", element("code", { class: "id" }, study.id)],
    ]),
  );
  byId("steps").hidden = false;
  setStep(0);
  describeCost();
}

function describeCost() {
  const { study } = state;
  const sure = certainty(study.cost);
  byId("sentence").textContent = inOneSentence(study);
  byId("guess-figure").replaceChildren(guessBars(sure));
  byId("guess-words").textContent =
    "Suppose somebody suspects something about you and is undecided: 50\u00a0%. Whatever your report turns out to be, they " +
    `can be at most ${sure}\u00a0% sure afterwards.${strength(study.cost)}`;
  const list = parts(study);
  const rows = list.map(({ name, sent, epsilon }) => [name, sent, tidy(epsilon), `× ${oddsFactor(epsilon)}`]);
  if (list.length > 1) rows.push(["In all", "", tidy(study.cost), `× ${oddsFactor(study.cost)}`]);
  const made = table("What is sent, and what each part costs", ["Part", "What is sent", "Cost (ε)", "Odds"], rows, {
    class: list.length > 1 ? "stacked totalled" : "stacked",
  });
  byId("parts").replaceChildren(made);
  byId("unprotected").replaceChildren(...unprotected(study).map((text) => element("li", {}, text)));
}

/** Figures that look harmless need a plain word where they are not. */
function strength(cost) {
  if (cost > 6) return " That is weak protection: take part only if you would not mind much if the answers were known.";
  return cost > 3 ? " That is moderate protection." : "";
}

function describeBudget() {
  const { study, report } = state;
  const ledger = readLedger();
  const before = spent(ledger);
  const planned = report ? 0 : study.cost;
  byId("budget-figure").replaceChildren(budgetBar(before, planned, ledger.limit));
  const included = report ? ", this report included" : "";
  const given = `So far you have given away ε = ${tidy(before)} on this site${included}; your limit is ${tidy(ledger.limit)}.`;
  const left = tidy(ledger.limit - before - planned);
  byId("budget-words").textContent = report
    ? given
    : exceeds(ledger, study.cost)
      ? `${given} This study costs ${tidy(planned)}, which is more than is left.`
      : `${given} This study costs ${tidy(planned)} and would leave ${left}.`;
  const rows = ledger.reports.map(({ title, cost, made, sent }) => {
    return [title, tidy(cost), moment(new Date(made)), sent === null ? "not sent yet" : moment(new Date(sent))];
  });
  const empty = element("p", { class: "hint" }, "No report was made in this browser yet.");
  const history = table("Reports made in this browser", ["Study", "Cost (ε)", "Made", "Sent"], rows, { class: "stacked" });
  byId("history").replaceChildren(rows.length > 0 ? history : empty);
  byId("limit").value = ledger.limit;
}

async function saveLimit(event) {
  event.preventDefault();
  const text = byId("limit").value.trim();
  const limit = Number(text);
  const valid = text !== "" && Number.isFinite(limit) && limit >= 0;
  byId("limit-problem").hidden = valid;
  byId("limit-problem").textContent = valid ? "" : "Enter a number of at least 0.";
  if (!valid) return;
  await setLimit(limit);
  describeBudget();
  if (state.report === null) chooseSection();
}

/** Perturb once, and store before anything else happens. */
async function makeReport(event) {
  event.preventDefault();
  const { study, node } = state;
  const raw = state.form.read();
  if (raw === null) return;
  byId("make").disabled = true;
  try {
    let fresh = false;
    state.report = await reserve(study, node, () => {
      if (phase(study) !== "open") throw new Refusal("This study is over", "It closed while you were answering.");
      fresh = true;
      return pack(study, perturb(study, raw, new SystemBits()));
    });
    state.raw = fresh ? raw : null; // another tab was first: its report counts, whatever was entered here
    showCheck(true);
  } catch (error) {
    refuse(error, ["budget"]);
  }
  byId("make").disabled = false;
}

function showCheck(focus) {
  const { study, raw, report } = state;
  const words = raw
    ? "On the left is what you answered, on the right what chance has made of it. Only the right side is sent."
    : "This report was made earlier in this browser. Your answers were not kept; the report is the same, byte for byte.";
  byId("check-words").textContent = words;
  byId("comparison").replaceChildren(comparison(study, raw, unpack(study, report.body)));
  byId("bytes").replaceChildren(bytesOf(report.body));
  describeBudget();
  setStep(1);
  only(["check", "budget"], focus ? "check" : null);
}

function comparison(study, raw, report) {
  const chosen = report.coordinates ?? [...study.domains.keys()];
  const unknown = "no longer known here";
  const before = (value) => (raw === null ? unknown : value());
  const rows = chosen.slice(0, MOST_ROWS).map((feature, place) => {
    const domain = study.domains[feature];
    const sent = symbolInWords(study.features, report.symbols[place], domain);
    return [study.question(feature), before(() => rawInWords(raw.features[feature], domain)), sent];
  });
  if (chosen.length > MOST_ROWS) rows.push([`${chosen.length - MOST_ROWS} more`, "…", "…"]);
  if (study.labels) {
    const sent = study.className(report.label);
    rows.push([study.classQuestion, before(() => study.className(raw.label)), sent]);
  }
  if (study.neighbours) {
    rows.push(["Your connections", before(() => listInWords(raw.neighbours)), listInWords(report.neighbours)]);
  }
  const silent = study.domains.length - chosen.length;
  if (silent > 0) {
    const name = silent === 1 ? "1 other answer" : `${silent.toLocaleString("en")} other answers`;
    rows.push([name, raw === null ? unknown : "stays here", "nothing"]);
  }
  const headings = ["Question", "Your answer", "What will be sent"];
  const made = table("Your answers beside the report", headings, rows, { class: "compare" });
  return rows.length > 12 ? scrolling("Your answers beside the report", made) : made;
}

function listInWords(ids) {
  if (ids.length === 0) return "nobody";
  const few = ids.slice(0, 100).join(", ");
  return ids.length > 100 ? `${few} and ${(ids.length - 100).toLocaleString("en")} more` : few;
}

function bytesOf(body) {
  const shown = toHex(body.slice(0, 2048));
  const report = toJson(unpack(state.study, body));
  const json = JSON.stringify(report);
  return element(
    "div",
    {},
    element("p", {}, `${body.length.toLocaleString("en")} bytes, after the 32 bytes of the study's id:`),
    scrolling("The report in hexadecimal", element("code", {}, body.length > 2048 ? `${shown}…` : shown)),
    element("p", {}, "The same as plain values:"),
    scrolling("The report as JSON", element("code", {}, json.length > 8192 ? `${json.slice(0, 8192)}…` : json)),
  );
}

async function send() {
  const { study, node, token, report } = state;
  byId("send").disabled = true;
  byId("progress").className = "";
  byId("progress").textContent = "Sending …";
  const onTrouble = (sentence, seconds) => {
    const again = `The report is kept, and sending it again costs nothing. Next try in ${seconds} s.`;
    byId("progress").className = "waiting";
    byId("progress").textContent = `${sentence} ${again}`;
    byId("nudge").hidden = false;
  };
  try {
    await deliver(study, token, report.body, onTrouble, nudge);
    state.report = await acknowledge(study, node);
    forgetAnswers();
    showSent(true);
  } catch (error) {
    refuse(error, ["check", "budget"]);
    show(byId("refusal"));
  }
  byId("send").disabled = false;
  byId("nudge").hidden = true;
  byId("progress").textContent = "";
}

/** The raw answers are gone from the page as soon as the report has arrived. */
function forgetAnswers() {
  state.raw = null;
  state.form?.clear();
  state.form = null;
  byId("questions").replaceChildren();
  byId("comparison").replaceChildren();
}

async function receipt() {
  const { study, node, report } = state;
  return {
    study: study.id,
    title: study.manifest.title,
    participant: node,
    cost: study.cost,
    made: report.made,
    acknowledged: report.sent,
    report_sha256: await sha256(report.body),
    report: toHex(report.body),
  };
}

async function showSent(focus) {
  const { study, report } = state;
  const proof = await receipt();
  byId("sent-words").textContent =
    "The collector has confirmed it. Your answers are no longer on this page; this browser remembers only the report " +
    "and its cost. If you open the link again, nothing new is made or sent.";
  byId("receipt").replaceChildren(
    facts([
      ["Stored", moment(new Date(report.sent))],
      ["Cost", `ε = ${tidy(study.cost)}`],
      ["Report", `${report.body.length.toLocaleString("en")} bytes`],
      ["Study id", element("code", { class: "id" }, study.id)],
      ["SHA-256 of the report", element("code", { class: "id" }, proof.report_sha256)],
    ]),
  );
  byId("sent-report").replaceChildren(bytesOf(report.body));
  describeBudget();
  setStep(2);
  only(["sent", "budget"], focus ? "sent" : null);
}

async function saveReceipt() {
  const proof = await receipt();
  const url = URL.createObjectURL(new Blob([JSON.stringify(proof, null, 2)], { type: "application/json" }));
  const link = element("a", { href: url, download: `privet-receipt-${proof.study.slice(0, 8)}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

byId("form").addEventListener("submit", makeReport);
byId("send").addEventListener("click", send);
byId("nudge").addEventListener("click", () => nudge.dispatchEvent(new Event("nudge")));
byId("save").addEventListener("click", saveReceipt);
byId("limit-form").addEventListener("submit", saveLimit);
byId("refusal-retry").addEventListener("click", () => window.location.reload());
window.addEventListener("hashchange", () => window.location.reload());
start();
