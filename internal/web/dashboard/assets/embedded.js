// In the platform's admin every request brings a session token of the platform: links get it
// in their address, forms in a field.
const withToken = (address, token) => {
  const url = new URL(address, location.href);
  url.searchParams.set("embedded", "1");
  url.searchParams.set("id_token", token);
  return url;
};

addEventListener("click", async (event) => {
  const link = event.target.closest("a[href]");
  if (!link || link.target || link.origin !== location.origin || link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  location.assign(withToken(link.href, await shopify.idToken()));
});

addEventListener("submit", async (event) => {
  const form = event.target;
  event.preventDefault();
  const field = form.elements.id_token ?? form.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name: "id_token" }));
  const { submitter } = event;
  if (submitter?.name) { // submit() leaves the button out
    form.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name: submitter.name, value: submitter.value }));
  }
  field.value = await shopify.idToken();
  HTMLFormElement.prototype.submit.call(form);
});

const bring = document.getElementById("bring");
if (bring) {
  shopify.idToken().then(
    (token) => location.replace(withToken(location.href, token)),
    () => { bring.textContent = "The store's admin did not say who you are. Open the app again."; },
  );
}
