/**
 * People picked by name from the list of participants, which the page has whole: nothing is looked up at the server, so
 * nobody learns whom you search for.
 */

import { element } from "./dom.js";
import { counted, text } from "../texts/texts.js";

const MOST_MATCHES = 8;

/** Letters without case and accents, so that "jose" finds "José". */
const plain = (name) => name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** The form's part for a list of people: {node, read, chosen}; `onChange(ids)` hears of every change. */
export function picker(study, participant, onChange = () => {}) {
  const searched = study.names.map(plain);
  const kept = element("input", { type: "hidden", id: "neighbours" }); // what a draft remembers
  const described = "friends-hint friends-problem friends-status";
  const box = element("input", { type: "search", id: "friends", autocomplete: "off", spellcheck: "false", "aria-describedby": described });
  const status = element("p", { id: "friends-status", class: "hint", role: "status" });
  const problem = element("p", { id: "friends-problem", class: "problem", hidden: true });
  const matches = element("ul", { class: "matches", "aria-label": text("friends.matches"), hidden: true });
  const chips = element("ul", { class: "chips", "aria-label": text("friends.chosen"), hidden: true });
  const chosen = () => (kept.value === "" ? [] : kept.value.split(",").map(Number));

  const choose = (ids) => {
    kept.value = [...ids].sort((a, b) => a - b).join(",");
    for (const kind of ["input", "change"]) kept.dispatchEvent(new Event(kind, { bubbles: true }));
  };
  const add = (id) => {
    choose([...chosen(), id]);
    box.value = "";
    search();
    box.focus();
  };
  const remove = (id) => {
    choose(chosen().filter((other) => other !== id));
    box.focus();
  };
  const button = (id, key, kind, act) => {
    const made = element("button", { type: "button", class: kind, "aria-label": text(key, { name: study.names[id] }) }, study.names[id]);
    made.addEventListener("click", () => act(id));
    return element("li", { lang: "", translate: "no" }, made);
  };

  const complain = (sentence) => {
    problem.hidden = sentence === null;
    problem.textContent = sentence ?? "";
    box.setAttribute("aria-invalid", sentence === null ? "false" : "true");
  };
  /** The people who were chosen; a name that was typed and not chosen may have been meant. */
  const read = (problems) => {
    const entered = box.value.trim();
    const sentence = entered === "" ? null : text("friends.undecided", { entered });
    complain(sentence);
    if (sentence !== null) problems.push({ id: box.id, question: text("friends.question"), sentence });
    return chosen();
  };

  function search() {
    complain(null);
    const wanted = plain(box.value.trim());
    const known = new Set([participant, ...chosen()]);
    const found = wanted === "" ? [] : [...searched.keys()].filter((id) => searched[id].includes(wanted) && !known.has(id));
    // Names that begin with what was typed come first.
    const first = found.filter((id) => searched[id].startsWith(wanted));
    const shown = [...first, ...found.filter((id) => !searched[id].startsWith(wanted))].slice(0, MOST_MATCHES);
    matches.replaceChildren(...shown.map((id) => button(id, "friends.add", "match", add)));
    matches.hidden = shown.length === 0;
    status.textContent = wanted === "" ? "" : counted("friends.found", found.length);
    return shown;
  }

  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") box.value = "";
    if (event.key === "Enter") {
      event.preventDefault(); // the first match is taken, and the form is not sent
      const [best] = search();
      if (best !== undefined) add(best);
    } else if (event.key === "Escape") search();
  });
  kept.addEventListener("change", () => {
    const ids = chosen();
    chips.replaceChildren(...ids.map((id) => button(id, "friends.remove", "chip", remove)));
    chips.hidden = ids.length === 0;
    onChange(ids);
  });

  const hint = text("friends.hint", { name: study.names[participant] });
  const node = element(
    "div",
    { class: "field" },
    element("label", { for: box.id }, text("friends.question")),
    element("p", { id: "friends-hint", class: "hint" }, hint),
    box,
    problem,
    status,
    matches,
    chips,
    kept,
  );
  onChange([]);
  return { node, chosen, read };
}
