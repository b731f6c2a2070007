package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Frame is whatever page is in a frame of a tab. Pages of other origins are read too.
type Frame struct {
	tab      *Tab
	selector string // of the frame's element
}

// Frame returns the frame that a CSS selector finds, now or in pages to come.
func (p *Tab) Frame(selector string) *Frame { return &Frame{p, selector} }

// lookEvery is how often a step that waits for a page looks again.
const lookEvery = 50 * time.Millisecond

// errNotYet is why a step that waits is tried again.
var errNotYet = errors.New("the frame does not show it")

// until tries a step until it succeeds, or fails the test. A page that is just left fails
// steps for reasons that say nothing.
func (f *Frame) until(what string, step func(ctx context.Context) error) {
	f.tab.t.Helper()
	ctx, cancel := context.WithTimeout(f.tab.ctx, patience)
	defer cancel()
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	var last error
	for {
		err := step(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			f.tab.t.Fatalf("%s in the frame %s: %v", what, f.selector, last)
		case <-looks.C:
		}
	}
}

// inFrame evaluates an expression beside the scripts of the page in the frame: with the
// document, and without what they have defined.
func inFrame[T any](ctx context.Context, f *Frame, expression string) (T, error) {
	var none T
	element, err := chromedp.Run(ctx, chromedp.Evaluate[*runtime.RemoteObject](fmt.Sprintf("document.querySelector(%q)", f.selector)))
	if err != nil {
		return none, err
	}
	if element.ObjectID == "" {
		return none, errNotYet
	}
	described, err := chromedp.Call(ctx, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: element.ObjectID})
	if err != nil {
		return none, err
	}
	world, err := chromedp.Call(ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: described.Node.FrameID, WorldName: "browsertest"})
	if err != nil {
		return none, err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise, func(p *runtime.EvaluateParams) { p.ContextID = world.ExecutionContextID }))
}

// Wait waits until the page in the frame says something.
func (f *Frame) Wait(words string) {
	f.tab.t.Helper()
	says := ""
	f.until(fmt.Sprintf("wait for %q", words), func(ctx context.Context) (err error) {
		says, err = inFrame[string](ctx, f, "document.readyState === 'complete' ? document.body.innerText : ''")
		if err == nil && !strings.Contains(says, words) {
			err = fmt.Errorf("%w: %s", errNotYet, says)
		}
		return err
	})
}

// Text returns what the page in the frame says.
func (f *Frame) Text() (says string) {
	f.tab.t.Helper()
	f.until("read the page", func(ctx context.Context) (err error) {
		says, err = inFrame[string](ctx, f, "document.readyState === 'complete' ? document.body.innerText : null")
		return err
	})
	return says
}

// Click clicks, with the mouse, what a CSS selector finds in the page in the frame.
func (f *Frame) Click(selector string) {
	f.tab.t.Helper()
	f.until("click "+selector, func(ctx context.Context) error {
		at, err := inFrame[[]float64](ctx, f, fmt.Sprintf(`(() => {
			const found = document.querySelector(%q);
			if (!found || document.readyState !== "complete") return null;
			found.scrollIntoView({block: "center"});
			const r = found.getBoundingClientRect();
			return r.width > 0 ? [r.left + r.width / 2, r.top + r.height / 2] : null;
		})()`, selector))
		if err == nil && len(at) == 0 {
			err = fmt.Errorf("%w: %s", errNotYet, selector)
		}
		if err != nil {
			return err
		}
		frame, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](fmt.Sprintf(`(() => {
			const r = document.querySelector(%q).getBoundingClientRect();
			return [r.left, r.top];
		})()`, f.selector)))
		if err != nil {
			return err
		}
		return chromedp.Do(ctx, chromedp.MouseClickXY(frame[0]+at[0], frame[1]+at[1]))
	})
}

// Submit types a text into the field that a CSS selector finds in the page in the frame, and
// presses Enter.
func (f *Frame) Submit(field, text string) {
	f.tab.t.Helper()
	f.Click(field)
	f.tab.do("type", chromedp.KeyEvent(text+kb.Enter))
}

// Audit returns what the page in the frame does to keep people from using it, as [Tab.Audit]
// does.
func (f *Frame) Audit() []Violation { return f.auditBy(allRules) }

// AuditColours does what [Tab.AuditColours] does.
func (f *Frame) AuditColours() []Violation { return f.auditBy(colourRules) }

func (f *Frame) auditBy(rules string) []Violation {
	f.tab.t.Helper()
	return f.violations("audit the page", axe+";"+fmt.Sprintf(audit, rules))
}

// Layout describes what the page in the frame shows and where, as [Tab.Layout] does.
func (f *Frame) Layout() string {
	f.tab.t.Helper()
	return f.text("describe the page", layout)
}

// text returns the text that an expression makes of the page in the frame.
func (f *Frame) text(what, expression string) (is string) {
	f.tab.t.Helper()
	f.until(what, func(ctx context.Context) (err error) {
		is, err = inFrame[string](ctx, f, expression)
		return err
	})
	return is
}

// violations returns those that an expression lists of the page in the frame.
func (f *Frame) violations(what, expression string) (found []Violation) {
	f.tab.t.Helper()
	f.until(what, func(ctx context.Context) error {
		list, err := inFrame[string](ctx, f, expression)
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(list), &found)
	})
	return found
}

// Sideways returns a violation when the page in the frame scrolls sideways.
func (f *Frame) Sideways() []Violation {
	f.tab.t.Helper()
	return f.violations("measure the page", sideways)
}

// Fill sets the value of a field that a CSS selector finds in the page in the frame.
func (f *Frame) Fill(selector, value string) {
	f.tab.t.Helper()
	f.until("fill in "+selector, func(ctx context.Context) error {
		found, err := inFrame[bool](ctx, f, fmt.Sprintf(`(() => {
			const field = document.readyState === "complete" && document.querySelector(%q);
			if (!field) return false;
			field.value = %q;
			return true;
		})()`, selector, value))
		if err == nil && !found {
			err = fmt.Errorf("%w: %s", errNotYet, selector)
		}
		return err
	})
}

// Until waits until an expression is true in the page in the frame.
func (f *Frame) Until(expression string) {
	f.tab.t.Helper()
	f.until("wait for "+expression, func(ctx context.Context) error {
		holds, err := inFrame[bool](ctx, f, "Boolean("+expression+")")
		if err == nil && !holds {
			err = fmt.Errorf("%w: %s", errNotYet, expression)
		}
		return err
	})
}

// EvalFrame evaluates an expression in the page in a frame, beside the scripts of the page.
func EvalFrame[T any](f *Frame, expression string) (v T) {
	f.tab.t.Helper()
	f.until("evaluate "+expression, func(ctx context.Context) (err error) {
		v, err = inFrame[T](ctx, f, expression)
		return err
	})
	return v
}
