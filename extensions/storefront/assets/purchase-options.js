// Shortens the way: without it the options are a form all the same. It keeps the address in
// step with the chosen plan, finds the theme's form when the setting does not name it, and
// reads the options again when the theme shows another variant.
(() => {
  const start = (root) => {
    if (root.dataset.started) return;
    root.dataset.started = "true";
    const radios = () => [...root.querySelectorAll('[name="selling_plan"]')];

    const keep = () => {
      const chosen = radios().find((radio) => radio.checked);
      if (!chosen) return;
      const mark = (href) => {
        const url = new URL(href, location.href);
        if (chosen.value) url.searchParams.set("selling_plan", chosen.value);
        else url.searchParams.delete("selling_plan");
        return url.pathname + url.search + url.hash;
      };
      for (const link of root.querySelectorAll(".perennial-variants a")) link.href = mark(link.href);
      if (location.pathname === new URL(root.dataset.url, location.href).pathname) history.replaceState(history.state, "", mark(location.href));
    };
    root.addEventListener("change", keep);
    keep();
    if (!("joinsForm" in root.dataset)) return;

    const section = root.closest(".shopify-section") ?? document;
    const join = () => {
      const form = radios()[0]?.form ?? section.querySelector('form[action*="/cart/add"]');
      if (!form) return;
      // not form.id: that is the form's input with the name "id"
      if (!form.getAttribute("id")) form.setAttribute("id", "perennial-form-" + root.dataset.section);
      for (const radio of radios()) radio.setAttribute("form", form.getAttribute("id"));
      return form;
    };

    let latest = 0;
    const show = async (variant) => {
      const turn = ++latest;
      const url = new URL(root.dataset.url, location.href);
      const chosen = radios().find((radio) => radio.checked)?.value;
      url.searchParams.set("variant", variant);
      url.searchParams.set("section_id", root.dataset.section);
      if (chosen) url.searchParams.set("selling_plan", chosen);
      const answer = await fetch(url);
      if (!answer.ok || turn !== latest) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.querySelector("[data-perennial-options]");
      root.replaceChildren(...(fresh?.childNodes ?? []));
      join();
      keep();
    };
    join()?.addEventListener("change", (event) => {
      if (event.target.name === "id") show(event.target.value);
    });
  };
  const all = () => document.querySelectorAll("[data-perennial-options]").forEach(start);
  document.addEventListener("shopify:section:load", all);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
  else all();
})();
