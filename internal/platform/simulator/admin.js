// The admin's side of a frame: it answers the app's script, and opens pages for it. It is
// loaded before the frame, so that it misses no question.
addEventListener("message", async (event) => {
  const frame = document.getElementById("app");
  const origin = new URL(frame.dataset.origin).origin;
  if (event.source !== frame.contentWindow || event.origin !== origin) return;
  if (event.data.kind === "open") {
    location.assign(event.data.address);
    return;
  }
  if (event.data.kind !== "idToken") return;
  const answer = await fetch(frame.dataset.session, { method: "POST" });
  const token = answer.ok ? (await answer.json()).token : "";
  event.source.postMessage({ kind: "idToken", id: event.data.id, token }, origin);
});
