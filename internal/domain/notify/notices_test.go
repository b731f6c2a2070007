package notify

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// left collects what is left in a transaction.
type left struct {
	shop     shop.Shop
	messages []Message
}

func (l *left) Shop(context.Context) (shop.Shop, error)     { return l.shop, nil }
func (l *left) Enqueue(context.Context, ...task.Task) error { return nil }
func (l *left) PutMessages(_ context.Context, list []Message) error {
	l.messages = append(l.messages, list...)
	return nil
}

func TestPeriodsOfDigestsFollowEachOther(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		is, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	for _, row := range []struct {
		how            shop.DigestMode
		at, since, due string
	}{
		{"", "2026-11-25 10:00", "2026-11-23 08:00", "2026-11-30 08:00"},
		{shop.DigestWeekly, "2026-11-23 07:59", "2026-11-16 08:00", "2026-11-23 08:00"},
		{shop.DigestWeekly, "2026-11-23 08:00", "2026-11-23 08:00", "2026-11-30 08:00"},
		{shop.DigestWeekly, "2026-11-29 23:59", "2026-11-23 08:00", "2026-11-30 08:00"},
		{shop.DigestWeekly, "2026-10-30 12:00", "2026-10-26 08:00", "2026-11-02 08:00"}, // clocks are set back on 1 November
		{shop.DigestMonthly, "2026-11-01 07:59", "2026-10-01 08:00", "2026-11-01 08:00"},
		{shop.DigestMonthly, "2026-12-31 09:00", "2026-12-01 08:00", "2027-01-01 08:00"},
		{shop.DigestAtOnce, "2026-11-25 10:14", "2026-11-25 10:00", "2026-11-25 10:15"},
		{shop.DigestAtOnce, "2026-11-25 10:15", "2026-11-25 10:15", "2026-11-25 10:30"},
	} {
		since, due := period(row.how, at(row.at))
		if !since.Equal(at(row.since)) || !due.Equal(at(row.due)) {
			t.Errorf("%s, %s: from %s to %s, want %s to %s", row.how, row.at, since, due, row.since, row.due)
		}
	}
}

func TestMerchantIsNotifiedOfWhatNeedsAnAnswer(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	requested := activity.Entry{ID: 7, EntityID: 3, Event: activity.PartnerConnectionRequested, Status: activity.Success, At: noon, Info: activity.Details(map[string]string{"app": "Courier <b>"})}
	approved := activity.Entry{ID: 8, EntityID: 3, Event: activity.PartnerConnectionApproved, Status: activity.Success, At: noon}
	declined := activity.Entry{ID: 9, EntityID: 4, Event: activity.BillingAttemptTriggered, Status: activity.Failure, At: noon}
	paid := declined
	paid.Status = activity.Success
	owned := shop.Shop{Domain: "demo.myshopify.com", TimeZone: "UTC", OwnerEmail: "owner@demo.example"}
	unowned, refused := owned, owned
	unowned.OwnerEmail = ""
	refused.Settings.SetSends(FailureDigest, false)
	for name, row := range map[string]struct {
		of      shop.Shop
		entries []activity.Entry
		want    string
	}{
		"an application asks":              {owned, []activity.Entry{requested}, "merchant_notice partner-7"},
		"the merchant invited it":          {owned, []activity.Entry{requested, approved}, ""},
		"charges are declined":             {owned, []activity.Entry{declined, paid, declined}, "failure_digest failure_digest:1796025600"},
		"a charge succeeds":                {owned, []activity.Entry{paid}, ""},
		"the store wants no digest":        {refused, []activity.Entry{declined}, ""},
		"there is no address":              {unowned, []activity.Entry{requested, declined}, ""},
		"an application asks and declines": {owned, []activity.Entry{requested, declined}, "merchant_notice partner-7, failure_digest failure_digest:1796025600"},
	} {
		l := &left{shop: row.of}
		if err := NotifyMerchant(t.Context(), l, row.entries); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range l.messages {
			got = append(got, string(m.Kind)+" "+m.DedupeKey)
			if m.To != row.of.OwnerEmail {
				t.Errorf("%s: it goes to %s", name, m.To)
			}
			if strings.Contains(m.HTML, "<b>") {
				t.Errorf("%s: the name of the application is markup:\n%s", name, m.HTML)
			}
		}
		if is := strings.Join(got, ", "); is != row.want {
			t.Errorf("%s: %s, want %s", name, is, row.want)
		}
	}
}

func TestDigestSaysWhyAndWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	of := shop.Shop{Domain: "demo.myshopify.com", TimeZone: "America/New_York"}
	words, err := WriteDigest(Digest{time.Date(2026, 11, 23, 13, 0, 0, 0, time.UTC)}, of, []dunning.Case{
		{Class: dunning.Card, State: dunning.Open}, {Class: dunning.Funds, State: dunning.Recovered}, {Class: dunning.Funds, State: dunning.Lost}, {Class: dunning.Merchant, State: dunning.Held},
	}, "https://subs.example/admin")
	if err != nil {
		t.Fatal(err)
	}
	if words.Subject != "4 orders of demo.myshopify.com could not be charged" {
		t.Errorf("subject %q", words.Subject)
	}
	for _, want := range []string{
		"since Monday, 23 November, 08:00, 4 orders", "2: not enough money", "1: the payment method cannot be charged", "this needs you", "1 paid since, 1 tried again or waiting for the customer, 1 waiting for you, 1 given up",
		"https://subs.example/admin",
	} {
		if !strings.Contains(words.Text, want) || !strings.Contains(words.HTML, want) {
			t.Errorf("it does not say %q:\n%s", want, words.Text)
		}
	}
	if strings.Index(words.Text, "not enough money") > strings.Index(words.Text, "payment method cannot") {
		t.Errorf("the commonest reason is not first:\n%s", words.Text)
	}
}
