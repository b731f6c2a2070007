package browsertest

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// content serializes what an audit looks at, once the parts of the page that load later are there; those
// that show progress are not loaded again, since an audit needs a page that stays. Serialized are the
// elements, with those of shadow roots; which fields are ticked and which dialogs are open; the rules of
// all style sheets. Left out is what differs from run to run and no rule depends on: scripts, the shape of
// drawings, and in texts, addresses and values the words that have a digit or are as long as a key.
const content = `(async () => {
	document.addEventListener("htmx:before:request", event => {
		if (event.target.matches("[hx-trigger^=every]")) event.preventDefault();
	});
	while (document.querySelector("[hx-trigger=load], .htmx-request")) await new Promise(again => setTimeout(again, 10));
	const text = [];
	const vary = s => s.replace(/^data:.*/s, "data:").replace(/[\w…-]*[\d…][\w…-]*|[\w-]{16,}/g, "0");
	const key = /[\w+/=-]{16,}/g; // with the letters of base64
	const varies = /^(href|xlink:href|src|srcset|srcdoc|action|formaction|value|datetime|download|alt|title|placeholder|aria-label|(data|hx)-.*)$/;
	const omitted = /^(d|points|nonce|integrity)$/;
	const add = node => {
		if (node.nodeType === Node.TEXT_NODE) return text.push(vary(node.data.replace(key, "0")));
		if (node.nodeType !== Node.ELEMENT_NODE) return;
		text.push("<" + node.localName);
		for (const a of node.attributes) {
			if (!omitted.test(a.name)) text.push(" " + a.name + "=" + (varies.test(a.name) ? vary(a.value) : a.value));
		}
		text.push((node.matches(":checked, :modal, :popover-open") ? " on" : "") + ">");
		if (node.shadowRoot) root(node.shadowRoot);
		if (!["script", "style"].includes(node.localName)) node.childNodes.forEach(add);
		text.push("</>");
	};
	const root = of => {
		of.childNodes.forEach(add);
		for (const sheet of [...of.styleSheets, ...of.adoptedStyleSheets]) {
			let rules;
			try { rules = sheet.cssRules; } catch { continue; } // of another origin
			if (!sheet.disabled) text.push("\n" + sheet.media.mediaText, ...[...rules].map(rule => rule.cssText));
		}
	};
	root(document);
	return text.join("");
})()`

// Content returns what an audit looks at. While it is the same, an audit finds the same.
func (p *Tab) Content() string {
	p.t.Helper()
	return Eval[string](p, content)
}

// Content returns what an audit of the page in the frame looks at, as [Tab.Content] does.
func (f *Frame) Content() string {
	f.tab.t.Helper()
	return f.text("read the page", content)
}

// Rules returns a checksum of axe-core and of the expressions around it. Pages that were found to be
// sound by other rules are audited again.
func Rules() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{axe, audit, allRules, colourRules, layout, sideways, stops, unreached}, "\n")))
	return hex.EncodeToString(sum[:])
}
