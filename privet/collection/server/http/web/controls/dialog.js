/** One question before something that cannot be undone, in the dialog that both pages have. */

import { byId } from "./dom.js";

/** Ask once more; true if the person wants it. Escape and the other button mean no. */
export function confirmed({ heading, words, yes, no }) {
  const dialog = byId("confirm");
  for (const [part, said] of Object.entries({ heading, words, yes, no })) byId(`confirm-${part}`).textContent = said;
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
