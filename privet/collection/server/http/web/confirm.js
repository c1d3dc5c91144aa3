/** One question before something that cannot be undone. */

import { byId } from "./dom.js";
import { text } from "./texts.js";

/** Ask with the words confirm.KEY.…; true if the person wants it. Escape and the other button mean no. */
export function confirmed(key) {
  const dialog = byId("confirm");
  const parts = { "confirm-heading": "heading", "confirm-words": "text", "confirm-yes": "yes", "confirm-no": "no" };
  for (const [id, part] of Object.entries(parts)) byId(id).textContent = text(`confirm.${key}.${part}`);
  dialog.returnValue = "no";
  dialog.showModal();
  byId("confirm-no").focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

for (const answer of ["yes", "no"]) {
  byId(`confirm-${answer}`).addEventListener("click", () => byId("confirm").close(answer));
}
