/** The participant's page: read, answer, check, send. Raw answers live in `state.raw` until the report is sent. */

import { describeBudget, describeStudy, moment } from "./about.js";
import { pack, perturb, toHex, unpack } from "./answers.js";
import { SystemBits } from "./bits.js";
import { bytesOf, comparison } from "./comparison.js";
import { deliver } from "./delivery.js";
import { byId, element, facts, show } from "./dom.js";
import { questionForm } from "./form.js";
import {
  acknowledge,
  exceeds,
  findReport,
  markTried,
  overLimit,
  readLedger,
  refund,
  reserve,
  setLimit,
} from "./ledger.js";
import { tidy } from "./numbers.js";
import { Refusal } from "./refusal.js";
import { fetchManifest, nodeOf, phase, readStudy, sha256, whyClosed } from "./study.js";

const SECTIONS = ["refusal", "cost", "budget", "answer", "check", "sent"];
const state = { study: null, token: "", node: 0, form: null, raw: null, report: null };
const nudge = new EventTarget();

/** The link's fragment, which a browser never sends to a server. */
function readLink() {
  const link = new URLSearchParams(window.location.hash.slice(1));
  const study = (link.get("study") ?? "").toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(study)) {
    const text =
      "It must end with “#study=…&token=…”. The study's id in it protects you: without it the page could not tell " +
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
    describeStudy(state.study, state.node);
    setStep(0);
    state.report = findReport(state.study, state.node);
    if (!state.report?.sent) await askFirst();
    await chooseSection();
  } catch (error) {
    refuse(error);
  }
  byId("loading").hidden = true;
}

/** Stop before anything is asked, made or sent if the collector takes no reports; refund one that never left. */
async function askFirst() {
  const { study, node, report } = state;
  if (phase(study) === "early") return;
  const reason = await whyClosed();
  if (reason === null || report?.tried) return; // one that was sent may be stored: the collector still confirms it
  if (report) {
    await refund(study, node, reason);
    state.report = null;
    const text = `${reason} Your report never left this device. It is destroyed, and its cost is refunded.`;
    throw new Refusal("This study is over", text);
  }
  throw new Refusal("This study is over", `${reason} No answers are asked for, and nothing was spent.`);
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
  describeBudget(study, report);
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
  byId("steps").hidden = false;
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
  byId("refusal-text").textContent = known ? error.message : "Please tell the people who run the study.";
  const pairs = known ? Object.entries(error.facts).filter(([, value]) => typeof value === "string") : [];
  byId("refusal-facts").replaceChildren(facts(pairs.map(([name, id]) => [name, element("code", { class: "id" }, id)])));
  byId("refusal-retry").hidden = !(known && error.temporary);
  only(["refusal", ...others], null);
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
  describeBudget(state.study, state.report);
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
    await askFirst();
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
    ? "On the left is what you answered, on the right what is left after randomising. Only the right side is sent."
    : "This report was made earlier in this browser. Your answers were not kept; the report is the same, byte for byte.";
  byId("check-words").textContent = words;
  byId("comparison").replaceChildren(comparison(study, raw, unpack(study, report.body)));
  byId("bytes").replaceChildren(bytesOf(study, report.body));
  describeBudget(study, report);
  setStep(1);
  only(["check", "budget"], focus ? "check" : null);
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
    await askFirst().catch((error) => {
      if (!error.temporary) throw error; // a server that is away is asked again and again below
    });
    state.report = await markTried(study, node);
    if (state.report === null) throw new Refusal("Nothing was sent", "This report was taken back in another window.");
    await deliver(study, token, state.report.body, onTrouble, nudge);
    state.report = await acknowledge(study, node);
    forgetAnswers();
    showSent(true);
  } catch (error) {
    describeBudget(study, state.report, state.report === null);
    refuse(error, state.report === null ? ["budget"] : ["check", "budget"]);
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
  byId("sent-report").replaceChildren(bytesOf(study, report.body));
  describeBudget(study, report);
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
