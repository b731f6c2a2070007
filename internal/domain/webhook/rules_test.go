package webhook

import (
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func noon() time.Time { return time.Date(2026, time.January, 31, 12, 0, 0, 0, time.UTC) }

func TestWhatAnEntryTells(t *testing.T) {
	t.Parallel()
	contract, attempt := activity.EntitySubscriptionContractDetails, activity.EntitySubscriptionBillingAttempt
	for name, test := range map[string]struct {
		entity activity.EntityType
		event  activity.EventType
		status activity.Status
		info   string
		about  Subject
		want   []Type
	}{
		"a contract was made":                       {contract, activity.ContractCreated, activity.Success, `{}`, Subject{Line: shop.Subscriptions}, []Type{"subscription.created"}},
		"a membership was made":                     {contract, activity.ContractCreated, activity.Success, `{}`, Subject{Line: shop.Memberships}, []Type{"membership.created"}},
		"a contract could not be made":              {contract, activity.ContractCreated, activity.Failure, `{}`, Subject{Line: shop.Subscriptions}, nil},
		"its terms were changed":                    {contract, activity.SubscriptionContractUpdated, activity.Success, `{}`, Subject{Line: shop.Subscriptions}, []Type{"subscription.updated"}},
		"it expired":                                {contract, activity.SubscriptionContractUpdated, activity.Success, `{"from":"ACTIVE","to":"EXPIRED"}`, Subject{Line: shop.Subscriptions}, []Type{"subscription.expired"}},
		"it failed":                                 {contract, activity.SubscriptionContractUpdated, activity.Success, `{"from":"ACTIVE","to":"FAILED"}`, Subject{Line: shop.Subscriptions}, []Type{"subscription.updated"}},
		"its rhythm was changed":                    {contract, activity.BillingIntervalChange, activity.Success, `{"to":"2 MONTH"}`, Subject{Line: shop.Subscriptions}, []Type{"subscription.billing-interval-changed"}},
		"an order was put off":                      {attempt, activity.NextBillingDateChange, activity.Success, `{}`, Subject{Line: shop.Subscriptions}, []Type{"subscription.next-order-date-changed"}},
		"its tags were changed":                     {contract, activity.TagsUpdated, activity.Success, `{}`, Subject{Line: shop.Subscriptions}, nil},
		"an order was charged by itself":            {attempt, activity.BillingAttemptTriggered, activity.Success, `{}`, Subject{Line: shop.Subscriptions, Status: billing.Success}, []Type{"subscription.billing-success"}},
		"one that somebody asked for":               {attempt, activity.BillingAttemptTriggered, activity.Success, `{}`, Subject{Line: shop.Subscriptions, Status: billing.Success, Manual: true}, []Type{"subscription.billing-success", ImmediateSuccess}},
		"somebody asks for a charge":                {attempt, activity.BillingAttemptTriggered, activity.Info, `{}`, Subject{Line: shop.Subscriptions, Status: billing.Requesting, Manual: true}, nil},
		"a charge is declined":                      {attempt, activity.BillingAttemptTriggered, activity.Failure, `{}`, Subject{Line: shop.Memberships, Status: billing.Failure}, []Type{"membership.billing-failure"}},
		"one that somebody asked for is declined":   {attempt, activity.BillingAttemptTriggered, activity.Failure, `{}`, Subject{Line: shop.Subscriptions, Status: billing.Failure, Manual: true}, []Type{"subscription.billing-failure", ImmediateFailure}},
		"one that somebody asked for was too early": {attempt, activity.BillingAttemptTriggered, activity.Failure, `{}`, Subject{Line: shop.Subscriptions, Status: billing.Queued}, []Type{ImmediateFailure}},
		"the platform does not answer":              {attempt, activity.BillingAttemptTriggered, activity.PartialFailure, `{}`, Subject{Line: shop.Subscriptions, Status: billing.PlatformException, Manual: true}, nil},
		"an order is skipped":                       {attempt, activity.BillingAttemptSkipped, activity.Success, `{}`, Subject{Line: shop.Subscriptions, Status: billing.Skipped, Manual: true}, []Type{"subscription.billing-skipped"}},
		"one that somebody asked for is not made":   {attempt, activity.BillingAttemptSkipped, activity.Skipped, `{}`, Subject{Line: shop.Subscriptions, Status: billing.Skipped, Manual: true}, []Type{"subscription.billing-skipped", ImmediateFailure}},
		"no retry is left":                          {attempt, activity.DunningSkipped, activity.Success, `{}`, Subject{Line: shop.Subscriptions, Status: billing.SkippedDunning}, []Type{"subscription.billing-skipped"}},
		"no retry is left, and it stays unpaid":     {attempt, activity.DunningAttemptSkipped, activity.Skipped, `{}`, Subject{Line: shop.Subscriptions, Status: billing.Failure}, nil},
		"the store was changed":                     {activity.EntityShopInfo, activity.Updated, activity.Success, `{}`, Subject{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := TypesOf(activity.Entry{EntityType: test.entity, Event: test.event, Status: test.status, Info: test.info}, test.about)
			if !slices.Equal(got, test.want) {
				t.Errorf("tells of %v, want %v", got, test.want)
			}
			for _, kind := range got {
				if !slices.Contains(Types, kind) {
					t.Errorf("nobody can subscribe to %s", kind)
				}
			}
		})
	}
}

func TestWhatTheDataOfATypeIs(t *testing.T) {
	t.Parallel()
	for kind, contract := range map[Type]bool{
		ImmediateSuccess: false, ImmediateFailure: false, "subscription.billing-success": false, "membership.billing-skipped": false,
		"subscription.billing-interval-changed": true, "membership.created": true, "subscription.next-order-date-changed": true, Earned: false, "subscription.upcoming-order-notification": false,
	} {
		if kind.AboutContract() != contract {
			t.Errorf("%s is about the contract: %t", kind, !contract)
		}
		if kind.AboutMember() != (kind == Earned) {
			t.Errorf("%s is about a member: %t", kind, kind.AboutMember())
		}
	}
}

func TestTypesThatCanBeSubscribedTo(t *testing.T) {
	t.Parallel()
	got, err := ParseTypes([]string{"subscription.created", "SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS", "subscription.created", "loyalty.sign-up", "loyalty.referred-reward"})
	if err != nil || !slices.Equal(got, []Type{"subscription.created", ImmediateSuccess, SignUp, ReferredReward}) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, list := range [][]string{nil, {}, {""}, {"loyalty."}, {"loyalty.moon"}, {"webhook.test"}, {"subscription.created", "created"}} {
		if _, err := ParseTypes(list); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func TestTheScheduleOfTries(t *testing.T) {
	t.Parallel()
	d := Delivery{Message: "msg_1", Endpoint: 7, Status: Pending}
	now := noon()
	for try, least := range []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour} {
		d.Status = Sending
		if err := d.settle(Answer{Code: 500, Failed: "it answered 500"}, now); err != nil {
			t.Fatal(err)
		}
		if waits := d.Due.Sub(now); waits < least || waits > least+least/10 || d.Tries != try+1 || d.Status != Pending {
			t.Errorf("after try %d it waits %s and not %s: %+v", try+1, waits, least, d)
		}
	}
	d.Status = Sending
	if err := d.settle(Answer{Failed: "there was no answer"}, now); err != nil || d.Status != Failed || !d.Due.IsZero() || d.Tries != 10 {
		t.Errorf("after the last try: %+v, %v", d, err)
	}
	if err := d.again(now); err != nil || d.Status != Pending || d.Tries != 0 || !d.Due.Equal(now) {
		t.Errorf("replayed: %+v, %v", d, err)
	}
	d.Status = Sending
	if err := d.settle(Answer{Code: 204}, now); err != nil || d.Status != Delivered || !d.Due.IsZero() || d.Error != "" {
		t.Errorf("delivered: %+v, %v", d, err)
	}
	if err := d.move(Sending); !fault.Is(err, fault.Internal) {
		t.Errorf("what was delivered is sent: %v", err)
	}
	other := Delivery{Message: "msg_2", Endpoint: 7, Tries: 4}
	if a, b := must(Delivery{Message: "msg_1", Endpoint: 7, Tries: 4}.wait(0)), must(other.wait(0)); a == b {
		t.Errorf("two messages wait %s alike", a)
	}
}

func must(d time.Duration, _ bool) time.Duration { return d }

func TestRetryAfterIsHonouredWithinBounds(t *testing.T) {
	t.Parallel()
	for asked, want := range map[time.Duration]time.Duration{time.Hour: time.Hour, 90 * 24 * time.Hour: 24 * time.Hour} {
		if got := must(Delivery{Tries: 1}.wait(asked)); got != want {
			t.Errorf("asked for %s it waits %s, want %s", asked, got, want)
		}
	}
	if got := must(Delivery{Tries: 4}.wait(time.Second)); got < 2*time.Hour {
		t.Errorf("a wait was made shorter: %s", got)
	}
}

func TestWhenAnEndpointIsDisabled(t *testing.T) {
	t.Parallel()
	e := Endpoint{Enabled: true}
	if e.heard(true, false, noon()) || e.heard(true, false, noon().Add(5*24*time.Hour-time.Second)) {
		t.Error("disabled before 5 days")
	}
	if e.heard(false, false, noon().Add(5*24*time.Hour)); !e.FailingSince.IsZero() {
		t.Errorf("failing since %s", e.FailingSince)
	}
	if e.heard(true, false, noon().Add(5*24*time.Hour)) {
		t.Error("disabled after a success")
	}
	if !e.heard(true, false, noon().Add(10*24*time.Hour)) || e.Enabled || e.Reason == "" {
		t.Errorf("not disabled: %+v", e)
	}
	e = Endpoint{Enabled: true}
	if !e.heard(true, true, noon()) || e.Enabled || e.Reason == "" {
		t.Errorf("gone and not disabled: %+v", e)
	}
}

func TestBothSecretsSignForADay(t *testing.T) {
	t.Parallel()
	e := Endpoint{Secret: "whsec_old"}
	e.rotate(noon())
	if checkSecret(e.Secret) != nil || e.Secret == "whsec_old" {
		t.Errorf("the new secret is %q", e.Secret)
	}
	if got := e.secrets(noon().Add(24*time.Hour - time.Second)); !slices.Equal(got, []string{e.Secret, "whsec_old"}) {
		t.Errorf("signs with %v", got)
	}
	if got := e.secrets(noon().Add(24 * time.Hour)); !slices.Equal(got, []string{e.Secret}) {
		t.Errorf("signs with %v", got)
	}
}

func TestAddressesOfEndpoints(t *testing.T) {
	t.Parallel()
	for address, plain := range map[string][2]bool{ // whether it is taken, in production and where private addresses are
		"https://erp.example.com/hooks?x=1": {true, true}, "http://erp.example.com/hooks": {false, true}, "ftp://erp.example.com": {false, false},
		"https://me:secret@erp.example.com": {false, false}, "https://": {false, false}, "erp.example.com": {false, false}, "https://erp.example.com/#x": {false, false},
		"https://erp.example.com:8443/": {true, true}, "https://erp.example.com:0/": {false, false}, "https://erp.example.com:99999/": {false, false},
		"https://8.8.8.8/": {true, true}, "https://[2606:4700::1]/": {true, true}, "https://10.0.0.1/": {false, true}, "https://127.0.0.1:8080/": {false, true},
		"https://169.254.169.254/latest": {false, true}, "https://[::1]/": {false, true}, "https://[fd00::1]/": {false, true}, "https://[::ffff:10.0.0.1]/": {false, true},
		"https://0.0.0.0/": {false, true}, "https://LOCALHOST./": {false, true}, "https://a.localhost/": {false, true},
	} {
		for i, private := range []bool{false, true} {
			if err := checkURL(address, private); (err == nil) != plain[i] {
				t.Errorf("%s, private %t: %v", address, private, err)
			}
		}
	}
}

func TestAnIDNamesWhatHappened(t *testing.T) {
	t.Parallel()
	id := NewMessageID(1, 2, ImmediateSuccess, noon())
	if len(id) != 28 || id != NewMessageID(1, 2, ImmediateSuccess, noon()) {
		t.Errorf("id %q", id)
	}
	for _, other := range []MessageID{NewMessageID(2, 2, ImmediateSuccess, noon()), NewMessageID(1, 3, ImmediateSuccess, noon()), NewMessageID(1, 2, ImmediateFailure, noon()), NewMessageID(1, 2, ImmediateSuccess, noon().Add(time.Millisecond))} {
		if other == id {
			t.Errorf("two things have the id %q", id)
		}
	}
}
