package admin

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// postbox stands in for messages and preferences.
type postbox struct {
	list   []notify.Message
	query  notify.Query
	page   page.Request
	again  []notify.MessageID
	by     activity.Actor
	failed error

	is     portal.Preferences
	who    portal.CustomerRef
	choice *portal.MailChoice
}

func (p *postbox) MessagesWhere(_ context.Context, _ shop.ID, q notify.Query, at page.Request) ([]notify.Message, int, error) {
	p.query, p.page = q, at
	return p.list, len(p.list), nil
}

func (p *postbox) Message(_ context.Context, of shop.ID, line shop.Line, id notify.MessageID) (notify.Message, error) {
	for _, m := range p.list {
		if m.ID == id && of == 7 && line == shop.Subscriptions {
			return m, nil
		}
	}
	return notify.Message{}, notify.NoMessage(id)
}

func (p *postbox) Resend(_ context.Context, _ shop.ID, id notify.MessageID, by activity.Actor) (notify.Message, error) {
	p.again, p.by = append(p.again, id), by
	return notify.Message{ID: 1700, Kind: notify.Canceled, To: "ann@example.com", Contract: 42, Status: notify.Queued, DueAt: noon(), CreatedAt: noon()}, p.failed
}

func (p *postbox) PreferencesOf(_ context.Context, _ shop.ID, who portal.CustomerRef) (portal.Preferences, error) {
	p.who = who
	return p.is, p.failed
}

func (p *postbox) ChooseMails(_ context.Context, _ shop.ID, c portal.MailChoice) (portal.Preferences, error) {
	p.choice = &c
	return p.is, p.failed
}

func (p *postbox) Consent(context.Context, shop.ID, int64) (optin.Consent, error) {
	return optin.Consent{Customer: 5, Phone: "+16135550101", GivenAt: noon()}, nil
}

func withPost(t *testing.T, line shop.Line) (*postbox, *server) {
	t.Helper()
	p := &postbox{
		list: []notify.Message{
			{
				ID: 1603, Kind: notify.Canceled, To: "ann@example.com", Customer: 5, Contract: 42, Status: notify.Failed, LastError: "554 5.7.1 looks like spam", Tries: 1, CreatedAt: noon(),
				Content: notify.Content{Subject: "Subject", Text: "https://secret.example", HTML: "<p>"}, DedupeKey: "secret",
			},
			{
				ID: 1602, Kind: notify.UpcomingOrder, Channel: notify.BySMS, To: "+16135550101", Customer: 5, Contract: 42, Attempt: 9, Status: notify.Sent, SentAt: noon(), CreatedAt: noon().Add(-time.Hour),
				ProviderID: "secret", Delivery: notify.Undelivered, DeliveryError: "error 30003",
			},
			{ID: 1601, Kind: notify.UpcomingOrder, Channel: notify.BySMS, Status: notify.Suppressed, LastError: notify.NoPhone, CreatedAt: noon().Add(-time.Hour)},
			{ID: 1600, Kind: notify.MerchantNotice, To: "owner@demo.example", Status: notify.Queued, DueAt: noon().Add(time.Minute), CreatedAt: noon().Add(-time.Hour)},
		},
		is: portal.Preferences{Customer: 5, Language: "de", Off: []notify.Kind{notify.UpcomingOrder}, UpdatedAt: noon(), Version: 2},
	}
	s := &server{fakes: &fakes{}, t: t, log: &bytes.Buffer{}, clock: clock.NewManual(noon())}
	o := options(s.fakes, line, s.log, s.clock)
	o.Notifications, o.Resender, o.Preferences, o.Consents = p, p, p, p
	s.handler = New(o)
	return p, s
}

func TestNotificationsMatchGoldenFile(t *testing.T) {
	t.Parallel()
	p, s := withPost(t, shop.Subscriptions)
	w := s.ask("GET", base+"/notifications", "")
	webtest.Golden(t, "notifications.json", ok(t, w))
	if text := w.Body.String(); strings.Contains(text, "secret") || strings.Contains(text, "Subject") || w.Header().Get("X-Total-Count") != "4" {
		t.Errorf("the list has words, or no total: %v %s", w.Header(), text)
	}
	if p.query != (notify.Query{Line: shop.Subscriptions}) || p.page.Size != defaultKeys {
		t.Errorf("asked for %+v, %+v", p.query, p.page)
	}
	ok(t, s.ask("GET", base+"/notifications?contractId=42&kind=UPCOMING_ORDER&status=failed&page=2&size=100", ""))
	if p.query != (notify.Query{Line: shop.Subscriptions, Contract: 42, Kind: notify.UpcomingOrder, Status: notify.Failed}) || p.page.Page != 2 || p.page.Size != 100 {
		t.Errorf("asked for %+v, %+v", p.query, p.page)
	}
	webtest.Golden(t, "notification.json", ok(t, s.ask("POST", base+"/notifications/1603/resend", "")))
	if len(p.again) != 1 || p.again[0] != 1603 || p.by.By != "API key ERP" {
		t.Errorf("sent again %v by %+v", p.again, p.by)
	}
}

func TestNotificationOfOtherLineIsNotSentAgain(t *testing.T) {
	t.Parallel()
	p, s := withPost(t, shop.Memberships)
	w := s.ask("POST", base+"/notifications/1603/resend", "")
	if problem := webtest.Problem(t, w); w.Code != http.StatusNotFound || problem.ErrorKey != "notificationNotFound" || len(p.again) != 0 {
		t.Errorf("answered %d %s, sent again %v", w.Code, w.Body, p.again)
	}
}

func TestNotificationPreferencesMatchGoldenFile(t *testing.T) {
	t.Parallel()
	p, s := withPost(t, shop.Subscriptions)
	webtest.Golden(t, "notification-preferences.json", ok(t, s.ask("GET", base+"/notification-preferences/gid%3A%2F%2Fshopify%2FCustomer%2F5", "")))
	if want := (portal.CustomerRef{Line: shop.Subscriptions, Customer: 5}); p.who != want {
		t.Errorf("asked for %+v", p.who)
	}
	ok(t, s.ask("PUT", base+"/notification-preferences/5", `{"emails":{"paused":false,"upcoming_order":true},"version":2,"sms":{"agreed":false}}`))
	if c := p.choice; c == nil || c.Customer != 5 || c.Line != shop.Subscriptions || c.Version != 2 || len(c.Wanted) != 2 || c.Wanted[notify.Paused] || !c.Wanted[notify.UpcomingOrder] {
		t.Errorf("chosen is %+v", c)
	}
}

func TestNotificationsRefuseBadInput(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method, path, body string
		failed             error
		status             int
		key, params        string
	}{
		"a kind that is none":             {"GET", "/notifications?kind=newsletter", "", nil, 400, "", "kind"},
		"a kind to users":                 {"GET", "/notifications?kind=staff_link", "", nil, 400, "", "kind"},
		"a state that is none":            {"GET", "/notifications?status=LOST", "", nil, 400, "", "status"},
		"a contract that is no number":    {"GET", "/notifications?contractId=x", "", nil, 400, "", "contractId"},
		"a contract below all":            {"GET", "/notifications?contractId=0", "", nil, 400, "", "contractId"},
		"too large a page":                {"GET", "/notifications?size=101", "", nil, 400, "pageTooLarge", "size"},
		"an order of one's own":           {"GET", "/notifications?sort=id,asc", "", nil, 400, "sortField", "sort"},
		"a message that there is not":     {"POST", "/notifications/9/resend", "", nil, 404, "notificationNotFound", ""},
		"a message that is no number":     {"POST", "/notifications/x/resend", "", nil, 400, "", "id"},
		"one that has not failed":         {"POST", "/notifications/1602/resend", "", fault.New(fault.FailedPrecondition, "no").Code("notificationNotFailed"), 400, "notificationNotFailed", ""},
		"no customer's number":            {"GET", "/notification-preferences/ada", "", nil, 400, "", "customerId"},
		"another object's id":             {"GET", "/notification-preferences/gid%3A%2F%2Fshopify%2FOrder%2F5", "", nil, 400, "", "customerId"},
		"a customer who is not there":     {"GET", "/notification-preferences/6", "", fault.New(fault.NotFound, "no").Code("customerNotFound"), 404, "customerNotFound", ""},
		"no body":                         {"PUT", "/notification-preferences/5", "", nil, 400, "bodyMissing", ""},
		"a list":                          {"PUT", "/notification-preferences/5", `[]`, nil, 400, "bodyMalformed", ""},
		"nothing to change":               {"PUT", "/notification-preferences/5", `{"version":2}`, nil, 400, "bodyField", "emails"},
		"a wish that is neither":          {"PUT", "/notification-preferences/5", `{"emails":{"paused":"no"}}`, nil, 400, "bodyField", "emails"},
		"a version that is no number":     {"PUT", "/notification-preferences/5", `{"emails":{"paused":false},"version":"x"}`, nil, 400, "bodyField", "version"},
		"a version below all":             {"PUT", "/notification-preferences/5", `{"emails":{"paused":false},"version":-1}`, nil, 400, "bodyField", "version"},
		"a change by one who lags behind": {"PUT", "/notification-preferences/5", `{"emails":{"paused":false},"version":1}`, fault.New(fault.Conflict, "no").Code("changedMeanwhile"), 409, "changedMeanwhile", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := withPost(t, shop.Subscriptions)
			p.failed = test.failed
			w := s.ask(test.method, base+test.path, test.body)
			problem := webtest.Problem(t, w)
			if w.Code != test.status || deref(problem.Params) != test.params || test.key != "" && problem.ErrorKey != test.key {
				t.Errorf("answered %d %s", w.Code, w.Body)
			}
		})
	}
}

func TestNotificationsNeedScopeOfContracts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ method, path, body string }{
		{"GET", "/notifications", ""}, {"POST", "/notifications/1603/resend", ""}, {"GET", "/notification-preferences/5", ""}, {"PUT", "/notification-preferences/5", `{"emails":{"paused":false}}`},
	} {
		p, s := withPost(t, shop.Subscriptions)
		if w := s.ask(test.method, base+test.path, test.body, "X-API-Key", noneKey); w.Code != http.StatusForbidden || len(p.again) != 0 || p.choice != nil {
			t.Errorf("%s %s answered %d", test.method, test.path, w.Code)
		}
	}
}
