/**
 * The report of a member of a panel: features (float64) and class (int32) as they are, and the friends' numbers (int32) where
 * the panel shows them, too; see privet/collection/study/forms.py.
 */

import { panelShowsFriends } from "../study/chain.js";

/** The body; answers must lie in their declared domains, because nothing is moved or hidden. */
export function packShown(study, { features, label, neighbours = [] }) {
  const { domains, classes } = study;
  const friends = panelShowsFriends(study) ? [...new Set(neighbours)].sort((a, b) => a - b) : [];
  const fits = (value, { kind, low, high }) =>
    Number.isFinite(value) && value >= low && value <= high && (kind !== "categories" || Number.isInteger(value));
  if (features.length !== domains.length || !features.every((value, i) => fits(value, domains[i]))) {
    throw new RangeError("An answer is not in its declared range.");
  }
  if (!Number.isInteger(label) || label < 0 || label >= classes) throw new RangeError("The class is not one.");
  const view = new DataView(new ArrayBuffer(8 * features.length + 4 + 4 * friends.length));
  features.forEach((value, i) => view.setFloat64(8 * i, value, true));
  view.setInt32(8 * features.length, label, true);
  friends.forEach((friend, i) => view.setInt32(8 * features.length + 4 + 4 * i, friend, true));
  return new Uint8Array(view.buffer);
}

/** The answers that {@link packShown} was given. */
export function unpackShown(study, body) {
  const { domains } = study;
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const features = domains.map((_, i) => view.getFloat64(8 * i, true));
  const start = 8 * domains.length + 4;
  const neighbours = Array.from({ length: (body.byteLength - start) / 4 }, (_, i) => view.getInt32(start + 4 * i, true));
  return { features, label: view.getInt32(start - 4, true), ...(panelShowsFriends(study) ? { neighbours } : {}) };
}
