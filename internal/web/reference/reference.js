// Sends the requests of the reference's forms with the key that the reader typed, and
// shows the answers. Leads links of the reference that was one page to its pages.
"use strict";

const keyName = "perennial-api-key";
const key = document.getElementById("key");

if (key) {
  key.value = sessionStorage.getItem(keyName) ?? "";
  key.addEventListener("input", () => sessionStorage.setItem(keyName, key.value));
  document.getElementById("access").hidden = false;
}

for (const part of document.querySelectorAll("details.try")) {
  part.hidden = false;
  const form = part.querySelector("form");
  const body = form.querySelector("textarea");
  if (body) body.value = part.parentElement.querySelector(".sample").textContent;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

follow();
window.addEventListener("hashchange", follow);

// follow opens the page of what the fragment of the index names.
function follow() {
  const name = decodeURIComponent(location.hash.slice(1));
  if (!location.pathname.replace(/\/$/, "").endsWith("/docs") || name === "") return;
  const link = document.getElementById(name)?.querySelector("a");
  if (name.startsWith("shape-")) location.replace(location.pathname.replace(/\/$/, "") + "/shapes/" + encodeURIComponent(name.slice("shape-".length)));
  else if (link) location.replace(link.href);
}

async function send(form) {
  const output = form.querySelector("output");
  const button = form.querySelector("button");
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = { Accept: "application/json" };
  for (const input of form.querySelectorAll("input[data-in]")) {
    const value = input.value;
    if (input.dataset.in === "path") path = path.replace("{" + input.name + "}", encodeURIComponent(value));
    else if (value !== "" && input.dataset.in === "query") query.append(input.name, value);
    else if (value !== "" && input.dataset.in === "header") headers[input.name] = value;
  }
  if (key && key.value !== "") headers["X-API-Key"] = key.value;
  const body = form.querySelector("textarea");
  if (body) headers["Content-Type"] = "application/json";
  button.disabled = true;
  output.hidden = false;
  output.textContent = "…";
  try {
    const answer = await fetch(path + (query.size ? "?" + query : ""), { method: form.dataset.method, headers, body: body ? body.value : undefined });
    const text = await answer.text();
    output.textContent = answer.status + " " + answer.statusText + "\n" + pretty(text);
  } catch (failure) {
    output.textContent = "The request could not be sent: " + failure.message;
  }
  button.disabled = false;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
