package webhooks

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// choice is a type that can be ticked.
type choice struct {
	event

	Ticked bool
}

// group are types under one heading.
type group struct {
	Name    string
	Choices []choice
}

// formPage is what the form of an endpoint shows.
type formPage struct {
	Path   string
	Back   string
	URL    dashboard.Field
	Groups []group
	Button string
}

// form shows the form of an endpoint, with what is wrong with what was sent.
func (*room) form(w http.ResponseWriter, r *http.Request, v dashboard.Visit, p dashboard.Page, f formPage, types []string, wrong error) error {
	for _, t := range webhook.Types {
		name := groupName(t)
		if len(f.Groups) == 0 || f.Groups[len(f.Groups)-1].Name != name {
			f.Groups = append(f.Groups, group{Name: name})
		}
		last := &f.Groups[len(f.Groups)-1]
		last.Choices = append(last.Choices, choice{event{t, typeName(t)}, slices.Contains(types, string(t))})
	}
	f.URL.Name, f.URL.Label, f.URL.Type, f.URL.Required, f.URL.Max = "url", "Address", "url", true, webhook.MaxURL
	f.URL.Hint = "An address of your server that begins with https://. It has 15 seconds to answer with 2xx."
	p.Name, p.Content = "webhook-form", f
	if wrong != nil {
		return v.Refuse(w, r, p, wrong)
	}
	return v.Answer(w, p)
}

func (m *room) askNew(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.formOfNew(w, r, v, nil)
}

func (m *room) formOfNew(w http.ResponseWriter, r *http.Request, v dashboard.Visit, wrong error) error {
	p := dashboard.Page{Title: "Add endpoint", Crumb: &dashboard.Crumb{Name: "Webhooks", Path: "/webhooks"}}
	f := formPage{Path: "/webhooks", Back: "/webhooks", URL: dashboard.Field{Value: r.PostForm.Get("url")}, Button: "Add endpoint"}
	return m.form(w, r, v, p, f, r.PostForm["type"], wrong)
}

func (m *room) add(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	types, err := webhook.ParseTypes(r.PostForm["type"])
	if err != nil {
		return m.formOfNew(w, r, v, chooseOne(err, r))
	}
	e, err := m.Endpoints.Add(r.Context(), v.Shop.ID, webhook.NewEndpoint{URL: r.PostForm.Get("url"), Types: types, Actor: v.Actor(r)})
	if err != nil {
		return m.formOfNew(w, r, v, err)
	}
	return v.Go(w, path(e, ""), "webhook-added")
}

// chooseOne says in the words of the form that no type is ticked.
func chooseOne(err error, r *http.Request) error {
	if len(r.PostForm["type"]) == 0 {
		return fault.New(fault.Invalid, "choose at least one event").Field("types")
	}
	return err
}

func (m *room) askChange(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	e, err := m.endpoint(r, v)
	if err != nil {
		return err
	}
	types := make([]string, len(e.Types))
	for i, t := range e.Types {
		types[i] = string(t)
	}
	return m.formOfChange(w, r, v, e, e.URL, types, nil)
}

func (m *room) formOfChange(w http.ResponseWriter, r *http.Request, v dashboard.Visit, e webhook.Endpoint, url string, types []string, wrong error) error {
	p := dashboard.Page{Title: "Edit endpoint", Crumb: &dashboard.Crumb{Name: "Endpoint", Path: path(e, "")}}
	return m.form(w, r, v, p, formPage{Path: path(e, "edit"), Back: path(e, ""), URL: dashboard.Field{Value: url}, Button: "Save changes"}, types, wrong)
}

func (m *room) change(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	e, err := m.endpoint(r, v)
	if err != nil {
		return err
	}
	url := r.PostForm.Get("url")
	types, err := webhook.ParseTypes(r.PostForm["type"])
	if err == nil {
		_, err = m.Endpoints.Change(r.Context(), v.Shop.ID, e.ID, webhook.Edit{URL: &url, Types: types, Actor: v.Actor(r)})
	}
	if err != nil {
		return m.formOfChange(w, r, v, e, url, r.PostForm["type"], chooseOne(err, r))
	}
	return v.Go(w, path(e, ""), "webhook-changed")
}

func (m *room) test(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	e, err := m.endpoint(r, v)
	if err != nil {
		return err
	}
	if _, err := m.Endpoints.SendTest(r.Context(), v.Shop.ID, e.ID, v.Actor(r)); err != nil {
		return err
	}
	return v.Go(w, path(e, ""), "webhook-tested")
}

func (m *room) enable(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.switched(w, r, v, true, "webhook-enabled")
}

func (m *room) disable(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.switched(w, r, v, false, "webhook-disabled")
}

func (m *room) switched(w http.ResponseWriter, r *http.Request, v dashboard.Visit, on bool, said string) error {
	e, err := m.endpoint(r, v)
	if err != nil {
		return err
	}
	if _, err := m.Endpoints.Change(r.Context(), v.Shop.ID, e.ID, webhook.Edit{Enabled: &on, Actor: v.Actor(r)}); err != nil {
		return err
	}
	return v.Go(w, path(e, ""), said)
}

func (m *room) rotate(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	e, err := m.endpoint(r, v)
	if err != nil {
		return err
	}
	if _, err := m.Endpoints.Rotate(r.Context(), v.Shop.ID, e.ID, v.Actor(r)); err != nil {
		return err
	}
	return v.Go(w, path(e, ""), "webhook-rotated")
}

func (m *room) remove(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	e, err := m.endpoint(r, v)
	if err != nil {
		return err
	}
	if err := m.Endpoints.Remove(r.Context(), v.Shop.ID, e.ID, v.Actor(r)); err != nil {
		return err
	}
	return v.Go(w, "/webhooks", "webhook-deleted")
}

// question asks before something is done to an endpoint.
type question func(v dashboard.Visit, e webhook.Endpoint) dashboard.Question

func (m *room) ask(q question) dashboard.Show {
	return func(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
		e, err := m.endpoint(r, v)
		if err != nil {
			return err
		}
		return v.Ask(w, r, q(v, e), nil)
	}
}

func disabling(_ dashboard.Visit, e webhook.Endpoint) dashboard.Question {
	return dashboard.Question{
		Title: "Disable endpoint", Back: path(e, ""), Path: path(e, "disable"), Button: "Disable endpoint", Keep: "Keep it enabled", Grave: true,
		Says: []string{e.URL, "It receives no events until you enable it again, and what waits for it is given up. Events that happen meanwhile are not sent later."},
	}
}

func rotation(_ dashboard.Visit, e webhook.Endpoint) dashboard.Question {
	return dashboard.Question{
		Title: "Replace signing secret", Back: path(e, ""), Path: path(e, "rotate"), Button: "Replace secret", Keep: "Keep the secret",
		Says: []string{e.URL, "Messages are signed with both secrets for 24 hours. Put the new one into your server in this time."},
	}
}

func deletion(_ dashboard.Visit, e webhook.Endpoint) dashboard.Question {
	return dashboard.Question{
		Title: "Delete endpoint", Back: path(e, ""), Path: path(e, "delete"), Button: "Delete endpoint", Keep: "Keep the endpoint", Grave: true,
		Says: []string{e.URL, "It receives no events from now on. Its deliveries and its secret are deleted with it."},
	}
}

func (m *room) replaying(v dashboard.Visit, e webhook.Endpoint) dashboard.Question {
	now := m.Clock.Now()
	day := func(t time.Time) string { return t.In(v.Zone).Format(time.DateOnly) }
	return dashboard.Question{
		Title: "Replay failed messages", Back: path(e, ""), Path: path(e, "replay"), Button: "Replay failed messages", Keep: "Send nothing again",
		Says: []string{e.URL, "Messages that failed for good are sent again, the oldest first, with the same ids and bodies. At most 1000 at a time."},
		Fields: []dashboard.Field{{
			Name: "since", Label: "Events since", Type: "date", Required: true, Value: day(now.AddDate(0, 0, -1)), Min: day(now.Add(-webhook.Retention)), Limit: day(now),
		}},
	}
}

func (m *room) replayingAll(v dashboard.Visit, e webhook.Endpoint) dashboard.Question {
	now := m.Clock.Now()
	day := func(t time.Time) string { return t.In(v.Zone).Format(time.DateOnly) }
	return dashboard.Question{
		Title: "Replay all messages", Back: path(e, ""), Path: path(e, "replay-all"), Button: "Replay all messages", Keep: "Send nothing again",
		Says: []string{e.URL, "All messages since a day are sent again, also those that were delivered, the oldest first, with the same ids and bodies. What happens meanwhile follows."},
		Fields: []dashboard.Field{{
			Name: "since", Label: "Events since", Type: "date", Required: true, Value: day(now.AddDate(0, 0, -1)), Min: day(now.Add(-webhook.Retention).AddDate(0, 0, 1)), Limit: day(now),
		}},
	}
}

func (m *room) replayFailed(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.replaySince(w, r, v, replay{m.replaying, m.Deliveries.ReplayFailed, "webhook-replayed-failed", "webhook-none-failed"})
}

func (m *room) replayAll(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.replaySince(w, r, v, replay{m.replayingAll, m.Deliveries.ReplaySince, "webhook-replayed-all", "webhook-none"})
}

// replay is a way to send messages since a day again.
type replay struct {
	ask        func(dashboard.Visit, webhook.Endpoint) dashboard.Question
	send       func(ctx context.Context, of shop.ID, to webhook.EndpointID, since time.Time) (int, error)
	some, none string // what is said afterwards, by whether there were messages
}

// replaySince sends messages again that happened since the day of a form.
func (m *room) replaySince(w http.ResponseWriter, r *http.Request, v dashboard.Visit, by replay) error {
	e, err := m.endpoint(r, v)
	if err != nil {
		return err
	}
	since, err := time.ParseInLocation(time.DateOnly, r.PostForm.Get("since"), v.Zone)
	if err != nil {
		return v.Ask(w, r, by.ask(v, e), fault.New(fault.Invalid, "choose a day such as 2027-01-31").Field("since"))
	}
	n, err := by.send(r.Context(), v.Shop.ID, e.ID, since)
	if err != nil {
		return v.Ask(w, r, by.ask(v, e), err)
	}
	if n == 0 {
		return v.Go(w, path(e, ""), by.none)
	}
	return v.Go(w, path(e, ""), by.some)
}
