/** The operator's actions: close the newest round, open the next one. Each asks first, because neither can be undone. */

import { confirmed } from "../controls/dialog.js";
import { byId, element } from "../controls/dom.js";
import { count, fill } from "./filling.js";
import { ask } from "./requests.js";

/** Show which actions there are now. */
export function showActions({ rounds, to_come: left, next }) {
  const newest = rounds.at(-1);
  const planned = rounds.length > 1 || left.length > 0;
  byId("closing").hidden = newest.state === "closed" || next.running;
  byId("next").hidden = !planned;
  byId("next-form").hidden = left.length === 0 || next.running || !next.possible;
  byId("next-problem").hidden = next.problem === "" || next.running;
  byId("next-problem").textContent = next.problem === "" ? "" : `The last try failed. ${next.problem}`;
  fill(byId("next-words"), [newest.number, left, next.running, next.possible], () => nextWords(newest, left, next));
}

function nextWords({ number }, left, next) {
  const command = (text) => element("code", {}, text);
  if (next.running) {
    return `Round ${number + 1} is being computed. It appears above as soon as it is open; this can take minutes.`;
  }
  if (left.length === 0) {
    return ["All questions of the plan were asked. Train on the answers: ", command("privet train --study STUDY"), "."];
  }
  if (!next.possible) return ["This collector cannot compute rounds: torch is not installed beside it. Use ", command("privet study next"), " where it is."];
  return [
    `Still to ask: ${left.join(", ")}. The next round closes round ${number}, is computed from what is public by then, `,
    "and opens. Send its links afterwards: ",
    command("privet study links"),
    ".",
  ];
}

/** Close the newest round if the operator means it; returns what to announce, or null. */
export async function closeRound({ rounds }) {
  const { number, answered, asked } = rounds.at(-1);
  const so = `${count(answered)} of ${count(asked)} people have answered.`;
  const wanted = await confirmed({
    heading: `Close round ${number}?`,
    words: `${so} Nobody else will be able to, and this cannot be undone.`,
    yes: "Close it for good",
    no: "Keep it open",
  });
  if (!wanted) return null;
  const { status, document: answer } = await ask("/operator/close", "POST");
  return status === 200 ? `Round ${number} is closed.` : `The round was not closed: ${answer.error ?? status}`;
}

/** Compute and open the next round if the operator means it; returns what to announce, or null. */
export async function openNext({ rounds }) {
  const { number, state, answered, asked } = rounds.at(-1);
  const days = wantedDays();
  if (days === null) return null;
  const so = `${count(answered)} of ${count(asked)} people have answered, and nobody else will be able to.`;
  const closing = state === "closed" ? `Round ${number} is closed.` : `This closes round ${number} for good: ${so}`;
  const span = `${count(days)} ${days === 1 ? "day" : "days"}`;
  const opening = `Round ${number + 1} is computed from what is public by then, and opens for ${span}.`;
  const wanted = await confirmed({
    heading: `Open round ${number + 1}?`,
    words: `${closing} ${opening} This cannot be undone.`,
    yes: state === "closed" ? `Open round ${number + 1}` : `Close round ${number}, open round ${number + 1}`,
    no: "Not now",
  });
  if (!wanted) return null;
  const { status, document: answer } = await ask("/operator/next", "POST", JSON.stringify({ days }));
  if (status !== 202) return `The next round was not begun: ${answer.error ?? status}`;
  return `Round ${answer.round} is being computed.`;
}

/** The days for which the next round stays open; null, and a word about it, if they are none. */
function wantedDays() {
  const field = byId("days");
  const { valid } = field.validity;
  field.setAttribute("aria-invalid", valid ? "false" : "true");
  byId("days-problem").hidden = valid;
  if (!valid) field.focus();
  return valid ? field.valueAsNumber : null;
}
