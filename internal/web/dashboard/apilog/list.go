package apilog

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// perPage is how many requests a page shows.
const perPage = 50

// row is a request in the list.
type row struct {
	At         string
	Who        string
	App        string
	Method     string
	Path       string
	Parameters string
	Status     int
	Tone       dashboard.Tone
	Took       int64 // milliseconds
	RequestID  string
}

// listPage is what the page shows.
type listPage struct {
	Path      string
	Keys      []dashboard.Choice
	Answers   []dashboard.Choice
	Until     string // a day
	Request   string // the id of the request that is shown; empty: all
	All       string // path of the list without a request's id
	Earliest  string
	Latest    string
	Rows      []row
	Empty     dashboard.Empty
	Pager     dashboard.Pager
	Forbidden string
	Limited   string
}

// answers are what requests can be filtered by.
var answers = []struct {
	value, name string
	filter      requestlog.Filter
}{
	{"", "All answers", requestlog.Filter{}}, {"failed", "Refused or failed", requestlog.Filter{Failed: true}},
	{"403", "403: a permission is missing", requestlog.Filter{Status: http.StatusForbidden}}, {"429", "429: too many requests", requestlog.Filter{Status: http.StatusTooManyRequests}},
}

// asked reads the filter and the place in the list.
func asked(q url.Values, v dashboard.Visit) (f requestlog.Filter, after page.Cursor, err error) {
	wrong := fault.New(fault.Invalid, "the list cannot be filtered like this")
	for _, a := range answers {
		if a.value == q.Get("answer") {
			f, wrong = a.filter, nil
		}
	}
	if wrong != nil {
		return f, after, wrong
	}
	if text := q.Get("key"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return f, after, fault.New(fault.Invalid, "%q is no key", text)
		}
		f.Key = access.KeyID(id)
	}
	if text := q.Get("until"); text != "" {
		day, err := time.ParseInLocation(time.DateOnly, text, v.Zone)
		if err != nil {
			return f, after, fault.New(fault.Invalid, "%q is no day such as 2027-01-31", text)
		}
		f.Until = day.AddDate(0, 0, 1)
	}
	if f.Request = q.Get("request"); len(f.Request) > web.MaxRequestID {
		return f, after, fault.New(fault.Invalid, "the id of a request has %d characters at most", web.MaxRequestID).Field("request")
	}
	after, err = page.ParseCursor(q.Get("after"))
	return f, after, err
}

func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	query := r.URL.Query()
	filter, after, err := asked(query, v)
	if err != nil {
		return err
	}
	list, err := m.Requests.List(r.Context(), v.Shop.ID, filter, after, perPage+1)
	if err != nil {
		return err
	}
	refused, err := m.Requests.Refused(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	keys, err := m.Keys.List(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	now := m.Clock.Now()
	p := listPage{
		Path: v.At("/api-log"), Request: filter.Request, All: v.At("/api-log"), Until: query.Get("until"), Earliest: now.Add(-requestlog.Retention).In(v.Zone).Format(time.DateOnly), Latest: now.In(v.Zone).Format(time.DateOnly),
		Forbidden: counted(refused.Forbidden), Limited: counted(refused.Limited), Keys: choicesOf(keys, filter.Key),
		Empty: dashboard.Empty{Icon: "code", Title: "No request", Text: "No key and no application has made such a request in the last 7 days. A request is shown a second after its answer."},
		Pager: dashboard.Pager{What: "requests"},
	}
	for _, a := range answers {
		p.Answers = append(p.Answers, dashboard.Choice{Value: a.value, Name: a.name, Selected: a.value == query.Get("answer")})
	}
	if filter.Request != "" {
		p.Empty.Text = "The log has no such request. It keeps requests for 7 days, and shows one a second after its answer."
	}
	more := len(list) > perPage
	list = list[:min(len(list), perPage)]
	for _, e := range list {
		p.Rows = append(p.Rows, rowOf(v, e))
	}
	if more {
		last := list[perPage-1]
		p.Pager.Next = v.At(address(query, page.Cursor{At: last.At, ID: last.ID}.String()))
	}
	if !after.At.IsZero() {
		p.Pager.Prev = v.At(address(query, ""))
	}
	return v.Answer(w, dashboard.Page{Name: "api-log", Title: "API log", Lead: "What programs asked of this store in the last 7 days.", Content: p})
}

// address returns the path of the page with the same filter at another place of the list.
func address(query url.Values, after string) string {
	q := url.Values{}
	for _, name := range []string{"key", "answer", "until", "request"} {
		if query.Get(name) != "" {
			q.Set(name, query.Get(name))
		}
	}
	if after != "" {
		q.Set("after", after)
	}
	return "/api-log?" + q.Encode()
}

func choicesOf(keys []access.Key, chosen access.KeyID) []dashboard.Choice {
	list := []dashboard.Choice{{Name: "All keys and applications"}}
	for _, k := range keys {
		list = append(list, dashboard.Choice{Value: strconv.FormatInt(int64(k.ID), 10), Name: k.Name, Selected: k.ID == chosen})
	}
	return list
}

// counted writes a number that is counted only so far.
func counted(n int) string {
	if n >= requestlog.MostCounted {
		return strconv.Itoa(requestlog.MostCounted) + " or more"
	}
	return strconv.Itoa(n)
}

func rowOf(v dashboard.Visit, e requestlog.Entry) row {
	one := row{
		At: e.At.In(v.Zone).Format("2 Jan, 15:04:05"), Who: cmp.Or(e.KeyName, fmt.Sprintf("key %d", e.Key)), App: string(e.App), Method: e.Method, Path: e.Path,
		Parameters: strings.Join(e.Parameters, ", "), Status: e.Status, Tone: dashboard.Good, Took: e.Took.Milliseconds(), RequestID: e.RequestID,
	}
	switch {
	case e.Status >= http.StatusInternalServerError:
		one.Tone = dashboard.Bad
	case e.Status >= http.StatusBadRequest:
		one.Tone = dashboard.Warning
	}
	return one
}
