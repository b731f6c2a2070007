// A stand-in for the platform's App Bridge: session tokens, authenticated requests, links
// that leave the frame, and the app's navigation in the admin.
(() => {
  const waiting = new Map();
  let last = 0;
  addEventListener("message", (event) => {
    if (event.source !== parent) return;
    if (event.data.kind === "go") {
      const link = document.body.appendChild(Object.assign(document.createElement("a"), { href: event.data.address }));
      link.click();
      link.remove();
    }
    if (event.data.kind !== "idToken") return;
    const done = waiting.get(event.data.id);
    waiting.delete(event.data.id);
    if (done) event.data.token ? done.resolve(event.data.token) : done.reject(new Error("no session"));
  });
  const idToken = () => new Promise((resolve, reject) => {
    const id = ++last;
    waiting.set(id, { resolve, reject });
    parent.postMessage({ kind: "idToken", id }, "*");
  });
  const meta = document.querySelector("meta[name=shopify-api-key]");
  window.shopify = { idToken, config: { apiKey: meta ? meta.content : "", shop: new URLSearchParams(location.search).get("shop") } };
  const send = window.fetch.bind(window);
  window.fetch = async (resource, options = {}) => {
    const request = new Request(resource, options);
    if (new URL(request.url).origin === location.origin && !request.headers.has("Authorization")) {
      request.headers.set("Authorization", "Bearer " + await idToken());
    }
    return send(request);
  };
  addEventListener("DOMContentLoaded", () => {
    const links = [...document.querySelectorAll("s-app-nav s-link")].map((link) => ({ name: link.textContent, address: link.getAttribute("href") }));
    if (links.length) parent.postMessage({ kind: "nav", links }, "*");
  });
  const open = window.open.bind(window);
  window.open = (address, target, ...more) => {
    if (target !== "_top") return open(address, target, ...more);
    parent.postMessage({ kind: "open", address: new URL(address, location.href).href }, "*");
    return null;
  };
})();
