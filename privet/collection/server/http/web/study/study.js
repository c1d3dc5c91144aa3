/** The study's manifest: fetched, checked against the id that the link pins, and understood whole or refused. */

import { unreadable } from "./checks.js";
import { sha256 } from "./hex.js";
import { understand } from "./manifest.js";
import { Refusal } from "./refusal.js";

export { sha256 };

/** The newest round's manifest as the server sends it. */
export async function fetchManifest() {
  return new Uint8Array(await (await asked("/study")).arrayBuffer());
}

/** The server's answer; one that is busy is no study that is closed. */
async function asked(path) {
  let response;
  try {
    response = await fetch(path, { cache: "no-store", credentials: "omit" });
  } catch {
    throw new Refusal("The study could not be loaded", "The server cannot be reached. Check your connection.", true);
  }
  if (!response.ok) {
    const text = `The server answered with status ${response.status} when it was asked for the study.`;
    throw new Refusal("The study could not be loaded", text, response.status === 429 || response.status >= 500);
  }
  return response;
}

/** Why the collector takes no reports for a round now; null if it takes them. Asked before one is made and charged. */
export async function whyClosed(study) {
  const response = await asked(`/status/${study.id}`);
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Refusal("The study could not be loaded", "The server cannot be reached. Check your connection.", true);
  }
  if (answer.open === true) return null;
  return typeof answer.reason === "string" && answer.reason !== "" ? answer.reason : "The study takes no reports now.";
}

/** The study in some manifest bytes, if they are those whose id is pinned. */
export async function readStudy(bytes, pinned) {
  const id = await sha256(bytes);
  if (id !== pinned) {
    const text =
      "The server describes another study than the one that your link names: a question, a range or the privacy budget " +
      "may have been changed. Nothing was asked and nothing was sent. Tell the person who gave you the link.";
    throw new Refusal("This is not the study you were invited to", text, false, { "In your link": pinned, "From the server": id });
  }
  let manifest;
  try {
    manifest = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw unreadable("it is not JSON");
  }
  return { id, ...understand(manifest) };
}

/** The state of the study now: "early", "open" or "over". */
export function phase(study, now = Date.now()) {
  if (now < study.opens.getTime()) return "early";
  return now < study.closes.getTime() ? "open" : "over";
}

/** Which node an enrolment token speaks for: node (4 bytes), serial (4 bytes), signature (16 bytes) in base64url. */
export function nodeOf(token, study) {
  const refusal = new Refusal(
    "Your link has a damaged enrolment token",
    "The part of the link after “token=” is not one that a study issues. Open the link again exactly as you received it.",
  );
  if (!/^[A-Za-z0-9_-]{32}$/.test(token)) throw refusal;
  const raw = Uint8Array.from(atob(token.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  const node = new DataView(raw.buffer).getUint32(0, true);
  if (node >= study.nodes) throw refusal;
  return node;
}
