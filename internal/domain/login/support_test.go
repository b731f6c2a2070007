package login_test

import (
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/login"
)

func TestSupportSessionIsMarkedAndEndsAfterThirtyMinutes(t *testing.T) {
	t.Parallel()
	d := begin(t)
	by := activity.Actor{Source: activity.MerchantPortal, By: "ana@staff.example", ClientIP: "203.0.113.4"}
	made, err := d.OpenAs(t.Context(), d.of, 10, 1, by)
	if err != nil {
		t.Fatal(err)
	}
	session := d.enter(strings.TrimPrefix(made.Value, "https://subs.example/p/demo/l/"))
	who, err := d.Authenticate(t.Context(), d.of, session, login.ByLink)
	if err != nil || who.Via != login.BySupport || who.Customer != 1 || !who.Until.Equal(noon.Add(30*time.Minute)) {
		t.Fatalf("the session is %+v, %v", who, err)
	}
	if got := who.Actor("203.0.113.5"); got != (activity.Actor{Source: activity.MerchantPortal, By: by.By, ClientIP: "203.0.113.5", Customer: 1}) {
		t.Errorf("what it does is logged as %+v", got)
	}
	entries, _, err := d.db.Entries(t.Context(), d.of, nil, page.Request{Size: 5})
	if err != nil || len(entries) != 1 || entries[0].EntityID != 10 || entries[0].Actor != by || !strings.Contains(entries[0].Info, "opened as the customer") {
		t.Errorf("logged %+v, %v", entries, err)
	}
	d.at.Set(noon.Add(30*time.Minute - time.Millisecond))
	if _, err := d.Authenticate(t.Context(), d.of, session, login.ByLink); err != nil {
		t.Errorf("it ended early: %v", err)
	}
	d.at.Set(noon.Add(30 * time.Minute))
	if _, err := d.Authenticate(t.Context(), d.of, session, login.ByLink); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("it goes on: %v", err)
	}
}

func TestSupportLinkWorksFiveMinutesForItsStoreOnly(t *testing.T) {
	t.Parallel()
	d := begin(t)
	by := activity.Actor{Source: activity.MerchantPortal, By: "ana@staff.example"}
	made, err := d.OpenAs(t.Context(), d.of, 10, 1, by)
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimPrefix(made.Value, "https://subs.example/p/demo/l/")
	if _, err := d.Enter(t.Context(), d.second, secret); !fault.Is(err, fault.NotFound) {
		t.Errorf("another store: %v", err)
	}
	d.at.Set(noon.Add(5 * time.Minute))
	if _, err := d.Enter(t.Context(), d.of, secret); !fault.Is(err, fault.FailedPrecondition) {
		t.Errorf("after five minutes: %v", err)
	}
	if _, err := d.OpenAs(t.Context(), d.of, 10, 99, by); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown customer: %v", err)
	}
}
