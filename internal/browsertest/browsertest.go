// Package browsertest gives tests a real browser: Chromium without a window, and axe-core
// to find what keeps people from using a page.
package browsertest

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// commands are the names of the browser's program, the preferred one first. The first is Chromium without
// what draws its windows: pages take it half the processor time.
var commands = [...]string{"chromium-headless-shell", "chromium", "google-chrome"}

// Find returns the path of the browser's program.
func Find() (string, error) {
	for _, name := range commands {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no browser is installed: run make browser, or install the package chromium (looked for %s)", strings.Join(commands[:], ", "))
}

// Browser is a browser that the tests of a process share while they run. What one test
// could see of another is in its tabs, and each tab has cookies and storage of its own.
type Browser struct {
	ctx context.Context
	end func() error
}

// patience is how long a step in the browser may take on a busy machine.
const patience = time.Minute

// running is the browser of this process: a browser takes a second of processor time to
// start, and a tab takes next to none.
var running struct {
	mu      sync.Mutex
	users   int // tests that use it, and calls of Keep
	browser *Browser
}

// Start returns the browser of this process. It is started for the first test, and ends
// with the last of those that run. The test fails when none is installed.
func Start(t testing.TB) *Browser {
	t.Helper()
	running.mu.Lock()
	defer running.mu.Unlock()
	if running.browser == nil {
		b, err := start()
		if err != nil {
			t.Fatal(err)
		}
		running.browser = b
	}
	running.users++
	t.Cleanup(func() {
		if err := leave(); err != nil {
			t.Errorf("end the browser: %v", err)
		}
	})
	return running.browser
}

// Keep keeps the browser of this process, once a test has started it, until end is called.
func Keep() (end func() error) {
	running.mu.Lock()
	defer running.mu.Unlock()
	running.users++
	return leave
}

// leave ends the browser after its last user.
func leave() error {
	running.mu.Lock()
	defer running.mu.Unlock()
	if running.users--; running.users > 0 || running.browser == nil {
		return nil
	}
	b := running.browser
	running.browser = nil
	return b.end()
}

// unwanted are features of Chromium that cost processor time in tests: those that chromedp turns off, pages
// of the address bar, which every window loads, and pages that are kept for the way back.
const unwanted = "Translate,BlinkGenPropertyTrees,WebUIOmniboxPopup,WebUIOmniboxAimPopup,BackForwardCache"

func start() (*Browser, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "perennial-browser-")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-features", unwanted), chromedp.Flag("in-process-gpu", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	allocator, release := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	end := func() error {
		err := chromedp.Cancel(ctx)
		cancel()
		release()
		return errors.Join(err, os.RemoveAll(profile))
	}
	if err := chromedp.Do(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", path, err), end())
	}
	return &Browser{ctx, end}, nil
}

// Tab is a page of the browser, with cookies of its own.
type Tab struct {
	t    testing.TB
	ctx  context.Context
	bare bool // scripts are off
}

// Width, Height and Scheme are how a new tab shows pages.
const (
	Width  = 1280
	Height = 800
	Scheme = "light"
)

// Tab opens a tab that closes with the test.
func (b *Browser) Tab(t testing.TB) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as the context of its first step
		t.Fatalf("open a tab: %v", err)
	}
	p := &Tab{t: t, ctx: ctx}
	p.Show(Width, Height, Scheme)
	return p
}

// do carries out steps, or fails the test.
func (p *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

// Scripts switches the scripts of pages on or off, from the next page on.
func (p *Tab) Scripts(on bool) {
	p.t.Helper()
	p.do("switch scripts", func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
		return chromedp.Void{}, err
	})
	p.bare = !on
}

// RunsScripts reports whether scripts are on. An audit is one, and does not end without them.
func (p *Tab) RunsScripts() bool { return !p.bare }

// Show has the page shown in a window of a size, and in a colour scheme: "light" or "dark".
func (p *Tab) Show(width, height int64, scheme string) {
	p.t.Helper()
	p.do("show the page", chromedp.EmulateViewport(width, height), func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return chromedp.Void{}, err
	})
}

// Cookies gives the browser cookies that a server has set.
func (p *Tab) Cookies(url string, cookies []*http.Cookie) {
	p.t.Helper()
	p.do("set cookies", func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		for _, c := range cookies {
			if _, err := chromedp.Call(ctx, network.SetCookie, network.SetCookieParams{URL: url, Name: c.Name, Value: c.Value, Path: c.Path, HTTPOnly: &c.HttpOnly}); err != nil {
				return chromedp.Void{}, err
			}
		}
		return chromedp.Void{}, nil
	})
}

// Open opens an address and returns the status that was answered.
func (p *Tab) Open(url string) int {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	answer, err := chromedp.Run(ctx, chromedp.NavigateResponse(url))
	if err != nil {
		p.t.Fatalf("open %s: %v", url, err)
	}
	return p.status(answer)
}

// status waits until the page is whole, and returns its status. The end of a request of the page
// before is taken for that of this one: the page may still be read then, and when its answer is
// not reported, the page itself knows it.
func (p *Tab) status(answer *network.Response) int {
	p.t.Helper()
	p.Loaded()
	if answer == nil {
		return Eval[int](p, "performance.getEntriesByType('navigation')[0].responseStatus")
	}
	return int(answer.Status)
}

// Submit types a text over that of the field that a CSS selector finds, presses Enter, and returns
// the status of the page that follows.
func (p *Tab) Submit(field, text string) int {
	p.t.Helper()
	Eval[bool](p, fmt.Sprintf("document.querySelector(%q).select(), true", field))
	return p.follow("fill in "+field, chromedp.SendKeys(chromedp.CSS(field), text+kb.Enter))
}

// Click clicks what a CSS selector finds and returns the status of the page that follows.
func (p *Tab) Click(selector string) int {
	p.t.Helper()
	return p.follow("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Press clicks what a CSS selector finds and stays on the page.
func (p *Tab) Press(selector string) {
	p.t.Helper()
	p.do("press "+selector, chromedp.Click(chromedp.CSS(selector)))
}

func (p *Tab) follow(what string, step chromedp.Action[chromedp.Void]) int {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	answer, err := chromedp.RunResponse(ctx, step)
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
	return p.status(answer)
}

// Eval evaluates an expression in the page.
func Eval[T any](p *Tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("evaluate %.200s: %v", expression, err)
	}
	return v
}

// Until waits until an expression is true in the page, or in one that it leads to. A page that is just
// left fails evaluations for reasons that say nothing: they are tried again.
func (p *Tab) Until(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		if err == nil && is {
			return
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("wait for %.200s: %v", expression, err)
		case <-time.After(lookEvery):
		}
	}
}

// Loaded waits until the page is loaded. The page itself could not wait for it while its scripts are off.
func (p *Tab) Loaded() {
	p.t.Helper()
	p.Until("document.readyState === 'complete'")
}

// Screenshot returns the whole page as a PNG.
func (p *Tab) Screenshot() []byte {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	image, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Fatal(err)
	}
	return image
}

// axe finds problems of accessibility. It is as npm has it: testdata/axe-core says where
// it comes from.
//
//go:embed testdata/axe-core/axe.min.js
var axe string

// audit has axe look at a page, by the rules that the options name.
const audit = `axe.run(document, {resultTypes: ["violations"], preload: false, %s}).then(found => JSON.stringify(found.violations.flatMap(v =>
		v.nodes.map(n => ({rule: v.id, where: n.target.join(" "), reason: v.help + " " + [...n.any, ...n.all, ...n.none].map(c => c.message).join("; ")})))))`

// rules are the options of axe that say by which of its rules it looks: by all that are on
// by default, or by those that compare colours.
const (
	allRules    = ""
	colourRules = `runOnly: ["color-contrast", "link-in-text-block"]`
)

// layout lists the elements of a page that have a box, and where it is.
const layout = `JSON.stringify([...document.querySelectorAll("*")].map(e => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width || r.height).map(([e, r]) =>
	[e.localName, e.checkVisibility({visibilityProperty: true, opacityProperty: true}), r.x + scrollX, r.y + scrollY, r.width, r.height])) + document.body.innerText`

// Violation is a place on a page that breaks a rule.
type Violation struct {
	Rule   string `json:"rule"`
	Where  string `json:"where"` // CSS selector
	Reason string `json:"reason"`
}

// String returns the violation on one line.
func (v Violation) String() string { return v.Rule + " at " + v.Where + ": " + v.Reason }

// Audit returns what the page does to keep people from using it, by all rules of axe-core
// that are on by default, those of best practice among them.
func (p *Tab) Audit() []Violation { return p.auditBy(allRules) }

// AuditColours does the same by the rules that compare colours alone. Of a page that was
// audited in one colour scheme, and has the same Layout in another, the others find the same.
func (p *Tab) AuditColours() []Violation { return p.auditBy(colourRules) }

func (p *Tab) auditBy(rules string) []Violation {
	p.t.Helper()
	if !Eval[bool](p, "'axe' in window") {
		Eval[bool](p, axe+";true")
	}
	return decode(p, fmt.Sprintf(audit, rules))
}

// Layout describes what the page shows and where, whatever its colours are.
func (p *Tab) Layout() string {
	p.t.Helper()
	return Eval[string](p, layout)
}

// maxStops is after how many presses of Tab the keyboard is believed to go in circles.
const maxStops = 400

// Expressions around the presses of Tab: what they have to reach, and what of it they did not.
const (
	stops = `(() => {
		const shown = e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0;
		const scrolls = e => ["auto", "scroll"].some(v => [getComputedStyle(e).overflowX, getComputedStyle(e).overflowY].includes(v)) &&
			(e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1);
		// of radio buttons that belong together, Tab reaches the one that is chosen, or else the first
		const group = e => [...document.getElementsByName(e.name)].filter(o => o.form === e.form);
		const other = e => e.type === "radio" && !e.checked && (group(e).some(o => o.checked) || group(e)[0] !== e);
		const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter(e => shown(e) && !e.disabled && e.type !== "hidden" && !other(e));
		const regions = [...document.body.querySelectorAll("*")].filter(e => shown(e) && scrolls(e) && !controls.some(c => e.contains(c)));
		window.wanted = [...controls, ...regions];
		window.reached = new Map();
		document.activeElement.blur();
		addEventListener("focusin", event => {
			const style = getComputedStyle(event.target);
			window.reached.set(event.target, style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0);
		});
		// a date has stops of its own for the day, the month, the year and the calendar
		return wanted.length + 3 * controls.filter(e => e.type === "date").length;
	})()`
	unreached = `JSON.stringify(wanted.filter(e => !reached.get(e)).map(e => ({
		rule: reached.has(e) ? "focus-visible" : "keyboard", where: e.outerHTML.slice(0, 120),
		reason: reached.has(e) ? "nothing shows that it has the focus" : "Tab does not reach it"})))`
)

// Keyboard returns the controls, links and scrolling regions that are shown and that Tab
// does not reach, or reaches without showing so.
func (p *Tab) Keyboard() []Violation {
	p.t.Helper()
	presses := Eval[int](p, stops)
	if presses > maxStops {
		p.t.Fatalf("the page has %d stops for the keyboard", presses)
	}
	// the focus moves when the key goes down; its way up would take as long once more
	p.do("press Tab", func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		for range presses + 1 {
			if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, *kb.Encode('\t')[0]); err != nil {
				return chromedp.Void{}, err
			}
		}
		return chromedp.Void{}, nil
	})
	return decode(p, unreached)
}

// sideways finds what makes a page scroll sideways.
const sideways = `JSON.stringify((() => {
	const width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth <= width) return [];
	const e = [...document.body.querySelectorAll("*")].find(e => e.getBoundingClientRect().right > width + 1) ?? document.body;
	return [{rule: "sideways", where: e.outerHTML.slice(0, 120), reason: "the page is " + document.documentElement.scrollWidth + " pixels wide in a window of " + width}];
})())`

// Sideways returns a violation when the page scrolls sideways.
func (p *Tab) Sideways() []Violation {
	p.t.Helper()
	return decode(p, sideways)
}

func decode(p *Tab, expression string) []Violation {
	p.t.Helper()
	var found []Violation
	if err := json.Unmarshal([]byte(Eval[string](p, expression)), &found); err != nil {
		p.t.Fatal(err)
	}
	return found
}

// Leave evaluates an expression that has another page opened, and returns the status of the
// page that follows.
func (p *Tab) Leave(expression string) int {
	p.t.Helper()
	step := chromedp.Evaluate[bool](expression)
	return p.follow(fmt.Sprintf("evaluate %.200s", expression), func(ctx context.Context, on *chromedp.Target) (chromedp.Void, error) {
		_, err := step(ctx, on)
		return chromedp.Void{}, err
	})
}
