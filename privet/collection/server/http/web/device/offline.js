/** Keeps the page's own files on this device, so that it opens without a connection (see worker.js). */

import { byId } from "../controls/dom.js";
import { forgetInvitations } from "../study/round.js";

const PUBLIC = "privet-public-2"; // as in worker.js

/**
 * Install the service worker, and say on the page when a reload would need no connection. The worker needs the token,
 * "" if there is none, for the public data that the page loaded before it was there; `manifests` are the ids of those
 * that need none.
 */
export async function keepForOffline(token, manifests) {
  if (!("serviceWorker" in navigator)) return;
  try {
    const known = navigator.serviceWorker.controller !== null;
    const registration = await navigator.serviceWorker.register("/sw.js", { scope: "/", updateViaCache: "none" });
    if (known) registration.update().catch(() => {}); // without a connection there is no newer version to find
    const { active } = await navigator.serviceWorker.ready;
    const loaded = performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname);
    const keep = loaded.filter((path) => path.startsWith("/public/"));
    await ask(active, { keep, open: manifests.map((id) => `/public/${id}`), token });
    byId("offline").hidden = false;
  } catch {
    // without a worker the page needs a connection, as any page does
  }
}

/**
 * Forget the public data that are kept for a time without a connection. Names of participants and tables are for those
 * with a link, and the next person at this computer may have none.
 */
export async function forgetPublic() {
  await globalThis.caches?.delete(PUBLIC).catch(() => {}); // a browser without a cache keeps nothing
  forgetInvitations();
}

function ask(worker, question) {
  const channel = new MessageChannel();
  return new Promise((resolve) => {
    channel.port1.onmessage = ({ data }) => resolve(data);
    worker.postMessage(question, [channel.port2]);
  });
}
