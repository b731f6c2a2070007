// The admin's side of a frame: it answers the app's script, opens pages for it, and shows its
// navigation. It is loaded before the frame, so that it misses no question.
addEventListener("message", async (event) => {
  const frame = document.getElementById("app");
  const origin = new URL(frame.dataset.origin).origin;
  if (event.source !== frame.contentWindow || event.origin !== origin) return;
  const { kind, id, address, links } = event.data;
  if (kind === "open") location.assign(address);
  if (kind === "nav") {
    document.getElementById("nav").replaceChildren(...links.map((link) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: link.name });
      button.addEventListener("click", () => frame.contentWindow.postMessage({ kind: "go", address: link.address }, origin));
      return button;
    }));
  }
  if (kind !== "idToken") return;
  const answer = await fetch(frame.dataset.session, { method: "POST" });
  const token = answer.ok ? (await answer.json()).token : "";
  event.source.postMessage({ kind: "idToken", id, token }, origin);
});
