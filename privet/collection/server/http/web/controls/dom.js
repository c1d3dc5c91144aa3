/** Small helpers to build a page without inline script, inline style or markup in strings. */

const SVG = "http://www.w3.org/2000/svg";

/** The element with an id, which the page must have. */
export const byId = (id) => document.getElementById(id);

/** A new element; texts become text nodes, so nothing that a server sent is ever read as markup. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** A new SVG element. */
export function graphic(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Words of the people who run the study, in whatever language they wrote them: never translated. */
export function theirs(words) {
  return element("bdi", { lang: "", translate: "no" }, words);
}

/** Show one of several sections and move the focus to its heading. */
export function show(section, focus = true) {
  section.hidden = false;
  if (!focus) return;
  const heading = section.querySelector("h1, h2, h3");
  if (heading === null) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  heading.scrollIntoView({ block: "start", behavior: calm() ? "auto" : "smooth" });
}

/** A definition list of [term, description] pairs. */
export function facts(pairs) {
  return element("dl", { class: "facts" }, ...pairs.map(([term, text]) => fact(term, text)));
}

function fact(term, text) {
  return element("div", {}, element("dt", {}, term), element("dd", {}, text));
}

/** A table with a caption, column headings and rows whose first cell is a row heading. */
export function table(caption, headings, rows, attributes = {}) {
  // The roles are spelled out because a phone's style sheet lays rows out as blocks.
  const row = (...cells) => element("tr", { role: "row" }, ...cells);
  const head = headings.map((text) => element("th", { scope: "col", role: "columnheader" }, text));
  const cells = ([first, ...rest]) => [
    element("th", { scope: "row", role: "rowheader" }, first),
    ...rest.map((cell, i) => element("td", { role: "cell", "data-heading": headings[i + 1] }, cell)),
  ];
  return element(
    "table",
    { role: "table", ...attributes },
    element("caption", {}, caption),
    element("thead", { role: "rowgroup" }, row(...head)),
    element("tbody", { role: "rowgroup" }, ...rows.map((values) => row(...cells(values)))),
  );
}

/** A box that scrolls on its own and can be reached by keyboard. */
export function scrolling(label, content) {
  return element("div", { class: "scrolling", role: "region", "aria-label": label, tabindex: "0" }, content);
}

function calm() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}
