/** The link's fragment, which a browser never sends to a server: study, token, and perhaps a language. */

import { Refusal } from "../study/refusal.js";

/**
 * The study's id and the token. The token leaves the address as soon as it is read, so that neither a screen that is
 * shared nor the browser's history has it; a reload finds it in the state of this entry of the tab.
 */
export function readLink() {
  const link = new URLSearchParams(window.location.hash.slice(1));
  const study = (link.get("study") ?? "").toLowerCase();
  if (link.has("token")) {
    const token = link.get("token");
    link.delete("token");
    window.history.replaceState({ token }, "", `#${link}`);
  }
  if (!/^[0-9a-f]{64}$/.test(study)) throw Refusal.of("link", { form: "#study=…&token=…" });
  return { study, token: window.history.state?.token ?? "" };
}

/** Write a language into the address, so that a reload keeps it; nothing is loaded. */
export function rememberLanguage(language) {
  const link = new URLSearchParams(window.location.hash.slice(1));
  link.set("lang", language);
  window.history.replaceState(window.history.state, "", `#${link}`);
}

/** Refuse a connection or a browser that cannot keep the promise. */
export function requireBrowser() {
  if (window.isSecureContext && window.crypto?.subtle && navigator.locks && "localStorage" in window) return;
  throw Refusal.of("connection");
}
