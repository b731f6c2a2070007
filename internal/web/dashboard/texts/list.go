package texts

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/locale"
	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// perPage is how many texts a page lists.
const perPage = 50

// listPage is the list of the texts of a language.
type listPage struct {
	Path     string
	Tabs     []dashboard.Tab
	Language string
	Name     string // of the language, in itself
	Dir      string // in which it is written
	Sought   string
	Screens  []dashboard.Choice
	States   []dashboard.Choice
	Missing  string // sentence about what is not translated; empty: everything is
	Rows     []textRow
	Empty    dashboard.Empty
	Pager    dashboard.Pager
}

// textRow is a text in the list.
type textRow struct {
	Key, Path string
	Default   string
	Lang      string // of Default
	Own       string // empty: the merchant has none
	Badge     *dashboard.Badge
}

// state is what a text can be searched by.
type state string

const (
	anyState state = ""
	changed  state = "changed"
	missing  state = "missing"
	outdated state = "outdated"
)

// stateName is a state in words.
type stateName struct {
	is   state
	name string
}

var states = []stateName{{anyState, "All texts"}, {changed, "Changed by you"}, {missing, "Not translated"}, {outdated, "No longer shown"}}

// question is what the list is asked for.
type question struct {
	language, words, screen string
	is                      state
	page                    int
}

// asked reads the question of a request.
func (m *room) asked(q url.Values) (question, error) {
	a := question{q.Get("language"), strings.ToLower(strings.TrimSpace(q.Get("q"))), q.Get("screen"), state(q.Get("show")), 0}
	if a.language == "" {
		a.language = locale.Fallback
	}
	known := slices.ContainsFunc(states, func(s stateName) bool { return s.is == a.is })
	var err error
	if text := q.Get("page"); text != "" {
		a.page, err = strconv.Atoi(text)
	}
	if err != nil || a.page < 0 || !known || !slices.Contains(m.Catalogue.Languages(), a.language) {
		return a, fault.New(fault.Invalid, "the list cannot be filtered like this")
	}
	return a, nil
}

// address returns the path of the list with a question.
func (a question) address(change func(*question)) string {
	change(&a)
	q := url.Values{"language": {a.language}}
	for name, value := range map[string]string{"q": a.words, "screen": a.screen, "show": string(a.is)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if a.page > 0 {
		q.Set("page", strconv.Itoa(a.page))
	}
	return path + "?" + q.Encode()
}

// list shows the texts of a language.
func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	a, err := m.asked(r.URL.Query())
	if err != nil {
		return err
	}
	own, err := m.Wordings.List(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	p := listPage{
		Path: v.At(path), Language: a.language, Name: locale.Name(a.language), Dir: m.Catalogue.Printer(a.language, nil).Dir(), Sought: r.URL.Query().Get("q"),
		Screens: m.screens(a.screen), Empty: dashboard.Empty{Icon: "search", Title: "No text", Text: "No text fits the search and the filters."},
	}
	for _, s := range states {
		p.States = append(p.States, dashboard.Choice{Value: string(s.is), Name: s.name, Selected: s.is == a.is})
	}
	for _, l := range m.Catalogue.Languages() {
		n := 0
		for _, t := range own {
			if t.Language == l {
				n++
			}
		}
		tab := dashboard.Tab{Name: locale.Name(l), Here: l == a.language, Path: v.At(a.address(func(q *question) { q.language, q.page = l, 0 }))}
		if n > 0 {
			tab.Count = strconv.Itoa(n)
		}
		p.Tabs = append(p.Tabs, tab)
	}
	if n := m.untranslated(a.language); n > 0 {
		p.Missing = dashboard.Count(n, "text is", "texts are") + " not translated into " + p.Name + ". Customers see the English text, or yours."
	}
	rows := m.rows(v, a, own)
	from := min(a.page*perPage, len(rows))
	shown := rows[from:min(from+perPage, len(rows))]
	p.Rows = shown
	p.Pager = dashboard.PagerOf("texts", a.page, perPage, len(shown), len(rows), func(n int) string { return v.At(a.address(func(q *question) { q.page = n })) })
	return v.Answer(w, dashboard.Page{Name: "texts", Title: "Portal texts", Lead: "What customers read in the portal. A text that you change is yours in that language; all others follow the product.", Content: p})
}

// rows returns the texts of a language that the question finds.
func (m *room) rows(v dashboard.Visit, a question, own []wording.Text) []textRow {
	mine := make(map[string][]wording.Text)
	for _, t := range own {
		if t.Language == a.language {
			mine[t.Key] = append(mine[t.Key], t)
		}
	}
	var rows []textRow
	add := func(key string) {
		row, is := m.row(v, a.language, key, mine[key])
		if a.screen != "" && screenOf(key) != a.screen || a.is != anyState && !slices.Contains(is, a.is) {
			return
		}
		if a.words != "" && !strings.Contains(strings.ToLower(key+"\n"+row.Default+"\n"+row.Own), a.words) {
			return
		}
		rows = append(rows, row)
	}
	keys := m.Catalogue.Keys()
	for _, key := range keys {
		add(key)
	}
	for _, t := range own {
		if t.Language == a.language && !slices.Contains(keys, t.Key) && mine[t.Key][0] == t {
			add(t.Key)
		}
	}
	return rows
}

// row returns a text in the list, and what it can be found by.
func (m *room) row(v dashboard.Visit, language, key string, own []wording.Text) (textRow, []state) {
	defaults, translated := m.Catalogue.Defaults(language, key)
	row := textRow{Key: key, Path: v.At(fmt.Sprintf("%s/%s/%s", path, language, url.PathEscape(key))), Default: joined(defaults), Lang: language}
	if !translated {
		row.Lang = locale.Fallback
	}
	var is []state
	var texts []locale.FormText
	for _, t := range own {
		texts = append(texts, locale.FormText{Form: t.Form, Text: t.Text})
		if m.Catalogue.CheckOverride(language, key, t.Form, t.Text) != nil {
			is = append(is, outdated)
		}
	}
	row.Own = joined(texts)
	if len(own) > 0 {
		is = append(is, changed)
	}
	if !translated && len(defaults) > 0 {
		is = append(is, missing)
	}
	switch {
	case slices.Contains(is, outdated):
		row.Badge = &dashboard.Badge{Tone: dashboard.Warning, Text: "No longer shown", Hollow: true}
	case slices.Contains(is, changed):
		row.Badge = &dashboard.Badge{Tone: dashboard.Info, Text: "Changed"}
	case slices.Contains(is, missing):
		row.Badge = &dashboard.Badge{Tone: dashboard.Neutral, Text: "Not translated", Hollow: true}
	}
	return row, is
}

// joined returns the forms of a text in one line each.
func joined(list []locale.FormText) string {
	var lines []string
	for _, f := range list {
		lines = append(lines, f.Text)
	}
	return strings.Join(lines, "\n")
}

// untranslated returns how many texts a language lacks.
func (m *room) untranslated(language string) int {
	n := 0
	for _, key := range m.Catalogue.Keys() {
		if _, translated := m.Catalogue.Defaults(language, key); !translated {
			n++
		}
	}
	return n
}

// screenOf returns the part of the portal that a key belongs to.
func screenOf(key string) string {
	screen, _, _ := strings.Cut(key, ".")
	return screen
}

// screens returns the parts of the portal.
func (m *room) screens(chosen string) []dashboard.Choice {
	choices := []dashboard.Choice{{Name: "All parts"}}
	for _, key := range m.Catalogue.Keys() {
		s := screenOf(key)
		if choices[len(choices)-1].Value != s {
			choices = append(choices, dashboard.Choice{Value: s, Name: strings.ToUpper(s[:1]) + s[1:], Selected: s == chosen})
		}
	}
	return choices
}
