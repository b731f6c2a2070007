//go:build soak

package pages

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

// mark is a text that a spreadsheet program, a browser and a template would each run. In a page
// it must stay a text: an element that it makes has the attribute data-canary, a script that it
// runs changes the title, a template that it is taken for shows 54439.
const mark = `="'><b data-canary onclick=a()>{{7777*7}}</script><script>document.title='hit'</script><img data-canary src=x onerror="document.title='hit'">`

// crawl goes through all pages of a store that links lead to. It fills in the text fields of
// each form that it finds.
type crawl struct {
	*visit
	base   string // path of the store's pages
	links  []string
	known  map[string]bool // patterns of paths that were found
	sent   map[string]bool // patterns of forms that were sent
	fields map[string]bool // what was filled in: the form's pattern and the field's name
	shown  map[string]bool // patterns of pages that show the text
	files  []string        // addresses of CSV files
}

// survey is what a page has.
type survey struct {
	Links   []string
	Forms   []form
	Actions []string // what can be done to selected rows
	Path    string
	Title   string
	Made    int // elements that the text has made
	Shows   bool
	Broken  string
}

// form is one with text fields.
type form struct {
	Index  int
	Action string
	Fields []string
}

// key returns what forms of a kind have in common.
func (f form) key() string { return pattern(f.Action) + " " + strings.Join(f.Fields, ",") }

// find returns the number of the form of a kind in the page that is open.
func (c *crawl) find(key string) (index int, found bool) {
	c.t.Helper()
	for _, f := range c.survey().Forms {
		if f.key() == key {
			return f.Index, true
		}
	}
	return 0, false
}

// survey looks at the page that is open, once it is loaded.
func (c *crawl) survey() (s survey) {
	c.t.Helper()
	c.tab.Loaded()
	if err := json.Unmarshal([]byte(browsertest.Eval[string](c.tab, look)), &s); err != nil {
		c.t.Fatal(err)
	}
	return s
}

// Scripts of the crawl. Text fields are those into which people type something; free ones take
// any text.
const (
	kinds = `const text = e => !e.disabled && !e.readOnly && (e.localName === "textarea" || e.localName === "input" && ["text", "search", "email", "url", "tel", "number", "date"].includes(e.type));
	const free = e => e.localName === "textarea" || ["text", "search"].includes(e.type) && !e.inputMode;`

	look = `(() => { ` + kinds + `
		const shown = document.body.textContent + [...document.querySelectorAll("input, textarea")].map(e => e.value).join(" ");
		return JSON.stringify({
			Links: [...document.querySelectorAll("a[href]")].filter(a => a.origin === location.origin).map(a => a.pathname + a.search),
			Forms: [...document.forms].map((f, i) => ({Index: i, Action: new URL(f.getAttribute("action") ?? "", location.href).pathname, Fields: [...f.elements].filter(text).map(e => e.name)})).filter(f => f.Fields.length),
			Actions: [...document.querySelectorAll("form[data-select] button[name=action]")].map(b => b.value),
			Path: location.pathname, Title: document.title, Made: document.querySelectorAll("[data-canary]").length, Shows: shown.includes("data-canary"),
			Broken: !document.querySelector("main h1") ? "there is no heading" : shown.includes("54439") ? "a template was run" : "",
		});
	})()`

	// fill needs the number of the form, the text, and whether all fields get it or only those
	// that take any text.
	fillIn = `(() => { ` + kinds + `
		const form = document.forms[%d], mark = %q, all = %t;
		form.noValidate = true;
		for (const e of [...form.elements].filter(text)) {
			const given = {number: e.min || "1", date: e.min || "2027-01-31", email: "canary@shopper.example", url: "https://hooks.example/in"}[e.type] ?? "1";
			if (all) e.type = e.localName === "input" ? "text" : e.type;
			if (all || free(e)) e.value = e.maxLength > 0 ? mark.slice(0, e.maxLength) : mark;
			else if (e.required && !e.value) e.value = given;
		}
		const boxes = [...form.querySelectorAll("fieldset input[type=checkbox]")];
		if (boxes.length && !boxes.some(b => b.checked)) boxes[0].checked = true;
		form.requestSubmit(form.querySelector("button:not([type=button])"));
		return true;
	})()`
)

var (
	days    = regexp.MustCompile(`\d{4}-\d{2}-\d{2}`)
	numbers = regexp.MustCompile(`\d+`)
)

// pattern returns a path without what differs between pages of a kind.
func pattern(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return numbers.ReplaceAllString(days.ReplaceAllString(path, "DAY"), "N")
}

// late are actions after which other pages have nothing to do any more.
var late = regexp.MustCompile(`/(cancel|pause|delete|disable|remove|revoke|skip)`)

// look surveys the page that is open, checks that nothing in it was run, and notes where its
// links lead.
func (c *crawl) look(how string, status int) survey {
	c.t.Helper()
	s := c.survey()
	switch {
	case status >= http.StatusInternalServerError:
		c.t.Errorf("%s: answered %d", how, status)
	case s.Made > 0:
		c.t.Errorf("%s: %d elements of %s were made from the text of a field", how, s.Made, s.Path)
	case strings.Contains(s.Title, "hit") && !strings.Contains(s.Title, "data-canary"):
		c.t.Errorf("%s: a script in the text of a field was run", how)
	case s.Broken != "":
		c.t.Errorf("%s: %s", how, s.Broken)
	}
	c.report(how, c.tab.Sideways())
	if s.Shows {
		c.shown[pattern(s.Path)] = true
	}
	for _, link := range s.Links {
		if !strings.HasPrefix(link, c.base) || c.known[pattern(link)] {
			continue
		}
		c.known[pattern(link)] = true
		if strings.Contains(pattern(link), ".csv") {
			c.files = append(c.files, link)
			continue
		}
		c.links = append(c.links, link)
	}
	return s
}

// next takes the next page to visit: those that end something come last.
func (c *crawl) next() string {
	at := max(0, slices.IndexFunc(c.links, func(link string) bool { return !late.MatchString(link) }))
	link := c.links[at]
	c.links = slices.Delete(c.links, at, at+1)
	return link
}

// send fills in the forms of the page that is open and was not seen before, and sends each
// twice: as it would be accepted, and with the text in every field.
func (c *crawl) send(s survey, back func()) {
	c.t.Helper()
	for _, form := range s.Forms {
		key := form.key()
		if c.sent[key] {
			continue
		}
		c.sent[key] = true
		for _, name := range form.Fields {
			c.fields[pattern(form.Action)+" "+name] = true
		}
		for _, all := range []bool{true, false} {
			at, found := c.find(key)
			if !found { // what was sent before has ended what the form was for
				break
			}
			status := c.tab.Leave(fmt.Sprintf(fillIn, at, mark, all))
			c.look(fmt.Sprintf("form %s of %s, the text in all fields %t", form.Action, s.Path, all), status)
			back()
		}
	}
}

// act opens what can be done to selected contracts, and sends its forms.
func (c *crawl) act(link string, actions []string) {
	c.t.Helper()
	for _, action := range actions {
		open := func() {
			c.tab.Open(link)
			c.tab.Leave(fmt.Sprintf(`(() => {
				document.querySelector("tbody [name=id]").checked = true;
				const form = document.querySelector("form[data-select]");
				form.requestSubmit(Object.assign(form.appendChild(document.createElement("button")), {name: "action", value: %q}));
				return true;
			})()`, action))
		}
		open()
		c.send(c.look("action "+action, http.StatusOK), open)
	}
}

// walk visits every page once. The first time round, forms are filled in.
func (c *crawl) walk(host string, first bool) {
	c.t.Helper()
	for len(c.links) > 0 {
		link := host + c.next()
		s := c.look(link, c.tab.Open(link))
		if !first {
			continue
		}
		c.send(s, func() { c.tab.Open(link) })
		c.act(link, s.Actions)
	}
}

// formula matches how a cell begins that a spreadsheet program evaluates, unless it is a number.
var formula = regexp.MustCompile(`^\s*[=+\-@\t\r]`)

var amount = regexp.MustCompile(`^-?[0-9.]+$`)

// Whatever is typed into a text field of the dashboard stays a text: on the page that refuses it,
// on those that show what was stored, and in the files that spreadsheet programs open. The test
// finds the fields on the pages.
func TestNoTextFieldOfDashboardRunsWhatIsTyped(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	var made struct{ ID int64 }
	s.make(t, "/platform/contracts", map[string]any{
		"customer": map[string]any{"email": "canary@shopper.example", "firstName": mark, "lastName": mark}, "note": mark, "customAttributes": []any{map[string]any{"key": mark[:40], "value": mark}},
		"nextBillingDate": "2027-01-10", "billingPolicy": map[string]any{"interval": "MONTH"}, "lines": []any{map[string]any{"variantId": 4001}},
	}, &made)
	c := &crawl{
		visit: &visit{t: t, tab: browser.Tab(t), of: "canary"}, base: "/admin/stores/" + login.Handle(s.manifest.Shop),
		known: map[string]bool{}, sent: map[string]bool{}, fields: map[string]bool{}, shown: map[string]bool{},
	}
	c.tab.Show(1280, 800, "light")
	c.signIn(s, s.manifest)
	begin := []string{c.base, fmt.Sprintf("%s/contracts/%d", c.base, made.ID)}
	c.links = slices.Clone(begin)
	for _, link := range begin {
		c.known[pattern(link)] = true
	}
	c.walk(s.Dashboard, true)
	c.known, c.links = map[string]bool{}, begin
	c.walk(s.Dashboard, false) // now that the texts are stored

	if len(c.fields) < 90 || len(c.shown) < 20 {
		t.Errorf("only %d text fields were found, and only %d pages show what was typed:\n%s\n%s", len(c.fields), len(c.shown),
			strings.Join(slices.Sorted(maps.Keys(c.fields)), "\n"), strings.Join(slices.Sorted(maps.Keys(c.shown)), "\n"))
	}
	t.Logf("%d text fields in %d forms; %d pages show the text", len(c.fields), len(c.sent), len(c.shown))
	holds := 0
	for _, file := range c.files {
		text := browsertest.Eval[string](c.tab, fmt.Sprintf("fetch(%q).then(answer => answer.ok ? answer.text() : 'no')", file))
		read := csv.NewReader(strings.NewReader(text))
		read.FieldsPerRecord = -1 // a page with several tables has them one below the other
		rows, err := read.ReadAll()
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if strings.Contains(cell, "data-canary") {
					holds++
				}
				if formula.MatchString(cell) && !amount.MatchString(cell) {
					t.Errorf("%s: a spreadsheet program evaluates the cell %q", file, cell)
				}
			}
		}
	}
	if holds == 0 {
		t.Errorf("no file of %v holds what was typed", c.files)
	}
}
