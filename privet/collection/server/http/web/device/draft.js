/**
 * What was entered and not yet made into a report. It is kept in the tab's own memory (sessionStorage): it survives a
 * reload, and is gone when the tab is closed, because others may use the same computer.
 */

const keyOf = (study, node) => `privet-draft-1:${study.id}:${node}`;

/** Keep values, or nothing if there are none. A tab without memory keeps no draft. */
export function keepDraft(study, node, values) {
  if (Object.keys(values).length === 0) return forgetDraft(study, node);
  try {
    sessionStorage.setItem(keyOf(study, node), JSON.stringify(values));
  } catch {
    forgetDraft(study, node); // too long to keep: an old draft must not stand for it
  }
  return undefined;
}

/** The values that were kept; {} if there are none. */
export function readDraft(study, node) {
  try {
    const values = JSON.parse(sessionStorage.getItem(keyOf(study, node)) ?? "{}");
    return values !== null && typeof values === "object" ? values : {};
  } catch {
    return {};
  }
}

/** Erase the draft. */
export function forgetDraft(study, node) {
  try {
    sessionStorage.removeItem(keyOf(study, node));
  } catch {
    // a tab without memory has nothing to forget
  }
}
