/** The round that a link names, as this person answers it: fetched, checked and priced. */

import { price } from "../device/ledger.js";
import { Trouble } from "../device/patience.js";
import { prepare } from "./preparation.js";
import { fetchPublic } from "./public.js";
import { Refusal } from "./refusal.js";
import { text } from "../texts/texts.js";
import { firstRound, withdrawnAt } from "../device/withdrawal.js";

/**
 * The prepared round with what it costs; `report` is the one that was made before, or null. A report that exists is
 * shown even if the server does not send the public data again: nothing new is made of them. After a withdrawal they are
 * not fetched any more.
 */
export async function roundOf(study, node, token, report) {
  const plain = { ...study, node, rounds: [study], names: null, shows: report?.shows ?? false };
  if (report !== null && withdrawnAt(firstRound(study)) !== null) return { ...plain, cost: report.cost, total: report.cost };
  const blob = (hex) => fetchPublic(hex, study.manifest.earlier.includes(hex) ? null : token);
  try {
    const ready = await prepare(study, node, { blob, invitation: (id) => invitation(id, token) });
    return { ...ready, ...price(ready, node) };
  } catch (error) {
    const isKnown = error instanceof Refusal || error.temporary === true;
    if (report === null || !isKnown) throw error;
    return { ...plain, cost: report.cost, total: report.cost };
  }
}

const LONGEST_INVITATION = 2 ** 20;
const INVITATIONS = "privet-invitation-2:";

/** Forget the invitations that this tab keeps. */
export function forgetInvitations() {
  const known = Object.keys(sessionStorage).filter((key) => key.startsWith(INVITATIONS));
  for (const key of known) sessionStorage.removeItem(key);
}

/** The owner's rows of a round's tables; they are kept for this tab, and proved again whenever they are used. */
async function invitation(id, token) {
  const key = `${INVITATIONS}${id}:${token.slice(0, 6)}`;
  const headers = { Authorization: `Bearer ${token}` };
  let response;
  try {
    response = await fetch(`/invitation/${id}`, { headers, credentials: "omit", cache: "no-store", redirect: "error" });
    if (!response.ok) throw new Trouble(text("delivery.status", { status: String(response.status) }));
    const document = JSON.parse(await textOf(response));
    sessionStorage.setItem(key, JSON.stringify(document));
    return document;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const kept = sessionStorage.getItem(key);
    if (kept !== null) return JSON.parse(kept);
    throw error instanceof Trouble ? error : new Trouble(text("delivery.away"));
  }
}

/** The text of an invitation; one that is too long is refused before it is read whole. */
async function textOf(response) {
  const parts = [];
  let length = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts).text();
    parts.push(value);
    length += value.length;
    if (length > LONGEST_INVITATION) {
      await reader.cancel();
      throw Refusal.of("invitation");
    }
  }
}
