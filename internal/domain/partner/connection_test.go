package partner

import (
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
)

func noon() time.Time { return time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC) }

func TestConnectionTransitions(t *testing.T) {
	t.Parallel()
	allowed := map[State]string{
		Pending: "CONNECTED REJECTED EXPIRED UNINSTALLED", Connected: "DISCONNECTED UNINSTALLED", Rejected: "", Expired: "", Disconnected: "", Uninstalled: "",
	}
	for _, from := range States {
		var can string
		for _, to := range States {
			c := Connection{State: from}
			err := c.move(to)
			if err == nil {
				can += " " + string(to)
			}
			if err == nil && c.State != to || err != nil && (c.State != from || !fault.Is(err, fault.FailedPrecondition)) {
				t.Errorf("from %s to %s: %s, %v", from, to, c.State, err)
			}
		}
		if got := can; got != "" && got[1:] != allowed[from] || got == "" && allowed[from] != "" {
			t.Errorf("%s moves to%s, want %s", from, got, allowed[from])
		}
		if open := (Connection{State: from}).Open(); open != (allowed[from] != "") {
			t.Errorf("%s is open: %t", from, open)
		}
	}
}

func TestConnectionDueAt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ call, expiry, want time.Time }{
		"nothing is owed and nothing waits": {},
		"a call that is owed":               {call: noon(), want: noon()},
		"a decision that waits":             {expiry: noon(), want: noon()},
		"a call before the end of a wait":   {call: noon(), expiry: noon().Add(1), want: noon()},
		"the end of a wait before a call":   {call: noon().Add(1), expiry: noon(), want: noon()},
	} {
		if got := (Connection{CallAt: test.call, ExpiresAt: test.expiry}).DueAt(); !got.Equal(test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestEndedConnectionIsCleared(t *testing.T) {
	t.Parallel()
	c := Connection{State: Disconnected, Code: access.Hash{1}, CodeUntil: noon(), Wanted: []access.Scope{access.BillingCharge}, ExpiresAt: noon(), CallAt: noon()}
	c.end("done", noon())
	if c.Code != (access.Hash{}) || !c.CodeUntil.IsZero() || c.Wanted != nil || !c.DueAt().IsZero() || c.EndReason != "done" || c.Awaits(noon()) {
		t.Errorf("left %+v", c)
	}
}

func TestMissingScopes(t *testing.T) {
	t.Parallel()
	has := []access.Scope{access.ContractsWrite, access.BillingWrite}
	wants := []access.Scope{access.ContractsRead, access.BillingCharge, access.BillingWrite}
	if got := without(wants, has); !slices.Equal(got, []access.Scope{access.BillingCharge}) {
		t.Errorf("lacking %v", got)
	}
	if got := joined(has, wants); !slices.Equal(got, []access.Scope{access.ContractsWrite, access.BillingWrite, access.BillingCharge}) {
		t.Errorf("together %v", got)
	}
	app := App{ID: "reports", Scopes: has}
	for name, test := range map[string]struct {
		scopes []access.Scope
		ok     bool
	}{
		"what it may ask for":     {has, true},
		"a part that is included": {[]access.Scope{access.ContractsRead}, true},
		"what it may not ask for": {wants, false},
		"everything":              {[]access.Scope{access.All}, false},
		"nothing":                 {nil, false},
	} {
		if err := app.allowed(test.scopes); (err == nil) != test.ok || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRotatedSecretWorksDuringGrace(t *testing.T) {
	t.Parallel()
	c := Credential{Hash: access.HashOf("old")}.exchanged("new", noon())
	before := noon().Add(-time.Millisecond)
	for value, want := range map[string][2]bool{"old": {true, false}, "new": {true, true}, "": {}, "other": {}} {
		if got := [2]bool{c.Opens(value, before), c.Opens(value, noon())}; got != want {
			t.Errorf("%q opens %v, want %v", value, got, want)
		}
	}
	if (Credential{}).Opens("", noon()) {
		t.Error("no secret is one")
	}
}

func TestAddRejectsInvalidApp(t *testing.T) {
	t.Parallel()
	good := App{ID: "reports-2", Name: "Reports", BaseURL: "https://reports.example/x", Scopes: []access.Scope{access.ContractsRead}}
	if err := good.check(false); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*App){
		"an id with capitals":       func(a *App) { a.ID = "Reports" },
		"an id with a slash":        func(a *App) { a.ID = "a/b" },
		"an id that is too long":    func(a *App) { a.ID = access.AppID(make([]byte, 51)) },
		"no name":                   func(a *App) { a.Name = "" },
		"a name with a line break":  func(a *App) { a.Name = "a\nb" },
		"an address without TLS":    func(a *App) { a.BaseURL = "http://reports.example" },
		"an address with a name in": func(a *App) { a.BaseURL = "https://user@reports.example" },
		"an address with a query":   func(a *App) { a.BaseURL = "https://reports.example?x=1" },
		"another protocol":          func(a *App) { a.BaseURL = "file:///etc/passwd" },
		"no scopes":                 func(a *App) { a.Scopes = nil },
		"all scopes":                func(a *App) { a.Scopes = []access.Scope{access.All} },
	} {
		bad := good
		change(&bad)
		if err := bad.check(false); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	plain := good
	if plain.BaseURL = "http://127.0.0.1:9"; plain.check(true) != nil {
		t.Error("an address without TLS is refused where it is permitted")
	}
}
