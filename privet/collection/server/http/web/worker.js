/**
 * The service worker: the participant's page without a connection.
 *
 * It answers for the page's own files and for public data by its hash, and for nothing else: reports, the study's
 * status, invitations, the operator's page and other origins always go to the network. The collector puts
 * VERSION and FILES before this text: {path: SHA-256}, so that a cache holds one version whole or is not made.
 */

/* global VERSION, FILES */

const PAGE = `privet-page-${VERSION}`;
const PUBLIC = "privet-public-2";
const MOST_PUBLIC = 64;

const own = (request) => new URL(request.url).pathname;
const isPublic = (path) => /^\/public\/[0-9a-f]{64}$/.test(path);

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  if (Object.hasOwn(FILES, own(request))) event.respondWith(file(request));
  else if (isPublic(own(request))) event.respondWith(publicData(request));
});
self.addEventListener("message", (event) => {
  const { keep: paths, open, token } = event.data;
  event.waitUntil(keep(paths.filter(isPublic), open, token).finally(() => event.ports[0].postMessage("kept")));
});

async function install() {
  const cache = await caches.open(PAGE);
  const fetched = Object.entries(FILES).map(async ([path, hash]) => {
    const response = await fetch(path, { cache: "no-cache", credentials: "omit" });
    if (!response.ok || (await sha256(response.clone())) !== hash) throw new TypeError(`${path} is of another version`);
    await cache.put(path, response);
  });
  await Promise.all(fetched).catch(async (error) => {
    await caches.delete(PAGE);
    throw error;
  });
  await self.skipWaiting(); // a page that is open has all of its scripts; the next load is of this version
}

async function activate() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => ![PAGE, PUBLIC].includes(name)).map((name) => caches.delete(name)));
  await self.clients.claim();
}

async function file(request) {
  return (await (await caches.open(PAGE)).match(own(request))) ?? fetch(request);
}

async function publicData(request) {
  const [cache, key] = [await caches.open(PUBLIC), await keyOf(request)];
  const known = await cache.match(key);
  if (known !== undefined) return known;
  const response = await fetch(request);
  if (response.ok && own(request).endsWith(await sha256(response.clone()))) {
    await cache.put(key, response.clone());
    for (const old of (await cache.keys()).slice(0, -MOST_PUBLIC)) await cache.delete(old);
  }
  return response;
}

/** The name under which data are kept: what was given for a token is given again for the same token only. */
async function keyOf(request) {
  const shown = request.headers.get("Authorization");
  return shown === null ? own(request) : `${own(request)}?for=${await sha256(new Response(shown))}`;
}

/** Keep what the page loaded before this worker was there; `open` are the paths of manifests, which need no token. */
function keep(paths, open, token) {
  const headers = (path) => (token && !open.includes(path) ? { Authorization: `Bearer ${token}` } : {});
  return Promise.all(
    paths.map((path) => publicData(new Request(path, { headers: headers(path), credentials: "omit" }))),
  );
}

async function sha256(response) {
  const digest = await crypto.subtle.digest("SHA-256", await response.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
