package contract

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// timeline is what has happened to a contract.
type timeline struct {
	Days    []day
	Filters []dashboard.Field
	Some    bool   // something is filtered, or this is not the newest page
	Reset   string // path without filters
	Older   string // path of what is older; empty: there is nothing
}

// day is a day of the store.
type day struct {
	Name  string
	Items []event
}

// event is an entry or a comment.
type event struct {
	words.Line

	At, Stamp string
	IP        string
	Badge     *dashboard.Badge
	Request   string // path of the API log with the request that made it; empty: none is kept
	Order     string // path of the order that it is about; empty: none
	Comment   string // the text of a comment
	Delete    string // path that deletes the comment; empty: the user may not
}

// maxInfo is how many bytes of additional information are shown.
const maxInfo = 4000

func (m *room) timeline(r *http.Request, v dashboard.Visit, c contract.Contract) (timeline, error) {
	q := r.URL.Query()
	f, err := filter(q)
	if err != nil {
		return timeline{}, err
	}
	items, more, err := m.Sheets.Timeline(r.Context(), v.Shop.ID, c.ID, f)
	if err != nil {
		return timeline{}, err
	}
	t := timeline{Filters: filters(f), Some: f != (support.Filter{}), Reset: at(c.ID)}
	for _, i := range items {
		place := i.Position()
		name := place.At.In(v.Zone).Format("Monday, 2 January 2006")
		if today := m.Clock.Now().In(v.Zone).Format("Monday, 2 January 2006"); name == today {
			name = "Today, " + name
		}
		if n := len(t.Days); n == 0 || t.Days[n-1].Name != name {
			t.Days = append(t.Days, day{Name: name})
		}
		last := &t.Days[len(t.Days)-1]
		last.Items = append(last.Items, m.event(v, c, i))
	}
	if more {
		last := items[len(items)-1].Position()
		next := url.Values{"before": {strconv.FormatInt(last.At.UnixMilli(), 10) + "." + strconv.FormatInt(last.ID, 10)}}
		for _, name := range []string{"source", "type", "status"} {
			if value := q.Get(name); value != "" {
				next.Set(name, value)
			}
		}
		t.Older = at(c.ID) + "?" + next.Encode()
	}
	return t, nil
}

func (m *room) event(v dashboard.Visit, c contract.Contract, i support.Item) event {
	place := i.Position().At.In(v.Zone)
	e := event{At: place.Format("15:04"), Stamp: place.UTC().Format(time.RFC3339)}
	if i.Comment != nil {
		e.Line = words.Line{Icon: "edit", Tone: dashboard.Warning, Text: "Comment", By: i.Comment.Author + ", only in the dashboard"}
		e.Comment = i.Comment.Text
		if v.User.User.Known() == i.Comment.Author {
			e.Delete = at(c.ID) + "/comments/" + strconv.FormatInt(int64(i.Comment.ID), 10) + "/delete"
		}
		return e
	}
	e.Line, e.IP = words.Of(i.Entry), i.Entry.Actor.ClientIP
	if len(e.Info) > maxInfo {
		e.Info = strings.ToValidUTF8(e.Info[:maxInfo], "") + "\n…"
	}
	e.Request = v.RequestPath(i.Entry, m.Clock.Now())
	switch i.Entry.Status {
	case activity.Failure:
		e.Badge = &dashboard.Badge{Tone: dashboard.Bad, Text: "Failed"}
	case activity.PartialFailure:
		e.Badge = &dashboard.Badge{Tone: dashboard.Warning, Text: "Failed in part"}
	case activity.Skipped:
		e.Badge = &dashboard.Badge{Tone: dashboard.Neutral, Text: "Not done", Hollow: true}
	case activity.Success:
		e.Badge = &dashboard.Badge{Tone: dashboard.Good, Text: "Done"}
	}
	if i.Entry.EntityType == activity.EntitySubscriptionBillingAttempt {
		e.Order = at(c.ID) + "/orders/" + strconv.FormatInt(i.Entry.EntityID, 10)
	}
	return e
}

// filter reads which items are asked for.
func filter(q url.Values) (f support.Filter, err error) {
	f = support.Filter{Source: activity.Source(q.Get("source")), Event: activity.EventType(q.Get("type")), Status: activity.Status(q.Get("status"))}
	bad := func(name string) error {
		return fault.New(fault.Invalid, "%.40q is not one of the values of %s", q.Get(name), name).Field(name)
	}
	switch {
	case f.Source != "" && !slices.Contains(activity.Sources, f.Source):
		return f, bad("source")
	case f.Status != "" && !slices.Contains(activity.Statuses, f.Status):
		return f, bad("status")
	case f.Event != "" && !slices.Contains(activity.EventTypes, f.Event):
		return f, bad("type")
	}
	if text := q.Get("before"); text != "" {
		ms, id, _ := strings.Cut(text, ".")
		at, err := strconv.ParseInt(ms, 10, 64)
		if err != nil || at <= 0 {
			return f, bad("before")
		}
		if f.Before.ID, err = strconv.ParseInt(id, 10, 64); err != nil {
			return f, bad("before")
		}
		f.Before.At = time.UnixMilli(at)
	}
	return f, nil
}

func filters(f support.Filter) []dashboard.Field {
	all := dashboard.Choice{Name: "All"}
	source, kind, status := []dashboard.Choice{all}, []dashboard.Choice{all}, []dashboard.Choice{all}
	for _, s := range activity.Sources {
		source = append(source, dashboard.Choice{Value: string(s), Name: capital(words.Source(s)), Selected: s == f.Source})
	}
	for _, e := range activity.EventTypes {
		kind = append(kind, dashboard.Choice{Value: string(e), Name: words.Name(string(e)), Selected: e == f.Event})
	}
	for _, s := range activity.Statuses {
		status = append(status, dashboard.Choice{Value: string(s), Name: words.Name(string(s)), Selected: s == f.Status})
	}
	return []dashboard.Field{{Name: "source", Label: "Source", Choices: source}, {Name: "type", Label: "Type", Choices: kind}, {Name: "status", Label: "Status", Choices: status}}
}

// capital begins a text with a capital letter: "API" stays.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// comment adds a comment of the user.
func (m *room) comment(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := number(r, "contract")
	if err != nil {
		return err
	}
	c, err := m.Sheets.Contract(r.Context(), v.Shop.ID, contract.ID(id))
	if err != nil {
		return err
	}
	text := r.PostFormValue("text")
	if err := m.Sheets.Comment(r.Context(), v.Shop.ID, support.Comment{Contract: c.ID, Author: v.Actor(r).By, Text: text}); err != nil {
		return v.Ask(w, r, dashboard.Question{
			Title: "Add comment", Back: at(c.ID), Path: at(c.ID) + "/comments", Button: "Add comment", Keep: "Discard it",
			Fields: []dashboard.Field{{Name: "text", Label: "Comment", Type: "textarea", Value: text, Required: true}},
		}, err)
	}
	return v.Go(w, at(c.ID), "contract-commented")
}

// uncomment deletes a comment of the user.
func (m *room) uncomment(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := number(r, "contract")
	if err != nil {
		return err
	}
	n, err := number(r, "comment")
	if err != nil {
		return err
	}
	if err := m.Sheets.Uncomment(r.Context(), v.Shop.ID, contract.ID(id), support.CommentID(n), v.Actor(r).By); err != nil {
		return err
	}
	return v.Go(w, at(contract.ID(id)), "contract-uncommented")
}
