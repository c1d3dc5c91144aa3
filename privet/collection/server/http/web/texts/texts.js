/**
 * The page's words, in the language of the link or of the browser: catalogues in texts/, one a language.
 *
 * The study's own words (title, purpose, questions) are never translated; see `theirs` in dom.js.
 */

export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español" };

const DEFAULT = "en";
const spoken = { language: DEFAULT, locale: "en-GB", words: {}, english: {} };

/** The first language that a link (`lang=de` in its fragment) or else the browser wants and the page has. */
export function wantedLanguage(fragment, preferred) {
  const asked = new URLSearchParams(fragment.slice(1)).get("lang");
  const codes = [asked, ...preferred].map((wish) => (wish ?? "").toLowerCase().split("-")[0]);
  return codes.find((code) => Object.hasOwn(LANGUAGES, code)) ?? DEFAULT;
}

/** Load a language; numbers and dates follow the browser's region of it. */
export async function speak(language, preferred) {
  const [words, english] = await Promise.all([language, DEFAULT].map(catalogue));
  const region = preferred.find((wish) => wish.toLowerCase().startsWith(`${language}-`));
  Object.assign(spoken, { language, words, english, locale: region ?? (language === "en" ? "en-GB" : language) });
  document.documentElement.lang = language;
}

async function catalogue(language) {
  const response = await fetch(`/web/texts/${language}.json`, { credentials: "omit" });
  if (!response.ok) throw new TypeError(`texts/${language}.json: status ${response.status}`);
  return response.json();
}

/** The language's tag for Intl. */
export const locale = () => spoken.locale;

/** The text of a key; {name} is replaced by a value, and numbers are written as the language does. */
export function text(key, values = {}) {
  return pieces(key, values).join("");
}

/** The same as a list of texts and nodes, for values that are nodes. */
export function pieces(key, values = {}) {
  const template = spoken.words[key] ?? spoken.english[key] ?? key;
  return template.split(/\{(\w+)\}/).map((part, i) => (i % 2 === 0 ? part : written(values[part])));
}

/** The text for a number of things: `key.one` or `key.other`, as the language's grammar has it. */
export function counted(key, count, values = {}) {
  const form = new Intl.PluralRules(spoken.locale).select(count);
  const suffix = form === "one" ? "one" : "other";
  return text(`${key}.${suffix}`, { count, ...values });
}

/** Several things in one phrase: “a, b and c”. */
export function listed(items) {
  return new Intl.ListFormat(spoken.locale, { type: "conjunction" }).format(items);
}

/** A time as people write it, in their own zone. */
export function moment(date) {
  return date.toLocaleString(spoken.locale, { dateStyle: "long", timeStyle: "short" });
}

/**
 * An English sentence of the collector, of the ledger or of a check, in the page's language; null if no catalogue has it
 * (keys `told.…`, whose placeholders stand for whatever the sentence has there).
 */
export function retold(sentence) {
  for (const [key, template] of Object.entries(spoken.english)) {
    if (!key.startsWith("told.")) continue;
    const found = pattern(template).exec(sentence);
    if (found !== null) return text(key, found.groups);
  }
  return null;
}

function pattern(template) {
  const parts = template.split(/\{(\w+)\}/).map((part, i) => {
    return i % 2 === 0 ? part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") : `(?<${part}>.+?)`;
  });
  return new RegExp(`^${parts.join("")}$`, "s");
}

function written(value) {
  return typeof value === "number" ? value.toLocaleString(spoken.locale) : (value ?? "");
}

/** Fill every element that names a key in data-text, or in data-label for its aria-label. */
export function fillPage() {
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = text(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", text(node.dataset.label));
}
