package notify_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// scribe writes the kinds of a letter's messages, and leaves out what the test says.
type scribe struct {
	leaveOut map[notify.Kind]string
}

func (s scribe) Write(_ context.Context, _ shop.ID, messages []notify.Message) (notify.Letter, error) {
	l := notify.Letter{LeftOut: map[notify.MessageID]string{}}
	var kinds []string
	for _, m := range messages {
		if why := s.leaveOut[m.Kind]; why != "" {
			l.LeftOut[m.ID] = why
			continue
		}
		kinds = append(kinds, fmt.Sprint(m.Contract, " ", m.Kind))
	}
	l.Content = notify.Content{Subject: strings.Join(kinds, ", "), Text: "text", HTML: "html"}
	return l, nil
}

// ada and bob are customers.
var (
	ada = contract.Customer{ID: 7001, Email: "ada@shopper.example"}
	bob = contract.Customer{ID: 7002, Email: "bob@shopper.example"}
)

// sells puts contracts of customers, whose next order is on a day, in a queue.
func (p *post) sells(next time.Time, policy contract.Policy, of map[contract.ID]contract.Customer) {
	p.Helper()
	err := p.db.Update(p.Context(), p.shop.ID, func(tx *store.Tx) error {
		var contracts []contract.Contract
		var attempts []billing.Attempt
		for id, who := range of {
			contracts = append(contracts, contract.Contract{
				ID: id, Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Billing: policy, Delivery: policy, Customer: who, AutoCharge: true, PaymentMethod: "pm", PaymentUsable: true,
				NextBillingDate: next, Series: contract.Series{Cycle: 1, Start: next}, CreatedAt: noon, UpdatedAt: noon,
			})
			attempts = append(attempts, billing.Attempt{Contract: id, Cycle: 2, Status: billing.Queued, BillingDate: next, CreatedAt: noon, UpdatedAt: noon})
		}
		slices.SortFunc(contracts, func(a, b contract.Contract) int { return int(a.ID - b.ID) })
		slices.SortFunc(attempts, func(a, b billing.Attempt) int { return int(a.Contract - b.Contract) })
		if err := tx.PutContracts(p.Context(), contracts); err != nil {
			return err
		}
		err := tx.PutAttempts(p.Context(), attempts)
		p.orders = map[contract.ID]billing.AttemptID{}
		for _, a := range attempts {
			p.orders[a.Contract] = a.ID
		}
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
}

// record confirms changes of contracts.
func (p *post) record(entries ...activity.Entry) {
	p.Helper()
	err := p.db.Update(p.Context(), p.shop.ID, func(tx *store.Tx) error {
		for i := range entries {
			entries[i].ID, entries[i].At = p.at.Now().UnixMilli()*100+int64(i), p.at.Now()
			entries[i].Actor = activity.System
			if entries[i].Status == "" {
				entries[i].Status = activity.Success
			}
			if entries[i].EntityType == "" {
				entries[i].EntityType = activity.EntitySubscriptionContractDetails
			}
		}
		return notify.ConfirmChanges(p.Context(), tx, entries)
	})
	if err != nil {
		p.Fatal(err)
	}
}

// subjects returns what was sent since it was asked last, with its recipients.
func (p *post) subjects() (list []string) {
	for _, l := range p.server.taken {
		list = append(list, strings.TrimSuffix(l.To, "@shopper.example")+": "+l.Subject)
	}
	p.server.taken = nil
	slices.Sort(list)
	return list
}

func (p *post) sends(want ...string) {
	p.Helper()
	if got := p.subjects(); !slices.Equal(got, want) {
		p.Errorf("at %s sent %q, want %q", p.at.Now().Format(time.DateTime), got, want)
	}
}

func begun(t *testing.T, next time.Time, policy contract.Policy, leaveOut map[notify.Kind]string) *post {
	t.Helper()
	p := begin(t)
	p.Write = scribe{leaveOut}.Write
	p.sells(next, policy, map[contract.ID]contract.Customer{1: ada, 2: ada, 3: bob})
	return p
}

var (
	monthly = contract.Policy{Interval: cadence.Month, Count: 1}
	far     = noon.AddDate(0, 2, 0)
)

func TestChangesWaitAndAreReportedTogether(t *testing.T) {
	t.Parallel()
	p := begun(t, far, monthly, nil)
	change := func(c int64, event activity.EventType) activity.Entry {
		return activity.Entry{EntityID: c, Event: event}
	}
	p.record(change(1, activity.ProductAdd), change(2, activity.ProductAdd))
	p.pass(6 * time.Minute)
	p.sends()
	p.record(change(1, activity.BillingIntervalChange), change(3, activity.ContractPaused))
	p.pass(4*time.Minute - time.Millisecond)
	p.sends()
	p.pass(time.Millisecond)
	p.sends("ada: 1 product_added, 1 frequency", "ada: 2 product_added")
	p.pass(6 * time.Minute)
	p.sends("bob: 3 paused")
}

func TestConfirmations(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		entries []activity.Entry
		disable notify.Kind
		leave   map[notify.Kind]string
		want    []string
	}{
		"a cancellation is confirmed at once":        {entries: []activity.Entry{{EntityID: 1, Event: activity.ContractCancelled}}, want: []string{"ada: 1 canceled"}},
		"a new contract is":                          {entries: []activity.Entry{{EntityID: 3, Event: activity.ContractCreated}}, want: []string{"bob: 3 subscription_created"}},
		"what failed is not":                         {entries: []activity.Entry{{EntityID: 1, Event: activity.ContractCancelled, Status: activity.Failure}}},
		"what asks for no message is not":            {entries: []activity.Entry{{EntityID: 1, Event: activity.TagsUpdated}}},
		"another record with the id is not":          {entries: []activity.Entry{{EntityID: 1, EntityType: activity.EntityBulkAutomation, Event: activity.ContractCancelled}}},
		"a contract without an owner is not":         {entries: []activity.Entry{{EntityID: 9, Event: activity.ContractCancelled}}},
		"a payment is not, unless the store says so": {entries: []activity.Entry{{EntityID: 1, Event: activity.BillingAttemptTriggered}}},
		"what the store has disabled is not":         {entries: []activity.Entry{{EntityID: 1, Event: activity.ContractCancelled}}, disable: notify.Canceled},
		"an end for an unpaid order is reported by its own message": {entries: []activity.Entry{
			{EntityID: 1, Event: activity.DunningCancelled}, {EntityID: 1, Event: activity.ContractCancelled}, {EntityID: 3, Event: activity.ContractCancelled},
		}, want: []string{"bob: 3 canceled"}},
		"a swap rule may be silent":         {entries: []activity.Entry{{EntityID: 1, Event: activity.ProductReplace, Info: `{"silent":true}`}}},
		"what holds no longer is left out":  {entries: []activity.Entry{{EntityID: 1, Event: activity.ContractPaused}}, leave: map[notify.Kind]string{notify.Paused: notify.NoLongerTrue}},
		"details of another shape are fine": {entries: []activity.Entry{{EntityID: 1, Event: activity.ProductAdd, Info: `{"from":7}`}}, want: []string{"ada: 1 product_added"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := begun(t, far, monthly, test.leave)
			if test.disable != "" {
				p.change(func(s *shop.Settings) { s.SetSends(test.disable, false) })
			}
			p.record(test.entries...)
			p.pass(10 * time.Minute)
			p.sends(test.want...)
		})
	}
}

// change changes the store's settings.
func (p *post) change(fn func(*shop.Settings)) {
	p.Helper()
	err := p.db.Update(p.Context(), p.shop.ID, func(tx *store.Tx) error {
		s, err := tx.Shop(p.Context())
		if err != nil {
			return err
		}
		fn(&s.Settings)
		return tx.PutShop(p.Context(), s)
	})
	if err != nil {
		p.Fatal(err)
	}
}

func (p *post) connect() {
	p.Helper()
	err := p.db.Update(p.Context(), p.shop.ID, func(tx *store.Tx) error {
		s, err := tx.Shop(p.Context())
		if err != nil {
			return err
		}
		s.Connected = true
		return tx.PutShop(p.Context(), s)
	})
	if err != nil {
		p.Fatal(err)
	}
}

func TestRemindersComeOnceBeforeEachDate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy contract.Policy
		days   []int // before the order
	}{
		"every month": {monthly, []int{3}},
		"every week":  {contract.Policy{Interval: cadence.Week, Count: 1}, []int{1}},
		"every year":  {contract.Policy{Interval: cadence.Year, Count: 1}, []int{21, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := noon.AddDate(0, 0, 30)
			p := begun(t, next, test.policy, nil)
			p.connect()
			for _, days := range test.days {
				at := next.Add(-contract.Days(days))
				p.pass(at.Add(-time.Millisecond).Sub(p.at.Now()))
				p.sends()
				p.pass(time.Millisecond)
				p.sends("ada: 1 upcoming_order, 2 upcoming_order", "bob: 3 upcoming_order")
			}
			p.pass(next.Sub(p.at.Now()) + 24*time.Hour)
			p.sends()
		})
	}
}

func TestOrderThatMovesIsAnnouncedForItsNewDate(t *testing.T) {
	t.Parallel()
	next := noon.AddDate(0, 0, 10)
	p := begun(t, next, monthly, nil)
	p.connect()
	p.pass(next.Add(-contract.Days(3)).Sub(noon))
	p.subjects()
	moved := next.AddDate(0, 0, 20)
	p.moves(3, moved)
	p.pass(time.Hour)
	p.sends()
	p.pass(moved.Add(-contract.Days(3)).Sub(p.at.Now()))
	p.sends("bob: 3 upcoming_order")
}

// moves moves the next order of a contract.
func (p *post) moves(id contract.ID, to time.Time) {
	p.Helper()
	err := p.db.Update(p.Context(), p.shop.ID, func(tx *store.Tx) error {
		contracts, err := tx.Contracts(p.Context(), []contract.ID{id})
		if err != nil {
			return err
		}
		attempts, err := tx.Attempts(p.Context(), []billing.AttemptID{p.orders[id]})
		if err != nil {
			return err
		}
		contracts[0].NextBillingDate, attempts[0].BillingDate = to, to
		if err := tx.PutAttempts(p.Context(), attempts); err != nil {
			return err
		}
		return tx.PutContracts(p.Context(), contracts)
	})
	if err != nil {
		p.Fatal(err)
	}
}

func TestNobodyIsRemindedWhileNothingIsCharged(t *testing.T) {
	t.Parallel()
	next := noon.AddDate(0, 0, 3)
	p := begun(t, next, monthly, nil) // not connected
	p.pass(time.Hour)
	p.sends()
	p.connect()
	p.pass(0)
	p.sends("ada: 1 upcoming_order, 2 upcoming_order", "bob: 3 upcoming_order")
}

func TestOptionalMessagesWaitForDay(t *testing.T) {
	t.Parallel()
	p := begun(t, far, monthly, nil)
	p.pass(8 * time.Hour) // 20:00
	p.record(activity.Entry{EntityID: 1, Event: activity.ProductAdd}, activity.Entry{EntityID: 3, Event: activity.ContractCancelled})
	p.pass(10 * time.Minute)
	p.sends("bob: 3 canceled")
	p.pass(11*time.Hour + 50*time.Minute - time.Millisecond)
	p.sends()
	p.pass(time.Millisecond)
	p.sends("ada: 1 product_added")
}

func TestPersonGetsFewLettersInOneDay(t *testing.T) {
	t.Parallel()
	p := begun(t, far, monthly, nil)
	for range 8 {
		p.record(activity.Entry{EntityID: 1, Event: activity.ProductAdd}, activity.Entry{EntityID: 3, Event: activity.ContractCancelled})
		p.pass(10 * time.Minute)
	}
	got := p.subjects()
	if want := append(slices.Repeat([]string{"ada: 1 product_added"}, 6), slices.Repeat([]string{"bob: 3 canceled"}, 8)...); !slices.Equal(got, want) {
		t.Fatalf("sent %q", got)
	}
	p.pass(22*time.Hour + 40*time.Minute)
	p.sends()
	p.pass(time.Hour)
	p.sends("ada: 1 product_added, 1 product_added") // when the first of the six are a day old
}

func TestLetterLeavesOutWhatHoldsNoLonger(t *testing.T) {
	t.Parallel()
	p := begun(t, far, monthly, map[notify.Kind]string{notify.Paused: notify.NoLongerTrue})
	p.record(activity.Entry{EntityID: 1, Event: activity.ContractPaused}, activity.Entry{EntityID: 1, Event: activity.ContractActivated})
	p.pass(10 * time.Minute)
	p.sends("ada: 1 resumed")
	entries, _, err := p.db.Entries(t.Context(), p.shop.ID, nil, page.Request{Size: 100, Sort: []page.Sort{{Field: activity.FieldID}}})
	var ends []string
	for _, e := range entries {
		ends = append(ends, fmt.Sprint(e.Event, " ", e.Status))
	}
	if want := []string{"SEND_SUBSCRIPTION_PAUSED_EMAIL SKIPPED", "SEND_SUBSCRIPTION_RESUMED_EMAIL SUCCESS"}; err != nil || !slices.Equal(ends, want) {
		t.Errorf("entries %q, %v", ends, err)
	}
}

func TestExpiringCardIsAnnouncedTwice(t *testing.T) {
	t.Parallel()
	p := begun(t, time.Date(2025, 4, 15, 12, 0, 0, 0, time.UTC), contract.Policy{Interval: cadence.Month, Count: 3}, nil)
	p.connect()
	err := p.db.Update(t.Context(), p.shop.ID, func(tx *store.Tx) error {
		list, err := tx.Contracts(t.Context(), []contract.ID{1, 2, 3})
		if err != nil {
			return err
		}
		list[0].Card = contract.Card{Brand: "visa", LastDigits: "4242", ExpiryMonth: 3, ExpiryYear: 2025}
		list[1].Card = contract.Card{Brand: "visa", LastDigits: "4242", ExpiryMonth: 4, ExpiryYear: 2025} // after the next order
		list[2].Card, list[2].MaxCycles = list[1].Card, 2                                                 // after the last one
		return tx.PutContracts(t.Context(), list)
	})
	if err != nil {
		t.Fatal(err)
	}
	ends := time.Date(2025, 4, 1, 0, 0, 0, 0, time.UTC)
	for _, days := range []int{30, 7} {
		at := ends.Add(-contract.Days(days))
		p.pass(at.Add(-time.Millisecond).Sub(p.at.Now()))
		p.sends()
		p.pass(time.Millisecond)
		p.sends("ada: 1 expiring_card")
	}
	p.pass(ends.Sub(p.at.Now()))
	p.sends("ada: 2 expiring_card")
	entries, _, err := p.db.Entries(t.Context(), p.shop.ID, nil, page.Request{Size: 100, Sort: []page.Sort{{Field: activity.FieldID}}})
	if err != nil {
		t.Fatal(err)
	}
	var planned []string
	for _, e := range entries {
		if e.Event == activity.ScheduleExpiringCreditCardEmail {
			planned = append(planned, fmt.Sprint(e.EntityID, " ", e.Info))
		}
	}
	if want := []string{
		`1 {"kind":"expiring_card","at":["2025-03-02T00:00:00Z","2025-03-25T00:00:00Z"]}`, `2 {"kind":"expiring_card","at":["2025-04-01T00:00:00Z","2025-04-24T00:00:00Z"]}`,
	}; !slices.Equal(planned, want) {
		t.Errorf("planned are %q", planned)
	}
}
