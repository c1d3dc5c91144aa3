/** Requests with the operator's key, which stays in this page's memory: a reload forgets it, and no address has it. */

import { element } from "../controls/dom.js";

const session = { key: null };

export const remember = (key) => {
  session.key = key;
};

/** An error whose words are for the operator. */
export class Told extends Error {}

/** The status and the document of an answer; Told if the collector cannot be reached. */
export async function ask(path, method = "GET", body = null) {
  const response = await send(path, { method, body, signal: AbortSignal.timeout(30_000) });
  return { status: response.status, document: await response.json().catch(() => ({})) };
}

/** The text of an answer; Told in the collector's words if it refuses. */
export async function askText(path) {
  const response = await send(path, { signal: AbortSignal.timeout(120_000) });
  if (response.ok) return response.text();
  const { error } = await response.json().catch(() => ({}));
  throw new Told(error ?? `The collector answered with status ${response.status}.`);
}

/** Ask for a file and let the browser keep it under the name that the collector gives it. */
export async function download(path) {
  const response = await send(path, { signal: AbortSignal.timeout(600_000) });
  if (!response.ok) {
    const { error } = await response.json().catch(() => ({}));
    throw new Told(error ?? `The collector answered with status ${response.status}.`);
  }
  const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "study";
  const url = URL.createObjectURL(await response.blob());
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return name;
}

async function send(path, options) {
  const headers = { Authorization: `Bearer ${session.key}` };
  if (options.body) headers["Content-Type"] = "application/json";
  try {
    return await fetch(path, { headers, cache: "no-store", credentials: "omit", ...options });
  } catch {
    throw new Told("The collector cannot be reached.");
  }
}
