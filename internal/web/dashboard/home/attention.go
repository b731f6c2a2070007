package home

import (
	"fmt"
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// item is something that needs a person.
type item struct {
	Icon        string
	Tone        dashboard.Tone
	Title, Text string
	Action      string
	Path        string // below the store's
}

// mostItems is how many of a kind are shown.
const mostItems = 5

// attention returns what needs a person, the gravest first.
func (m *room) attention(r *http.Request, v dashboard.Visit) ([]item, error) {
	var items []item
	ctx := r.Context()
	cases, err := m.Log.CaseCounts(ctx, v.Shop.ID)
	if err != nil {
		return nil, err
	}
	failed, card, yours := 0, cases[dunning.Card], 0
	for class, n := range cases {
		failed += n
		if class.NeedsStaff() {
			yours += n
		}
	}
	if failed > 0 {
		items = append(items, item{"card", dashboard.Bad, dashboard.Count(failed, "order was declined", "orders were declined"), aboutCases(card, yours), "Review", "/failed-payments"})
	}
	boxes, err := m.Log.WaitingBoxes(ctx, v.Shop.ID, m.Clock.Now().Add(decide.BoxCheck), mostItems)
	if err != nil {
		return nil, err
	}
	for _, id := range boxes {
		items = append(items, item{
			"box", dashboard.Warning, fmt.Sprintf("An order of contract %d waits for its box", id), "The box is not complete. The customer was asked to complete it.", "Open", fmt.Sprintf("/contracts/%d", id),
		})
	}
	ends, err := m.Endpoints.Endpoints(ctx, v.Shop.ID)
	if err != nil {
		return nil, err
	}
	for _, e := range ends {
		switch {
		case !e.Enabled && e.Reason != "":
			items = append(items, item{"hook", dashboard.Bad, "A webhook endpoint was disabled", e.URL + ": " + e.Reason, "Open", "/webhooks"})
		case e.Enabled && !e.FailingSince.IsZero():
			items = append(items, item{"hook", dashboard.Warning, "A webhook endpoint does not answer", e.URL + ", since " + v.Instant(e.FailingSince) + ".", "Open", "/webhooks"})
		}
		if len(items) > mostItems {
			break
		}
	}
	asking, _, err := m.Partners.List(ctx, v.Shop.ID, partner.Pending, page.Request{Size: mostItems})
	if err != nil {
		return nil, err
	}
	for _, p := range asking {
		items = append(items, item{"key", dashboard.Info, p.App.Name + " asks for access", "Approve or reject the request.", "Decide", "/partners"})
	}
	return items, nil
}

// event is an entry of the activity log in the list.
type event struct {
	words.Line

	At       string
	Stamp    string // for programs
	Contract int64  // 0: it is about none
}

// latest is how many entries are shown.
const latest = 8

// events returns the newest entries of the log.
func (m *room) events(r *http.Request, v dashboard.Visit) ([]event, error) {
	entries, err := m.Log.LatestEntries(r.Context(), v.Shop.ID, latest)
	if err != nil {
		return nil, err
	}
	list := make([]event, len(entries))
	today := m.Clock.Now().In(v.Zone).Format(time.DateOnly)
	for i, e := range entries {
		at := e.At.In(v.Zone)
		list[i] = event{Line: words.Of(e), At: at.Format("2 Jan"), Stamp: e.At.UTC().Format(time.RFC3339)}
		if at.Format(time.DateOnly) == today {
			list[i].At = at.Format("15:04")
		}
		if e.EntityType == activity.EntitySubscriptionContractDetails {
			list[i].Contract = e.EntityID
		}
	}
	return list, nil
}

// ContractPath returns the page of the contract of an event.
func (e event) ContractPath() string { return fmt.Sprintf("/contracts/%d", e.Contract) }

// aboutCases says what declined orders wait for.
func aboutCases(card, yours int) string {
	text := "Retries are planned."
	if card > 0 {
		text = dashboard.Count(card, "customer needs", "customers need") + " another payment method."
	}
	if yours > 0 {
		text += " " + dashboard.Count(yours, "order waits", "orders wait") + " for your staff."
	}
	return text
}
