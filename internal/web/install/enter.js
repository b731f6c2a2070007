// Brings a session token to the service, which then knows who has the app open.
const status = document.getElementById("enter");
shopify.idToken().then((token) => {
  const query = new URLSearchParams(location.search);
  query.delete("hmac");
  query.set("id_token", token);
  location.replace(status.dataset.address + "?" + query);
}, () => { status.textContent = "The store's admin did not say who you are. Open the app again."; });
