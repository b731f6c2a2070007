package notify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
)

// suppresses checks which addresses get no e-mails.
func (p *post) suppresses(want ...string) []notify.Suppression {
	p.Helper()
	list, err := p.db.Suppressions(p.Context(), p.shop.ID, 10)
	var got []string
	for _, s := range list {
		got = append(got, s.Hint+" "+string(s.Reason)+" by "+s.Source)
	}
	if err != nil || strings.Join(got, ", ") != strings.Join(want, ", ") {
		p.Errorf("suppressed are %q, %v, want %q", got, err, want)
	}
	return list
}

func TestAddressWithoutMailboxGetsNoFurtherEMail(t *testing.T) {
	t.Parallel()
	p := begun(t, far, monthly, nil)
	p.server.failure = fmt.Errorf("%w: %w: 550 5.1.1", notify.ErrRejected, notify.ErrNoMailbox)
	p.record(activity.Entry{EntityID: 3, Event: activity.ContractCancelled})
	p.pass(0)
	list := p.suppresses("b…@shopper.example HARD_BOUNCE by mail server")
	p.server.failure = nil
	p.record(activity.Entry{EntityID: 3, Event: activity.ContractPaused}, activity.Entry{EntityID: 1, Event: activity.ContractPaused})
	p.pass(time.Hour)
	p.sends("ada: 1 paused")
	gone, err := p.db.SuppressedAddresses(t.Context(), p.shop.ID, []string{"BOB@shopper.example", ada.Email})
	if err != nil || !gone["BOB@shopper.example"] || gone[ada.Email] {
		t.Errorf("gone are %v, %v", gone, err)
	}
	if err := p.Lift(t.Context(), p.shop.ID, list[0].Hash, activity.Operator); err != nil {
		t.Fatal(err)
	}
	p.suppresses()
	p.record(activity.Entry{EntityID: 3, Event: activity.ContractActivated})
	p.pass(time.Hour)
	p.sends("bob: 3 resumed")
}

func TestOtherRefusalsSayNothingAboutAddress(t *testing.T) {
	t.Parallel()
	p := begun(t, far, monthly, nil)
	p.server.failure = fmt.Errorf("%w: 554 5.7.1 looks like spam", notify.ErrRejected)
	p.record(activity.Entry{EntityID: 3, Event: activity.ContractCancelled})
	p.pass(0)
	p.suppresses()
}

func TestReturnedEMail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*notify.Return)
		want   []string // suppressions
		failed bool     // the message
		kind   fault.Kind
		next   []string // what is sent then
	}{
		"came back":                       {want: []string{"b…@shopper.example HARD_BOUNCE by Mailgun"}, failed: true},
		"was reported as spam":            {change: func(r *notify.Return) { r.Reason = notify.Complaint }, want: []string{"b…@shopper.example COMPLAINT by Mailgun"}},
		"was not delivered":               {change: func(r *notify.Return) { r.Reason = "" }, failed: true, next: []string{"bob: 3 paused"}},
		"went to the address, upper case": {change: func(r *notify.Return) { r.To = "BOB@Shopper.example" }, want: []string{"B…@Shopper.example HARD_BOUNCE by Mailgun"}, failed: true},
		"went to another address":         {change: func(r *notify.Return) { r.To = ada.Email }, kind: fault.NotFound, next: []string{"bob: 3 paused"}},
		"is not ours":                     {change: func(r *notify.Return) { r.MailID = "0011" }, kind: fault.NotFound, next: []string{"bob: 3 paused"}},
		"has no id":                       {change: func(r *notify.Return) { r.MailID = "" }, kind: fault.NotFound, next: []string{"bob: 3 paused"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := begun(t, far, monthly, nil)
			p.record(activity.Entry{EntityID: 3, Event: activity.ContractCancelled})
			p.pass(0)
			is := notify.Return{MailID: p.server.taken[0].ID, To: bob.Email, Reason: notify.HardBounce, Text: "no such user\r\nX: y", Source: "Mailgun"}
			p.sends("bob: 3 canceled")
			if test.change != nil {
				test.change(&is)
			}
			for range 2 {
				if err := p.Returned(t.Context(), is); (test.kind == 0) != (err == nil) || err != nil && !fault.Is(err, test.kind) {
					t.Fatalf("returned: %v", err)
				}
			}
			p.suppresses(test.want...)
			if got := p.failures(); (got == 1) != test.failed || got > 1 {
				t.Errorf("%d failures are in the log", got)
			}
			p.record(activity.Entry{EntityID: 3, Event: activity.ContractPaused})
			p.pass(time.Hour)
			p.sends(test.next...)
		})
	}
}

// failures counts the entries about messages that failed.
func (p *post) failures() (n int) {
	p.Helper()
	list, _, err := p.db.Entries(p.Context(), p.shop.ID, nil, page.Request{Size: 100})
	if err != nil {
		p.Fatal(err)
	}
	for _, e := range list {
		if e.Status == activity.Failure && strings.HasPrefix(string(e.Event), "SEND_") {
			n++
			if strings.ContainsAny(e.Info, "\r\n") {
				p.Errorf("the entry says %q", e.Info)
			}
		}
	}
	return n
}

func TestComplaintStays(t *testing.T) {
	t.Parallel()
	p := begun(t, far, monthly, nil)
	p.record(activity.Entry{EntityID: 3, Event: activity.ContractCancelled})
	p.pass(0)
	is := notify.Return{MailID: p.server.taken[0].ID, To: bob.Email, Reason: notify.HardBounce, Source: "Mailgun"}
	for _, reason := range []notify.SuppressionReason{notify.HardBounce, notify.Complaint, notify.HardBounce} {
		is.Reason = reason
		if err := p.Returned(t.Context(), is); err != nil {
			t.Fatal(err)
		}
	}
	list := p.suppresses("b…@shopper.example COMPLAINT by Mailgun")
	if err := p.Lift(t.Context(), p.shop.ID, list[0].Hash, activity.Operator); !fault.Is(err, fault.Conflict) {
		t.Errorf("it was lifted: %v", err)
	}
	if err := p.Lift(t.Context(), p.shop.ID, "nothing", activity.Operator); !fault.Is(err, fault.Conflict) {
		t.Errorf("an address that is not suppressed was lifted: %v", err)
	}
}

func TestMessageIsSentAgain(t *testing.T) {
	t.Parallel()
	p := begun(t, far, monthly, nil)
	list := func(f notify.Filter, want ...string) (ids []notify.MessageID) {
		t.Helper()
		messages, err := p.db.MessageList(t.Context(), p.shop.ID, f, 10)
		var got []string
		for _, m := range messages {
			got, ids = append(got, fmt.Sprintf("%s %s", m.Kind, m.Status)), append(ids, m.ID)
		}
		if err != nil || strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%+v lists %q, %v, want %q", f, got, err, want)
		}
		return ids
	}
	p.server.failure = fmt.Errorf("%w: 554 5.7.1 looks like spam", notify.ErrRejected)
	p.record(activity.Entry{EntityID: 3, Event: activity.ContractCancelled})
	p.pass(0)
	p.server.failure = nil
	failed := list(notify.Filter{Show: notify.ShowFailed}, "canceled FAILED")[0]
	for _, f := range []notify.Filter{{Show: notify.ShowWaiting}, {To: ada.Email}, {Contract: 1}, {Before: failed}} {
		list(f)
	}
	again, err := p.Resend(t.Context(), p.shop.ID, failed, activity.Operator)
	if err != nil || again.ID == failed || again.Status != notify.Queued || again.To != bob.Email {
		t.Fatalf("sent again as %+v, %v", again, err)
	}
	list(notify.Filter{Show: notify.ShowWaiting, To: bob.Email, Contract: 3}, "canceled QUEUED")
	p.pass(0)
	p.sends("bob: 3 canceled")
	sent := list(notify.Filter{}, "canceled SENT", "canceled FAILED")[0]
	if _, err := p.Resend(t.Context(), p.shop.ID, sent, activity.Operator); !fault.Is(err, fault.FailedPrecondition) {
		t.Errorf("one that was sent is sent again: %v", err)
	}
	if _, err := p.Resend(t.Context(), p.shop.ID, 12345, activity.Operator); !fault.Is(err, fault.NotFound) {
		t.Errorf("one that is not there is sent again: %v", err)
	}
}
