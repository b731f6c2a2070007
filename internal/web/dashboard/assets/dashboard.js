// What pages do for people whose browser runs scripts. Everything here is a shorter way to
// something that works without.
const typing = (element) => element.closest("input, textarea, select, [contenteditable]");

// "/" and Ctrl K go to the search of the whole store.
addEventListener("keydown", (event) => {
  const find = document.getElementById("find");
  if (!find) return;
  const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !typing(event.target);
  const command = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (!slash && !command) return;
  event.preventDefault();
  find.focus();
  find.select();
});

// Results appear below that search as one types; arrow keys go through them.
const found = document.getElementById("found");
if (found) {
  const find = document.getElementById("find");
  const says = document.getElementById("found-count");
  let asked = 0;
  let timer;
  const close = () => { asked += 1; found.hidden = true; says.textContent = ""; };
  const ask = async () => {
    const words = find.value.trim();
    if (words.length < 2) return close();
    const turn = asked += 1;
    try {
      const answer = await fetch(`${find.form.action}?part=1&find=${encodeURIComponent(words)}`);
      if (turn !== asked || !answer.ok || answer.redirected) return;
      const text = await answer.text();
      if (turn !== asked) return;
      found.innerHTML = text;
      found.hidden = false;
      says.textContent = found.firstElementChild?.dataset.count ?? "";
    } catch { close(); }
  };
  find.setAttribute("autocomplete", "off");
  find.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 150); });
  find.form.addEventListener("keydown", (event) => {
    const links = [find, ...found.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && !found.hidden) {
      event.preventDefault();
      close();
      find.focus();
    } else if (step && !found.hidden) {
      event.preventDefault();
      links[Math.min(Math.max(links.indexOf(document.activeElement) + step, 0), links.length - 1)].focus();
    }
  });
  find.form.addEventListener("focusout", (event) => { if (!find.form.contains(event.relatedTarget)) close(); });
}

// Copies the text beside a button.
const offerCopies = (root) => root.querySelectorAll("[data-copy]").forEach((button) => { button.hidden = !navigator.clipboard; });
addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.parentElement.querySelector("[data-copied]").textContent);
  const label = button.lastChild;
  const before = label.textContent;
  label.textContent = "Copied";
  setTimeout(() => { label.textContent = before; }, 2000);
});

// On a phone the tabs scroll: the one that is open is in sight.
const showTab = () => document.querySelectorAll(".tabs > [aria-current]").forEach((tab) => {
  const tabs = tab.parentElement;
  tabs.scrollLeft = tab.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - tab.offsetWidth) / 2;
});
showTab();
addEventListener("resize", showTab);

// A box that ticks all others of its table, and the bar that appears when one is ticked.
document.querySelectorAll("form[data-select]").forEach((form) => {
  form.querySelectorAll("[data-all]").forEach((box) => { box.hidden = false; });
  form.querySelectorAll("[data-bar]").forEach((bar) => { bar.hidden = !form.querySelector("input[name=id]:checked"); });
});
addEventListener("change", (event) => {
  const form = event.target.closest("form[data-select]");
  if (!form) return;
  const boxes = [...form.querySelectorAll("input[name=id]")];
  if (event.target.matches("[data-all]")) boxes.forEach((box) => { box.checked = event.target.checked; });
  const ticked = boxes.filter((box) => box.checked);
  boxes.forEach((box) => { box.closest("tr").classList.toggle("sel", box.checked); });
  form.querySelectorAll("[data-bar]").forEach((bar) => { bar.hidden = ticked.length === 0; });
  form.querySelectorAll("[data-ticked]").forEach((count) => { count.textContent = `${ticked.length} selected`; });
});

// A link to a question opens it in a dialog. Its form is sent as that of the page.
addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-ask]");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || document.body.classList.contains("embedded")) return;
  event.preventDefault();
  try {
    const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const question = page.querySelector("[data-question]");
    if (!question) throw new Error("no question");
    const dialog = document.createElement("dialog");
    const head = document.createElement("header");
    const heading = document.createElement("h2");
    heading.id = "dialog-title";
    heading.textContent = page.querySelector("h1").textContent;
    head.append(heading);
    question.removeAttribute("aria-label");
    dialog.setAttribute("aria-labelledby", "dialog-title");
    dialog.append(head, ...question.childNodes);
    dialog.addEventListener("close", () => { dialog.remove(); link.focus(); });
    dialog.querySelector("[data-keep]")?.addEventListener("click", (close) => { close.preventDefault(); dialog.close(); });
    document.body.append(dialog);
    dialog.showModal();
  } catch {
    location.assign(link.href);
  }
});

// A form with a total counts it again while its fields change.
let counting;
addEventListener("input", (event) => {
  const form = event.target.closest("form[data-count]");
  if (!form) return;
  clearTimeout(counting);
  counting = setTimeout(async () => {
    const body = new URLSearchParams(new FormData(form));
    body.set("do", "count");
    const answer = await fetch(form.action, { method: "POST", headers: { Accept: "text/html" }, body }).catch(() => null);
    const counted = answer && new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-total]");
    if (counted) form.querySelector("[data-total]").replaceChildren(...counted.childNodes);
  }, 400);
});

// Leaving a form with changes that are not saved is asked about once.
let changed = false;
addEventListener("input", (event) => { changed = changed || Boolean(event.target.closest("form[data-guard]")); });
addEventListener("submit", () => { changed = false; });
addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });

// A part of the page whose request got no answer says so in its place. A part that is read again
// every few seconds stays as it is.
document.addEventListener("htmx:error", (event) => {
  const { ctx } = event.detail;
  const place = ctx?.sourceElement;
  if (!place?.isConnected || place.getAttribute("hx-trigger")?.startsWith("every")) return;
  const says = document.createElement("p");
  says.textContent = "No answer came. Check the connection.";
  if (!place.hasAttribute("hx-get")) return place.replaceChildren(says);
  const problem = document.createElement("div");
  problem.className = "banner crit";
  problem.dataset.problem = "";
  problem.setAttribute("role", "alert");
  const again = document.createElement("button");
  again.className = "btn s";
  again.type = "button";
  again.textContent = "Try again";
  again.setAttribute("hx-get", place.getAttribute("hx-get"));
  again.setAttribute("hx-target", "closest [data-problem]");
  again.setAttribute("hx-swap", "outerHTML");
  const text = document.createElement("div");
  text.className = "t stack s";
  text.append(says, again);
  problem.append(text);
  (place.closest("[data-problem]") ?? place).replaceWith(problem);
  htmx.process(problem);
});

offerCopies(document);
document.addEventListener("htmx:after:swap", () => offerCopies(document));

// A colour can be typed or picked: each field follows the other.
document.querySelectorAll(".hues").forEach((field) => {
  const [picked, typed] = field.querySelectorAll("input");
  picked.addEventListener("input", () => { typed.value = picked.value; });
  typed.addEventListener("input", () => { if (/^#[0-9a-f]{6}$/i.test(typed.value)) picked.value = typed.value.toLowerCase(); });
});
