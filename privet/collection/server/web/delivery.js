/** Sends a stored report, and tries again while the server is away: every repetition is the same bytes. */

import { fromHex } from "./answers.js";
import { Refusal } from "./refusal.js";

const TRY_AGAIN = [429, 500, 502, 503, 504];
const PATIENCE = 30_000;
const LONGEST_PAUSE = 60;
const HEADLINES = {
  401: "Your enrolment token was not accepted",
  403: "The study does not take reports now",
  409: "Another report is stored for you already",
};

/** "stored" or "repeated"; `onTrouble(sentence, seconds)` hears of every failed try, `nudge` ends a pause early. */
export async function deliver(study, token, body, onTrouble, nudge) {
  const request = new Uint8Array(32 + body.length);
  request.set(fromHex(study.id));
  request.set(body, 32);
  for (let attempt = 0; ; attempt += 1) {
    const answer = await post(request, token);
    const expected = { 201: "stored", 200: "repeated" }[answer.status];
    if (expected !== undefined && answer.outcome === expected) return expected;
    if (answer.status !== 0 && !TRY_AGAIN.includes(answer.status)) {
      const headline = HEADLINES[answer.status] ?? "The collector refused the report";
      throw new Refusal(headline, answer.sentence, false, { status: answer.status });
    }
    const seconds = answer.wait ?? Math.min(LONGEST_PAUSE, 2 ** attempt);
    onTrouble(answer.sentence, seconds);
    // Jitter, so that browsers that lost a server together do not come back together.
    await pause(seconds * (1 + Math.random() / 4), nudge);
  }
}

async function post(request, token) {
  let response;
  try {
    response = await fetch("/reports", {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/vnd.privet.report" },
      body: request,
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch {
    const offline = navigator.onLine === false;
    return { status: 0, sentence: offline ? "You are offline." : "The collector cannot be reached." };
  }
  let sentence = `The collector answered with status ${response.status}.`;
  let outcome;
  try {
    const document = await response.json();
    if (typeof document.error === "string") sentence = document.error;
    outcome = document.status;
  } catch {
    // the status says enough
  }
  const wait = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  return { status: response.status, outcome, sentence, wait: wait >= 0 ? Math.min(wait, 600) : undefined };
}

function pause(seconds, nudge) {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      nudge.removeEventListener("nudge", wake);
      window.removeEventListener("online", wake);
      resolve();
    };
    const timer = setTimeout(wake, 1000 * seconds);
    nudge.addEventListener("nudge", wake);
    window.addEventListener("online", wake);
  });
}
