/**
 * Public data by its hash: GET /public/HEX, which the service worker keeps for a time without a connection.
 *
 * Anybody may read a manifest. Everything else, as the names of participants, is given to those who show a token.
 */

import { Trouble } from "../device/patience.js";
import { Refusal } from "./refusal.js";
import { sha256 } from "./study.js";
import { text } from "../texts/texts.js";

/** The bytes whose SHA-256 is `hex`; null if the server does not have them. `token` is null for a manifest. */
export async function fetchPublic(hex, token) {
  const bytes = await fetchUnchecked(hex, token);
  if (bytes !== null && (await sha256(bytes)) !== hex) throw Refusal.of("public");
  return bytes;
}

/** The same for a manifest, which `readStudy` checks: it can show both ids. */
export async function fetchUnchecked(hex, token = null) {
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  let response;
  try {
    response = await fetch(`/public/${hex}`, { headers, credentials: "omit", redirect: "error" });
  } catch {
    throw new Trouble(text("delivery.away"));
  }
  if (response.status === 404) return null;
  if (!response.ok) throw new Trouble(text("delivery.status", { status: String(response.status) }));
  return new Uint8Array(await response.arrayBuffer());
}
