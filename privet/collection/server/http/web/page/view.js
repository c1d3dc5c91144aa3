/** Which parts of the page are shown, and refusals. */

import { confirmed } from "../controls/dialog.js";
import { byId, element, facts, show } from "../controls/dom.js";
import { Refusal } from "../study/refusal.js";
import { retold, text } from "../texts/texts.js";

const SECTIONS = ["refusal", "answer", "check", "sent", "ended", "budget"];

/** Show these sections and no others, and move the focus to one of them. */
export function only(names, focused = null) {
  for (const name of SECTIONS) byId(name).hidden = !names.includes(name);
  if (focused !== null) show(byId(focused));
}

/** Mark the step that the participant has reached; null where there is nothing left to do. */
export function setStep(current) {
  byId("steps").hidden = current === null;
  byId("introduction").hidden = current !== 0;
  [...byId("steps").children].forEach((item, i) => {
    item.classList.toggle("done", current !== null && i < current);
    if (i === current) item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
  });
}

/** A sentence of another module or of the collector in the page's language, or as it is if no catalogue has it. */
export function inLanguage(sentence) {
  return retold(sentence) ?? sentence;
}

/** Say why the page does not go on; `others` are sections that stay. */
export function refuse(error, others = [], focus = false) {
  const known = error instanceof Refusal || error.temporary === true;
  if (!known) console.error(error);
  const headline = error.headline ?? text("refusal.load.headline");
  byId("refusal-headline").textContent = known ? inLanguage(headline) : text("refusal.fault.headline");
  byId("refusal-text").textContent = known ? inLanguage(error.message) : text("refusal.fault.text");
  const pairs = Object.entries(error.facts ?? {}).filter(([, value]) => typeof value === "string");
  byId("refusal-facts").replaceChildren(
    facts(pairs.map(([name, id]) => [inLanguage(name), element("code", { class: "id" }, id)])),
  );
  byId("refusal-retry").hidden = error.temporary !== true;
  only(["refusal", ...others], focus ? "refusal" : null);
}

/** Ask with the words confirm.KEY.… before something that cannot be undone; true if the person wants it. */
export function wants(key) {
  const [heading, words, yes, no] = ["heading", "text", "yes", "no"].map((part) => text(`confirm.${key}.${part}`));
  return confirmed({ heading, words, yes, no });
}
