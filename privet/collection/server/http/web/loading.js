/** Says that the page did not load, and offers to try again; it runs before the page's own script, and without it. */

window.addEventListener(
  "error",
  ({ target }) => {
    if (target instanceof HTMLScriptElement || target instanceof HTMLLinkElement) document.documentElement.className = "stuck";
  },
  true,
);
window.addEventListener("click", ({ target }) => {
  if (target.id === "again") window.location.reload();
});
