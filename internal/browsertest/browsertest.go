// Package browsertest gives tests a real browser: Chromium without a window, and axe-core
// to find what keeps people from using a page.
package browsertest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// commands are the names of the browser's program, the preferred one first.
var commands = [...]string{"chromium", "google-chrome"}

// Find returns the path of the browser's program.
func Find() (string, error) {
	for _, name := range commands {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no browser is installed: run make browser, or install the package chromium (looked for %s)", strings.Join(commands[:], ", "))
}

// Browser is a browser of a test's own, with a profile of its own.
type Browser struct {
	ctx context.Context
}

// patience is how long a step in the browser may take on a busy machine.
const patience = 20 * time.Second

// Start starts a browser that ends with the test. The test fails when none is installed.
func Start(t testing.TB) *Browser {
	t.Helper()
	path, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(patience))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("end the browser: %v", err)
		}
		cancel()
		end()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return &Browser{ctx}
}

// Tab is a page of the browser, with cookies of its own.
type Tab struct {
	t   testing.TB
	ctx context.Context
}

// Tab opens a tab that closes with the test.
func (b *Browser) Tab(t testing.TB) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as the context of its first step
		t.Fatalf("open a tab: %v", err)
	}
	return &Tab{t, ctx}
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
}

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

// status returns the status of the page that was loaded. The browser does not report the
// answer when a request of the page before ends meanwhile; the page itself knows it.
func (p *Tab) status(answer *network.Response) int {
	p.t.Helper()
	if answer == nil {
		return Eval[int](p, "performance.getEntriesByType('navigation')[0].responseStatus")
	}
	return int(answer.Status)
}

// Submit types a text into the field that a CSS selector finds, presses Enter, and returns
// the status of the page that follows.
func (p *Tab) Submit(field, text string) int {
	p.t.Helper()
	return p.follow("fill in "+field, chromedp.SendKeys(chromedp.CSS(field), text+kb.Enter))
}

// Click clicks what a CSS selector finds and returns the status of the page that follows.
func (p *Tab) Click(selector string) int {
	p.t.Helper()
	return p.follow("click "+selector, chromedp.Click(chromedp.CSS(selector)))
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

// audit has axe look at a page.
const audit = `axe.run(document, {resultTypes: ["violations"], preload: false}).then(found => JSON.stringify(found.violations.flatMap(v =>
		v.nodes.map(n => ({rule: v.id, where: n.target.join(" "), reason: v.help + " " + [...n.any, ...n.all, ...n.none].map(c => c.message).join("; ")})))))`

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
func (p *Tab) Audit() []Violation {
	p.t.Helper()
	if !Eval[bool](p, "'axe' in window") {
		Eval[bool](p, axe+";true")
	}
	return decode(p, audit)
}

// maxStops is after how many presses of Tab the keyboard is believed to go in circles.
const maxStops = 400

// Keyboard returns the controls, links and scrolling regions that are shown and that Tab
// does not reach, or reaches without showing so.
func (p *Tab) Keyboard() []Violation {
	p.t.Helper()
	stops := Eval[int](p, `(() => {
		const shown = e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0;
		const scrolls = e => ["auto", "scroll"].some(v => [getComputedStyle(e).overflowX, getComputedStyle(e).overflowY].includes(v)) &&
			(e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1);
		const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter(e => shown(e) && !e.disabled && e.type !== "hidden");
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
	})()`)
	if stops > maxStops {
		p.t.Fatalf("the page has %d stops for the keyboard", stops)
	}
	p.do("press Tab", chromedp.KeyEvent(strings.Repeat(kb.Tab, stops+1)))
	return decode(p, `JSON.stringify(wanted.filter(e => !reached.get(e)).map(e => ({
		rule: reached.has(e) ? "focus-visible" : "keyboard", where: e.outerHTML.slice(0, 120),
		reason: reached.has(e) ? "nothing shows that it has the focus" : "Tab does not reach it"})))`)
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
