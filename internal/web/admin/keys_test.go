package admin

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// keeper stands in for the management of keys and of connections.
type keeper struct {
	keys     []access.Key
	made     access.NewKey
	rotation access.Rotation
	revoked  access.KeyID
	view     partner.View
	asked    string // which decision was asked for
	scopes   []access.Scope
	state    partner.State
	by       activity.Actor
}

// ring is the part of the keeper that keeps keys.
type ring struct{ *keeper }

func (k ring) List(context.Context, shop.ID) ([]access.Key, error) { return k.keys, nil }

func (k ring) Create(_ context.Context, _ shop.ID, n access.NewKey) (string, access.Key, error) {
	k.made = n
	return "prn_value", k.keys[0], nil
}

func (k ring) Rotate(_ context.Context, _ shop.ID, r access.Rotation) (string, access.Key, error) {
	k.rotation = r
	return "prn_value", k.keys[0], nil
}

func (k ring) Revoke(_ context.Context, _ shop.ID, id access.KeyID, by activity.Actor) error {
	k.revoked, k.by = id, by
	return nil
}

func (k *keeper) decided(what string, by activity.Actor) (partner.View, error) {
	k.asked, k.by = what, by
	return k.view, nil
}

func (k *keeper) List(_ context.Context, _ shop.ID, state partner.State, _ page.Request) ([]partner.View, int, error) {
	k.state = state
	return []partner.View{k.view}, 1, nil
}

func (k *keeper) Review(context.Context, shop.ID, partner.ConnectionID) (partner.View, error) {
	return k.decided("review", activity.Actor{})
}

func (k *keeper) Request(_ context.Context, _ shop.ID, app access.AppID, scopes []access.Scope, by activity.Actor) (partner.View, error) {
	k.scopes = scopes
	return k.decided("request "+string(app), by)
}

func (k *keeper) Approve(_ context.Context, _ shop.ID, _ partner.ConnectionID, by activity.Actor) (partner.View, error) {
	return k.decided("approve", by)
}

func (k *keeper) Reject(_ context.Context, _ shop.ID, _ partner.ConnectionID, by activity.Actor) (partner.View, error) {
	return k.decided("reject", by)
}

func (k *keeper) Disconnect(_ context.Context, _ shop.ID, _ partner.ConnectionID, by activity.Actor) (partner.View, error) {
	return k.decided("disconnect", by)
}

func (k *keeper) Reduce(_ context.Context, _ shop.ID, _ partner.ConnectionID, to []access.Scope, by activity.Actor) (partner.View, error) {
	k.scopes = to
	return k.decided("reduce", by)
}

// keep serves the management of keys and of connections.
func keep(t *testing.T) (*keeper, *server) {
	t.Helper()
	k := &keeper{
		keys: []access.Key{
			{ID: 3, Shop: 7, Name: "ERP", Hint: "prn_8fQz", Scopes: []access.Scope{access.All}, CreatedAt: noon().AddDate(0, -1, 0), LastUsedAt: noon().Add(-time.Minute)},
			{ID: 4, Shop: 7, Name: "Old", Hint: "ab", Scopes: []access.Scope{access.ContractsRead}, CreatedAt: noon().AddDate(-1, 0, 0), RevokedAt: noon()},
		},
		view: partner.View{
			App: partner.App{ID: "reports", Name: "Reports", BaseURL: "https://reports.example", Status: partner.Live},
			Connection: partner.Connection{
				ID: 12, Shop: 7, App: "reports", State: partner.Connected, Direction: partner.ByPartner, Scopes: []access.Scope{access.ContractsRead},
				Wanted: []access.Scope{access.BillingWrite}, RequestedBy: "partner app Reports", RequestedAt: noon(), ExpiresAt: noon().AddDate(0, 0, 7), DecidedBy: "API key ERP",
				DecidedAt: noon(), Token: 9, TokenAt: noon(), Failure: "it answered 503",
			},
			Calls: []partner.Calls{{App: "reports", Day: noon().Truncate(24 * time.Hour), Count: 12, Errors: 3, LastAt: noon()}},
		},
	}
	s := &server{fakes: &fakes{}, t: t, log: &bytes.Buffer{}, clock: clock.NewManual(noon())}
	o := options(s.fakes, shop.Subscriptions, s.log, s.clock)
	o.Gate.Clock, o.Keys, o.Connections = s.clock, ring{k}, k
	s.handler = New(o)
	return k, s
}

func ok(t *testing.T, w *httptest.ResponseRecorder) []byte {
	t.Helper()
	if w.Code != http.StatusOK {
		t.Fatalf("answered %d: %s", w.Code, w.Body)
	}
	return w.Body.Bytes()
}

func TestAPIKeysMatchGoldenFile(t *testing.T) {
	t.Parallel()
	k, s := keep(t)
	webtest.Golden(t, "api-keys.json", ok(t, s.ask("GET", base+"/api-keys", "")))
	webtest.Golden(t, "api-key-made.json", ok(t, s.ask("POST", base+"/api-keys", `{"name":"ERP","scopes":["contracts:read","contracts:read"]}`)))
	if k.made.Name != "ERP" || len(k.made.Scopes) != 1 || k.made.Actor.By != "API key ERP" {
		t.Errorf("asked for %+v", k.made)
	}
	ok(t, s.ask("POST", base+"/api-keys/4/rotate?graceSeconds=60", ""))
	if k.rotation.Key != 4 || k.rotation.Grace == nil || *k.rotation.Grace != time.Minute {
		t.Errorf("rotated %+v", k.rotation)
	}
	ok(t, s.ask("POST", base+"/api-keys/4/rotate", ""))
	if k.rotation.Grace != nil {
		t.Errorf("rotated %+v", k.rotation)
	}
	ok(t, s.ask("DELETE", base+"/api-keys/4", ""))
	if k.revoked != 4 || k.by.By != "API key ERP" {
		t.Errorf("revoked %d by %+v", k.revoked, k.by)
	}
	w := s.ask("GET", base+"/api-keys?page=1&size=1", "")
	if body := string(ok(t, w)); !strings.Contains(body, `"Old"`) || strings.Contains(body, `"ERP"`) || w.Header().Get("X-Total-Count") != "2" {
		t.Errorf("the second page: %s %v", body, w.Header())
	}
	if w := s.ask("GET", base+"/api-keys?size=101", ""); w.Code != http.StatusBadRequest {
		t.Errorf("too large a page: %d", w.Code)
	}
}

func TestPartnerConnectionsMatchGoldenFile(t *testing.T) {
	t.Parallel()
	k, s := keep(t)
	webtest.Golden(t, "partner-connection.json", ok(t, s.ask("GET", base+"/partner-connections/12", "")))
	ok(t, s.ask("GET", base+"/partner-connections?status=pending", ""))
	if k.state != partner.Pending {
		t.Errorf("listed by %q", k.state)
	}
	for _, test := range []struct{ method, path, body, asked string }{
		{"POST", "", `{"partnerId":"reports","scopes":["contracts:read"],"shop":"demo.myshopify.com"}`, "request reports"},
		{"POST", "/12/approve", "", "approve"},
		{"POST", "/12/reject", "", "reject"},
		{"POST", "/12/disconnect", "", "disconnect"},
		{"PUT", "/12/scopes", `{"scopes":["contracts:read"]}`, "reduce"},
	} {
		k.asked, k.by = "", activity.Actor{}
		ok(t, s.ask(test.method, base+"/partner-connections"+test.path, test.body))
		if k.asked != test.asked || k.by.By != "API key ERP" {
			t.Errorf("%s %s asked for %q by %+v", test.method, test.path, k.asked, k.by)
		}
	}
	for name, test := range map[string]struct{ method, path, body, params string }{
		"a state that is none":       {"GET", "?status=asleep", "", "status"},
		"no application":             {"POST", "", `{}`, "partnerId"},
		"another shop":               {"POST", "", `{"partnerId":"reports","shop":"other.myshopify.com"}`, "shop"},
		"a scope that is none":       {"PUT", "/12/scopes", `{"scopes":["moon:read"]}`, "scopes"},
		"a number beyond all others": {"POST", "/9007199254740992/approve", "", "id"},
	} {
		w := s.ask(test.method, base+"/partner-connections"+test.path, test.body)
		if p := webtest.Problem(t, w); w.Code != http.StatusBadRequest || deref(p.Params) != test.params {
			t.Errorf("%s: %d at %q: %s", name, w.Code, deref(p.Params), w.Body)
		}
	}
}
