/** An accessibility check of a page as it stands: returns one sentence for each fault. */
() => {
  const faults = [];
  const seen = (node) => node.checkVisibility({ visibilityProperty: true });
  const name = (node) => `<${node.localName}${node.id ? ` id=${node.id}` : ""}>`;
  const textOf = (ids) => ids.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ");

  if (!document.documentElement.lang) faults.push("the page has no language");
  if (document.title.trim() === "") faults.push("the page has no title");
  if (document.querySelectorAll("main").length !== 1) faults.push("there must be one main landmark");

  for (const control of [...document.querySelectorAll("input, select, textarea, button, summary")].filter(seen)) {
    const labels = [...(control.labels ?? [])].map((label) => label.textContent).join(" ");
    const own = ["button", "summary"].includes(control.localName) ? control.textContent : "";
    const given = control.getAttribute("aria-label") ?? textOf(control.getAttribute("aria-labelledby") ?? "");
    if (`${labels}${own}${given}`.trim() === "") faults.push(`${name(control)} has no label`);
    for (const id of (control.getAttribute("aria-describedby") ?? "").split(/\s+/).filter(Boolean)) {
      if (document.getElementById(id) === null) faults.push(`${name(control)} is described by a missing ${id}`);
    }
    const box = (["radio", "checkbox"].includes(control.type) ? control.closest(".option") : control).getBoundingClientRect();
    if (box.width < 24 || box.height < 24) faults.push(`${name(control)} is smaller than 24 px`);
  }

  let level = 0;
  for (const heading of [...document.querySelectorAll("h1, h2, h3, h4")].filter(seen)) {
    const next = Number(heading.localName[1]);
    if (next > level + 1) faults.push(`the heading “${heading.textContent}” skips a level`);
    level = next;
  }
  if ([...document.querySelectorAll("h1")].filter(seen).length !== 1) faults.push("there must be one h1");

  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) faults.push(`the id ${id} is used twice`);
  for (const image of document.querySelectorAll("img:not([alt])")) faults.push(`${name(image)} has no alt`);
  for (const figure of [...document.querySelectorAll("svg")].filter(seen)) {
    if (figure.getAttribute("role") !== "img" || !figure.getAttribute("aria-label")) faults.push("a figure has no name");
  }
  for (const table of [...document.querySelectorAll("table")].filter(seen)) {
    if (!table.caption || table.querySelector("th:not([scope])")) faults.push("a table lacks a caption or scopes");
  }
  for (const node of document.querySelectorAll("[style], [tabindex]")) {
    if (node.tabIndex > 0) faults.push(`${name(node)} has a positive tabindex`);
    if (node.hasAttribute("style")) faults.push(`${name(node)} has an inline style`);
  }
  for (const box of [...document.querySelectorAll("*")].filter((node) => seen(node) && scrolls(node))) {
    const reachable = box.tabIndex >= 0 || box.querySelector("a, button, input, textarea") !== null;
    if (!reachable) faults.push(`${name(box)} scrolls but cannot be reached by keyboard`);
  }
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 0) faults.push(`the page is ${wide} px wider than the window`);

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const checked = new Set();
  while (walker.nextNode()) {
    const holder = walker.currentNode.parentElement;
    if (walker.currentNode.textContent.trim() === "" || checked.has(holder) || !seen(holder)) continue;
    checked.add(holder);
    if (holder.closest("noscript, script, option, :disabled") !== null) continue;
    const style = getComputedStyle(holder);
    const ink = colour(holder.closest("svg") ? style.fill : style.color);
    const found = contrast(ink, backdrop(holder));
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (found < (large ? 3 : 4.5)) {
      faults.push(`“${walker.currentNode.textContent.trim().slice(0, 30)}” has a contrast of ${found.toFixed(2)}`);
    }
  }
  return faults;

  function scrolls(node) {
    const { overflowY } = getComputedStyle(node);
    return ["auto", "scroll"].includes(overflowY) && node.scrollHeight > node.clientHeight + 1;
  }

  function colour(text) {
    const parts = text.match(/[\d.]+/g).map(Number);
    return { rgb: parts.slice(0, 3), alpha: parts[3] ?? 1 };
  }

  function backdrop(node) {
    for (let at = node; at !== null; at = at.parentElement) {
      const { rgb, alpha } = colour(getComputedStyle(at).backgroundColor);
      if (alpha === 1) return { rgb };
    }
    return { rgb: [255, 255, 255] };
  }

  function luminance({ rgb }) {
    const [r, g, b] = rgb.map((value) => value / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function contrast(one, two) {
    const [light, dark] = [luminance(one), luminance(two)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  }
};
