/** The choice of a language: the link's, else the browser's, else the one picked on the page. */

import { byId, element } from "../controls/dom.js";
import { rememberLanguage } from "../device/link.js";
import { fillPage, LANGUAGES, speak, wantedLanguage } from "./texts.js";

const PAUSE = 2000;

/** Load the wanted language and fill the page with it, however long the connection takes. */
export async function speakWanted() {
  const language = wantedLanguage(window.location.hash, navigator.languages);
  const options = Object.entries(LANGUAGES).map(([code, name]) => element("option", { value: code, lang: code }, name));
  byId("language").replaceChildren(...options);
  byId("language").value = language;
  for (;;) {
    try {
      await speak(language, navigator.languages);
      return fillPage();
    } catch {
      document.documentElement.className = "stuck"; // until the words are there, the page says so in every language
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}

/** Let people pick another language; `then()` says everything again. */
export function listenForLanguage(then) {
  byId("language").addEventListener("change", async () => {
    rememberLanguage(byId("language").value);
    await speakWanted();
    await then();
  });
}
