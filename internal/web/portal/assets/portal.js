// What pages do for people whose browser runs scripts. Everything here is a shorter way to
// something that works without.

// Moves the focus to the title of what has just been read.
const announce = (root) => {
  const title = root.querySelector("#title");
  title?.setAttribute("tabindex", "-1");
  title?.focus();
};

// Within a theme the page has a place for the screen, and the screen is read into it.
const place = document.querySelector("[data-portal]");
if (place) {
  const ask = new URL(location.href);
  ask.searchParams.set("part", "1");
  fetch(ask, { headers: { "HX-Request": "true", Accept: "text/html" } }).then((answer) => answer.text()).then((text) => {
    place.innerHTML = text;
    place.removeAttribute("aria-busy");
    htmx.process(place);
    again(place, 30);
    if (ask.searchParams.has("done")) announce(place);
  }, () => {
    const own = new URL(location.href);
    own.searchParams.set("page", "1");
    location.replace(own);
  });
}

// A link to a question opens it in a dialog. Its form is sent as that of the page.
addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-ask]");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const ask = new URL(link.href);
    if (place) ask.searchParams.set("part", "1");
    const answer = await fetch(ask, { headers: { "HX-Request": "true", Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const question = page.querySelector("[data-question]");
    if (!answer.ok || !question) throw new Error("no question");
    const dialog = document.createElement("dialog");
    const head = page.querySelector(".head");
    const title = head.querySelector("h1");
    title.replaceWith(Object.assign(document.createElement("h2"), { id: "asked", textContent: title.textContent }));
    dialog.setAttribute("aria-labelledby", "asked");
    dialog.append(head, question);
    dialog.addEventListener("close", () => { dialog.remove(); link.focus(); });
    dialog.addEventListener("click", (close) => { if (close.target === dialog) dialog.close(); });
    dialog.querySelector("[data-keep]")?.addEventListener("click", (close) => { close.preventDefault(); dialog.close(); });
    (place ?? document.body).append(dialog);
    htmx.process(dialog);
    dialog.showModal();
  } catch {
    location.assign(link.href);
  }
});

// A page that waits for something is read again until it does not, every two seconds for a minute.
const again = (root, left) => setTimeout(async () => {
  const waits = root.querySelector("[data-again]");
  if (!waits || left === 0) return;
  const ask = new URL(waits.dataset.again, location.href);
  if (place) ask.searchParams.set("part", "1");
  const answer = await fetch(ask, { headers: { "HX-Request": "true", Accept: "text/html" } }).catch(() => null);
  const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!page || page.querySelector("[data-again]")) return again(root, left - 1);
  root.querySelector("#main").replaceWith(page.querySelector("#main"));
  announce(root);
}, 2000);
again(document, 30);

// A form with a total counts it again while its fields change.
let counting;
addEventListener("input", (event) => {
  const form = event.target.closest("form[data-count]");
  if (!form || event.target.type === "search") return;
  clearTimeout(counting);
  counting = setTimeout(async () => {
    const total = form.querySelector("[data-total]");
    const body = new URLSearchParams(new FormData(form));
    body.set("do", "count");
    const answer = await fetch(form.action, { method: "POST", headers: { "HX-Request": "true", Accept: "text/html" }, body }).catch(() => null);
    const counted = answer && new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(`[data-total="${total.dataset.total}"]`);
    if (counted) total.replaceChildren(...counted.childNodes);
  }, 400);
});

// A form that is being sent is not sent again.
addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "1";
});
addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => { delete form.dataset.sent; }));
