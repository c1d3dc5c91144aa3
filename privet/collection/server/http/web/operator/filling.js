/** Parts of a page that is read again and again, and numbers and times as this page writes them. */

const shown = new WeakMap();

/** Fill a node only if its facts have changed, so that nobody who reads it or has the focus there is disturbed. */
export function fill(node, facts, make) {
  const key = JSON.stringify(facts);
  if (shown.get(node) === key) return;
  node.replaceChildren(...[make()].flat());
  shown.set(node, key);
}

export const count = (value) => value.toLocaleString("en");
export const moment = (date) => date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
export const share = (part, whole) => `${((100 * part) / Math.max(whole, 1)).toFixed(1)}\u00a0%`;
