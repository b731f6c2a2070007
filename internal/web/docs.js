// Sends what the forms of the reference say, with the key that the reader typed,
// and shows the answer. The key stays in this page.
"use strict";

const key = document.getElementById("key");

for (const form of document.querySelectorAll("form[data-path]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
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
    if (key.value !== "") headers["X-API-Key"] = key.value;
    const body = form.querySelector("textarea");
    if (body) headers["Content-Type"] = "application/json";
    button.disabled = true;
    output.textContent = "…";
    try {
      const answer = await fetch(path + (query.size ? "?" + query : ""), { method: form.dataset.method, headers, body: body ? body.value : undefined });
      const text = await answer.text();
      output.textContent = answer.status + " " + answer.statusText + "\n" + pretty(text);
    } catch (failure) {
      output.textContent = "The request could not be sent: " + failure.message;
    }
    button.disabled = false;
  });
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
