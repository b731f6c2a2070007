package notify_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/store"
)

// carrier is a provider of SMS that accepts what the test configures.
type carrier struct {
	tried   []notify.SMS
	failure error
	during  func(notify.SMS) // happens while an SMS is sent
}

func (c *carrier) SendSMS(_ context.Context, list []notify.SMS) []notify.Receipt {
	receipts := make([]notify.Receipt, len(list))
	for i, s := range list {
		c.tried = append(c.tried, s)
		if c.during != nil {
			c.during(s)
		}
		if receipts[i].Failure = c.failure; c.failure == nil {
			receipts[i].ID = fmt.Sprint("SM", s.Message)
		}
	}
	return receipts
}

// texting is a store that sends SMS before the orders of Ada and Bob, who have two and one, and to
// which Ada agreed. They are due in three days.
func texting(t *testing.T) (*post, *carrier) {
	t.Helper()
	p, c := begin(t), &carrier{}
	p.Write, p.SMS = scribe{}.Write, c
	p.db.SendsSMS()
	p.shop.Connected, p.shop.Settings.EnabledSMS = true, []notify.Kind{notify.UpcomingOrder}
	p.put()
	p.sells(noon.AddDate(0, 0, 3).Add(-4*time.Hour), monthly, map[contract.ID]contract.Customer{1: ada, 2: ada, 3: bob})
	p.agree(ada, "+15550001234")
	return p, c
}

func (p *post) put() {
	p.Helper()
	if err := p.db.Update(p.Context(), p.shop.ID, func(tx *store.Tx) error { return tx.PutShop(p.Context(), p.shop) }); err != nil {
		p.Fatal(err)
	}
	p.shop.Version++
}

func (p *post) consents() *optin.Service {
	return &optin.Service{Store: p.db.SMSConsents(), Phones: p.db.Shops(), Clock: p.at}
}

func (p *post) agree(who contract.Customer, phone string) {
	p.Helper()
	by := activity.Actor{Source: activity.CustomerPortal, Customer: who.ID}
	if _, err := p.consents().Set(p.Context(), p.shop.ID, optin.Wish{Phone: phone, Agreed: phone != "", Actor: by}); err != nil {
		p.Fatal(err)
	}
}

// ended returns how the SMS about a contract's order ended.
func (p *post) ended(of contract.ID) (is notify.Result) {
	p.Helper()
	key := notify.SMSKey(notify.UpcomingKey(of, 2, noon.AddDate(0, 0, 3).Add(-4*time.Hour), 0))
	err := p.db.Update(p.Context(), p.shop.ID, func(tx *store.Tx) error {
		results, err := tx.MailsByKey(p.Context(), []string{key})
		is = results[key]
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	return is
}

func TestSMSWaitForTheMorningAndGoToThoseWhoAgree(t *testing.T) {
	t.Parallel()
	p, c := texting(t)
	p.at.Set(noon.Add(-4 * time.Hour)) // 8:00: e-mails are sent from now on
	p.pass(0)
	p.sends("ada: 1 upcoming_order, 2 upcoming_order", "bob: 3 upcoming_order")
	if len(c.tried) != 0 {
		t.Fatalf("SMS at 8:00: %+v", c.tried)
	}
	if is := p.ended(3); is != (notify.Result{Status: notify.Suppressed, Reason: notify.NoPhone}) {
		t.Errorf("Bob, who has not agreed: %+v", is)
	}
	p.pass(59 * time.Minute)
	p.pass(time.Minute)
	if len(c.tried) != 1 || c.tried[0].To != "+15550001234" || c.tried[0].Text != "text" || !c.tried[0].Since.IsZero() {
		t.Fatalf("at 9:00 %+v, want one SMS about both orders", c.tried)
	}
	for _, of := range []contract.ID{1, 2} {
		if is := p.ended(of); is.Status != notify.Sent {
			t.Errorf("contract %d: %+v", of, is)
		}
	}
	p.sends()
}

func TestSMSAreLookedUpAgainWhenTheyAreSent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		between func(p *post)
		want    notify.Result
		to      string
	}{
		"another number":           {func(p *post) { p.agree(ada, "+15550005678") }, notify.Result{Status: notify.Sent}, "+15550005678"},
		"a consent that was ended": {func(p *post) { p.agree(ada, "") }, notify.Result{Status: notify.Suppressed, Reason: notify.SMSEnded}, ""},
		"a kind that was switched off": {func(p *post) {
			p.shop.Settings.EnabledSMS = nil
			p.put()
		}, notify.Result{Status: notify.Suppressed, Reason: notify.SMSDisabled}, ""},
		"a provider that is gone": {func(p *post) { p.SMS = nil }, notify.Result{Status: notify.Suppressed, Reason: notify.SMSDisabled}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, c := texting(t)
			p.at.Set(noon.Add(-4 * time.Hour))
			p.pass(0)
			test.between(p)
			p.pass(time.Hour)
			if is := p.ended(1); is != test.want {
				t.Errorf("it is %+v, want %+v", is, test.want)
			}
			if test.to == "" && len(c.tried) != 0 || test.to != "" && (len(c.tried) != 1 || c.tried[0].To != test.to) {
				t.Errorf("sent %+v", c.tried)
			}
		})
	}
}

func TestStoreWithoutSMSQueuesNone(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*post){
		"of a kind":          func(p *post) { p.shop.Settings.EnabledSMS = []notify.Kind{notify.TransactionFailed} },
		"at all, by default": func(p *post) { p.shop.Settings.EnabledSMS = nil },
	} {
		p, _ := texting(t)
		change(p)
		p.put()
		p.pass(0)
		if is := p.ended(1); is.Status != "" {
			t.Errorf("a store that sends none %s: %+v", name, is)
		}
	}
}

func TestSMSWithoutAnAnswerIsTriedAgainAndLookedFor(t *testing.T) {
	t.Parallel()
	p, c := texting(t)
	c.failure = errors.New("timeout")
	p.pass(0)
	c.failure = nil
	p.pass(time.Minute)
	if len(c.tried) != 2 || !c.tried[0].Since.IsZero() || !c.tried[1].Since.Equal(noon) {
		t.Errorf("tried %+v", c.tried)
	}
	if is := p.ended(1); is.Status != notify.Sent {
		t.Errorf("it is %+v", is)
	}
}

func TestSMSOfAWorkerThatDiedIsLookedFor(t *testing.T) {
	t.Parallel()
	p, c := texting(t)
	ctx, kill := context.WithCancel(t.Context())
	c.during = func(notify.SMS) {
		kill()
		panic("killed")
	}
	func() {
		defer func() { _ = recover() }()
		_ = p.Work(ctx, p.shop.ID)
	}()
	c.during = nil
	p.pass(p.Policy.Lease)
	if len(c.tried) != 2 || c.tried[1].Since.IsZero() {
		t.Errorf("tried %+v", c.tried)
	}
}

func TestNumberThatAnsweredStopToTheProviderEndsTheConsent(t *testing.T) {
	t.Parallel()
	p, c := texting(t)
	c.failure = notify.ErrStopped
	p.pass(0)
	if is := p.ended(1); is != (notify.Result{Status: notify.Failed, Reason: notify.ErrStopped.Error()}) || len(c.tried) != 1 {
		t.Errorf("it is %+v after %d tries", is, len(c.tried))
	}
	if is, err := p.consents().Consent(t.Context(), p.shop.ID, ada.ID); err != nil || is.Holds() || is.EndedBy != optin.ByProvider {
		t.Errorf("the consent is %+v, %v", is, err)
	}
}

func TestReportOfSMSCountsOnce(t *testing.T) {
	t.Parallel()
	for name, early := range map[string]bool{"after the batch was settled": false, "while it is sent": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, c := texting(t)
			report := func(m notify.MessageID, provider string, d notify.Delivery) {
				t.Helper()
				if err := p.Reported(t.Context(), p.shop.ID, notify.Report{Message: m, ProviderID: provider, Delivery: d, Error: "error 30003"}); err != nil {
					t.Error(err)
				}
			}
			if early {
				c.during = func(s notify.SMS) { report(s.Message, fmt.Sprint("SM", s.Message), notify.Undelivered) }
			}
			p.pass(0)
			if len(c.tried) == 0 {
				t.Fatalf("nothing is sent: %+v", p.ended(1))
			}
			m := c.tried[0].Message
			if !early {
				report(m, "SM of another", notify.Undelivered)
				if is := p.ended(1); is.Status != notify.Sent {
					t.Errorf("after a report about another SMS: %+v", is)
				}
				report(m, fmt.Sprint("SM", m), notify.Undelivered)
			}
			report(m, fmt.Sprint("SM", m), notify.Delivered)
			report(m, fmt.Sprint("SM", m), notify.Undelivered)
			if is := p.ended(1); is != (notify.Result{Status: notify.Failed, Reason: "error 30003"}) {
				t.Errorf("it is %+v", is)
			}
			entries, _, err := p.db.Entries(t.Context(), p.shop.ID, nil, page.Request{Size: 100})
			failures := slices.DeleteFunc(entries, func(e activity.Entry) bool { return e.Status != activity.Failure })
			if err != nil || len(failures) != 1 || failures[0].Event != activity.SendUpcomingOrderEmail {
				t.Errorf("entries %+v, %v", failures, err)
			}
			for _, r := range []notify.Report{{Message: 1}, {Message: m + 10_000}} {
				if err := p.Reported(t.Context(), p.shop.ID, r); !fault.Is(err, fault.NotFound) {
					t.Errorf("a report about no SMS: %v", err)
				}
			}
			if err := p.Reported(t.Context(), p.shop.ID+1, notify.Report{Message: m}); !fault.Is(err, fault.NotFound) {
				t.Errorf("a report about another shop's: %v", err)
			}
		})
	}
}
