package activity

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// perPage is how many entries a page shows.
const perPage = 50

// The limits of an export.
const (
	mostExported = 50_000 // entries
	perRead      = 1000
	mostReads    = 200
)

// line is an entry in the list.
type line struct {
	words.Line

	Time     string // of the day
	Stamp    string // for programs
	Client   string
	About    string // what it is about, and its number
	Contract int64  // that it is about; 0: about none
	Code     string // type of the event
	Request  string // path of the API log with the request that made it; empty: none is kept
}

// day is a day with its entries, newest first.
type day struct {
	Name  string
	Lines []line
}

// listPage is what the page shows.
type listPage struct {
	Path       string
	Selections []selection
	Entity     string
	By         string
	From, To   string
	Filtered   bool
	Days       []day
	Empty      dashboard.Empty
	Looked     string // until when the list was looked through, when nothing was found so far
	Newest     string // address; empty: this is the beginning
	Older      string // address; empty: nothing is left
	Export     string
}

func (m *room) list(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	where, filter, err := m.asked(r.URL.Query(), v)
	if err != nil {
		return err
	}
	after, err := page.ParseCursor(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	entries, next, err := m.Log.OlderEntries(r.Context(), v.Shop.ID, where, after, perPage)
	if err != nil {
		return err
	}
	p := listPage{
		Path: v.At("/activity"), Selections: selections(filter), Entity: filter.Get(entity), By: filter.Get(by), From: filter.Get(from), To: filter.Get(to), Filtered: len(filter) > 0,
		Days: m.days(v, entries), Export: v.At(address("/activity/export.csv", filter, page.Cursor{})), Empty: empty(v, filter),
	}
	if !next.At.IsZero() {
		p.Older = v.At(address("/activity", filter, next))
		if len(entries) == 0 {
			p.Looked = v.Instant(next.At)
		}
	}
	if !after.At.IsZero() {
		p.Newest = v.At(address("/activity", filter, page.Cursor{}))
	}
	return v.Answer(w, dashboard.Page{Name: "activity", Title: "Activity log", Lead: "What was changed in this store, who did it, and through what.", Content: p})
}

func empty(v dashboard.Visit, filter url.Values) dashboard.Empty {
	if len(filter) > 0 {
		return dashboard.Empty{Icon: "search", Title: "No entry fits", Text: "Nothing in the log meets all filters.", Action: "Clear filters", Path: v.At("/activity")}
	}
	return dashboard.Empty{Icon: "clock", Title: "Nothing has happened yet", Text: "Every change of a contract, an order, a plan or a setting is written down here."}
}

// days groups entries by their days in the store's zone.
func (m *room) days(v dashboard.Visit, entries []activity.Entry) []day {
	var list []day
	for _, e := range entries {
		name := e.At.In(v.Zone).Format("Monday 2 January 2006")
		if len(list) == 0 || list[len(list)-1].Name != name {
			list = append(list, day{Name: name})
		}
		last := &list[len(list)-1]
		last.Lines = append(last.Lines, m.lineOf(v, e))
	}
	return list
}

func (m *room) lineOf(v dashboard.Visit, e activity.Entry) line {
	l := line{
		Line: words.Of(e), Time: e.At.In(v.Zone).Format("15:04"), Stamp: e.At.UTC().Format(time.RFC3339), Client: e.Actor.ClientIP, Code: string(e.Event), Request: v.RequestPath(e, m.Clock.Now()),
		About: strings.ToLower(words.Name(string(e.EntityType))) + " " + strconv.FormatInt(e.EntityID, 10),
	}
	if e.EntityType == activity.EntitySubscriptionContractDetails {
		l.Contract = e.EntityID
	}
	return l
}

// export answers with the entries of a filter as a table.
func (m *room) export(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	where, _, err := m.asked(r.URL.Query(), v)
	if err != nil {
		return err
	}
	entries, next, err := m.Log.OlderEntries(r.Context(), v.Shop.ID, where, page.Cursor{}, perRead)
	if err != nil {
		return err
	}
	out := web.NewCSV(w, "activity-"+m.Clock.Now().In(v.Zone).Format(time.DateOnly)+".csv")
	if err := out.Row("time", "what", "by", "through", "client", "result", "about", "number", "event", "additional information"); err != nil {
		return err
	}
	for n, reads := 0, 1; ; reads++ {
		for _, e := range entries {
			if n++; n > mostExported {
				return out.Close()
			}
			err := out.Row(e.At.In(v.Zone).Format(time.RFC3339), words.Of(e).Text, e.Actor.By, words.Source(e.Actor.Source), e.Actor.ClientIP, string(e.Status),
				string(e.EntityType), strconv.FormatInt(e.EntityID, 10), string(e.Event), e.Info)
			if err != nil {
				return err
			}
		}
		if next.At.IsZero() || reads == mostReads {
			return out.Close()
		}
		if entries, next, err = m.Log.OlderEntries(r.Context(), v.Shop.ID, where, next, perRead); err != nil {
			return err
		}
	}
}
