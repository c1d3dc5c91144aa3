/** Asks whether a report would be taken, sends a stored one, or withdraws it; every repetition is the same request. */

import { fromHex, toHex } from "../answers/answers.js";
import { findReport } from "./ledger.js";
import { patiently, Trouble } from "./patience.js";
import { Refusal } from "../study/refusal.js";
import { retold, text } from "../texts/texts.js";
import { checkWithdrawn } from "./withdrawal.js";

const TRY_AGAIN = [429, 500, 502, 503, 504];
const PATIENCE = 30_000;
const HEADLINES = {
  401: "delivery.token",
  403: "delivery.closed",
  409: "delivery.another",
  410: "delivery.withdrawn",
};

/** "stored" or "repeated"; see `patiently` for `onTrouble` and `nudge`. */
export function deliver(study, token, body, onTrouble, nudge) {
  const request = new Uint8Array(32 + body.length);
  request.set(fromHex(study.id));
  request.set(body, 32);
  const expected = { 201: "stored", 200: "repeated" };
  const attempt = async () => {
    checkWithdrawn(study); // the owner may withdraw in another tab between two tries
    const kept = findReport(study, study.node); // and what the browser has forgotten may have been made anew
    if (kept === null || toHex(kept.body) !== toHex(body)) throw Refusal.of("taken-back");
    return ask("POST", "/reports", token, request, expected);
  };
  return patiently(attempt, onTrouble, nudge);
}

/** Erase everything that this person sent, in all rounds of the study: "erased". */
export function withdraw(token) {
  return ask("DELETE", "/reports", token, undefined, { 200: "erased" });
}

/**
 * "welcome", or the refusal that this person's report would get. Asked before one is made: a browser that has lost its
 * memory, or a second one, would draw a second report, and whoever has both knows more than the ledger says.
 */
export function mayReport(study, token) {
  return ask("GET", `/reports/${study.id}`, token, undefined, { 200: "welcome" });
}

async function ask(method, path, token, body, expected) {
  const { status, outcome, sentence, wait } = await request(method, path, token, body);
  if (expected[status] !== undefined && outcome === expected[status]) return outcome;
  if (status === 0 || TRY_AGAIN.includes(status)) throw new Trouble(sentence, wait);
  throw new Refusal(text(HEADLINES[status] ?? "delivery.refused"), sentence, false, { status });
}

async function request(method, path, token, body) {
  const headers = { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/vnd.privet.report";
  const options = { credentials: "omit", cache: "no-store", redirect: "error", signal: AbortSignal.timeout(PATIENCE) };
  let response;
  try {
    response = await fetch(path, { method, headers, body, ...options });
  } catch {
    return { status: 0, sentence: text("delivery.away") };
  }
  let sentence = text("delivery.status", { status: String(response.status) });
  let outcome;
  try {
    const document = await response.json();
    if (typeof document.error === "string") sentence = retold(document.error) ?? document.error;
    outcome = document.status;
  } catch {
    // the status says enough
  }
  const wait = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  return { status: response.status, outcome, sentence, wait: wait >= 0 ? Math.min(wait, 600) : undefined };
}
