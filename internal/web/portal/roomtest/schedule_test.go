package roomtest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/home"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
	"github.com/perennialhq/perennial/internal/web/portal/schedule"
	"github.com/perennialhq/perennial/internal/web/portal/subscription"
)

// scheduleChanges notes what was asked for.
type scheduleChanges struct {
	subscription.Changes

	frequencies int // that are offered
	asked       []string
	err         error
}

func (c *scheduleChanges) note(format string, args ...any) error {
	c.asked = append(c.asked, fmt.Sprintf(format, args...))
	return c.err
}

func dayOrOpen(t time.Time) string {
	if t.IsZero() {
		return "open"
	}
	return t.Format("2006-01-02 15:04Z")
}

func (c *scheduleChanges) Pause(_ context.Context, _ do.Caller, ref do.ContractRef, w do.PauseParams) (contract.Detail, error) {
	return contract.Detail{}, c.note("pause %d until %s", ref.ID, dayOrOpen(w.Until))
}

func (c *scheduleChanges) Reschedule(_ context.Context, _ do.Caller, ref do.OrderRef, date time.Time, future bool) (billing.Record, error) {
	return billing.Record{}, c.note("move of %d to %s, later ones too: %t", ref.Contract, dayOrOpen(date), future)
}

func (c *scheduleChanges) Restart(_ context.Context, _ do.Caller, ref do.ContractRef, first time.Time, key string) (contract.Detail, error) {
	if key == "" {
		return contract.Detail{}, c.note("restart without a key")
	}
	return contract.Detail{Contract: contract.Contract{ID: ref.ID}}, c.note("restart %d on %s", ref.ID, dayOrOpen(first))
}

func (c *scheduleChanges) Frequencies(context.Context, do.Caller, contract.ID) ([]do.Frequency, error) {
	option := func(id int64, name string, every contract.Policy, price int64, current bool) do.Frequency {
		return do.Frequency{Option: plan.Option{ID: id, Name: name}, Current: current, Then: contract.Contract{Billing: every, Delivery: every}, Price: portaltest.USD(price)}
	}
	return []do.Frequency{
		option(11, "Fortnightly", contract.Policy{Interval: cadence.Week, Count: 2}, 2450, true),
		option(12, "On the first", contract.Policy{Interval: cadence.Month, Count: 1, Anchors: []cadence.Anchor{{Kind: cadence.MonthDay, Day: 1}}}, 2300, false),
	}[:c.frequencies], nil
}

func (c *scheduleChanges) SetFrequency(_ context.Context, _ do.Caller, ref do.ContractRef, sellingPlan int64) (contract.Detail, error) {
	return contract.Detail{}, c.note("plan %d for %d", sellingPlan, ref.ID)
}

// openSchedule opens a store with a contract of Maya's, as change makes it, and signs her in.
func openSchedule(t *testing.T, c *scheduleChanges, change func(*contract.Contract)) *portaltest.Site {
	t.Helper()
	return openRooms(t, change, func(s *portaltest.Site) []portal.Room {
		return []portal.Room{home.New(home.Options{Homes: s.Overview}), subscription.New(subscription.Options{Sheets: s.Overview, Changes: c}), schedule.New(schedule.Options{Sheets: s.Overview, Changes: c})}
	})
}

func (c *scheduleChanges) want(t *testing.T, asked ...string) {
	t.Helper()
	if got, want := strings.Join(c.asked, "\n"), strings.Join(asked, "\n"); got != want {
		t.Errorf("asked for\n%s\nwant\n%s", got, want)
	}
}

func TestContractIsPausedAsLongAsChosen(t *testing.T) {
	t.Parallel()
	c := &scheduleChanges{}
	s := openSchedule(t, c, nil)
	const path = "/s/1/pause"
	p := s.Get(portaltest.At + path)
	s.Want(p, http.StatusOK, "Pause House Blend Coffee and Earl Grey Loose Leaf?", "Your next order is planned for Wednesday, March 3, for $24.50.", "For 1 month, until Friday, March 26", "Until I restart it")
	s.Want(s.Send(p, path, "long", "2"), http.StatusOK, "Your subscription is paused.")
	s.Want(s.Send(s.Get(portaltest.At+path), path, "long", "open"), http.StatusOK)
	s.Want(s.Send(s.Get(portaltest.At+path), path, "long", "day", "pauseTillDate", "2027-04-15"), http.StatusOK)
	s.Want(s.Send(p, path, "long", "day", "pauseTillDate", "2027-02-26"), http.StatusUnprocessableEntity, "Choose a day after today.", `id="e-pauseTillDate"`, `value="day" checked`)
	s.Want(s.Send(p, path, "long", "4"), http.StatusUnprocessableEntity, "Choose one of these.", `id="e-long"`)
	c.want(t, "pause 1 until 2027-04-26 16:00Z", "pause 1 until open", "pause 1 until 2027-04-15 16:00Z")
}

// allowPauses sets how long a pause may last.
func allowPauses(s *portaltest.Site, days int) {
	s.Helper()
	if err := s.DB.Update(s.Context(), s.First.ID, func(tx *store.Tx) error {
		return tx.PutPortalSettings(s.Context(), &do.Settings{PauseMaxDays: days})
	}); err != nil {
		s.Fatal(err)
	}
}

func TestOnlyPausesOfPermittedLengthAreOffered(t *testing.T) {
	t.Parallel()
	c := &scheduleChanges{err: fault.New(fault.Invalid, "too long").Code("pauseTooLong").Field("pauseTillDate")}
	s := openSchedule(t, c, nil)
	allowPauses(s, 40)
	const path = "/s/1/pause"
	p := s.Get(portaltest.At + path)
	s.Want(p, http.StatusOK, "For 1 month", `max="2027-04-07"`)
	for _, not := range []string{"For 2 months", "Until I restart it"} {
		if strings.Contains(p.Text, not) {
			t.Errorf("the page offers %q", not)
		}
	}
	s.Want(s.Send(p, path, "long", "day", "pauseTillDate", "2027-05-01"), http.StatusUnprocessableEntity, "Choose an earlier day.", `id="e-pauseTillDate"`, `value="2027-05-01"`)
}

func TestOrderIsMovedToChosenDay(t *testing.T) {
	t.Parallel()
	c := &scheduleChanges{}
	s := openSchedule(t, c, nil)
	p := s.Get(portaltest.At + "/s/1")
	_, rest, _ := strings.Cut(p.Text, "/s/1/reschedule?order=")
	number, _, _ := strings.Cut(rest, `"`)
	path := "/s/1/reschedule?order=" + number
	p = s.Get(portaltest.At + path)
	s.Want(p, http.StatusOK, "Move the order on Wednesday, March 3", "Visa ending in 4242 will be charged $24.50 on the day that you choose.", "1 week later: Wednesday, March 10", "You can choose a day from Saturday, February 27 to Saturday, February 26, 2028.")
	if strings.Contains(p.Text, "earlier") {
		t.Error("a day that has passed is offered")
	}
	s.Want(s.Send(p, path, "to", "2027-03-10", "scope", "this"), http.StatusOK, "The order is moved.")
	s.Want(s.Send(s.Get(portaltest.At+path), path, "to", "other", "billingDate", "2027-03-05", "scope", "future"), http.StatusOK)
	s.Want(s.Send(p, path, "to", "other", "billingDate", "soon"), http.StatusUnprocessableEntity, "Choose a day after today.", `id="e-billingDate"`)
	c.want(t, "move of 1 to 2027-03-10 17:00Z, later ones too: false", "move of 1 to 2027-03-05 17:00Z, later ones too: true")
	for _, order := range []string{"", "x", "999"} {
		s.Want(s.Get(portaltest.At+"/s/1/reschedule?order="+order), http.StatusNotFound)
	}

	after := portaltest.At + "/s/1?done=moved&of=" + number + "&scope=future&was="
	p = s.Get(after + "2027-03-10")
	s.Want(p, http.StatusOK, "Move it back to Wednesday, March 10")
	s.Want(s.Send(p, "/s/1/reschedule/undo?order="+number+"&scope=future&to=2027-03-10"), http.StatusOK, "The order is back on its day.")
	c.want(t, "move of 1 to 2027-03-10 17:00Z, later ones too: false", "move of 1 to 2027-03-05 17:00Z, later ones too: true", "move of 1 to 2027-03-10 17:00Z, later ones too: true")
	for _, day := range []string{"2027-03-03", "2027-02-26", "2029-01-01", "soon"} { // its day, a past one, one too far away, and none
		if p := s.Get(after + day); strings.Contains(p.Text, "Move it back") {
			t.Errorf("it is offered to move the order back to %s", day)
		}
	}
	c.err = fault.New(fault.Conflict, "changed").Code("changedMeanwhile")
	s.Want(s.Send(s.Get(portaltest.At+path), path, "to", "2027-03-10"), http.StatusConflict, "changed while you were here")
}

func TestEndedSubscriptionStartsAgain(t *testing.T) {
	t.Parallel()
	c := &scheduleChanges{}
	s := openSchedule(t, c, func(is *contract.Contract) {
		is.Status, is.NextBillingDate = contract.Cancelled, time.Time{}
		is.Discounts = []contract.Discount{{ID: "gid://shopify/SubscriptionManualDiscount/1", Title: "Half", Percent: 50, AllLines: true}}
	})
	const path = "/s/1/restart"
	p := s.Get(portaltest.At + path)
	s.Want(p, http.StatusOK, "Start House Blend Coffee and Earl Grey Loose Leaf again?", "Visa ending in 4242 will be charged $24.50 on the day that you choose, and then every 2 weeks.", "Discounts of the old subscription don’t come along.", `min="2027-02-27"`,
		"<h3>House Blend Coffee</h3>", "<h3>Earl Grey Loose Leaf</h3>", "$14.08", "<dt>Total before taxes</dt><dd>$24.50</dd>")
	s.Want(s.Send(p, path, "nextBillingDate", "2027-02-26"), http.StatusUnprocessableEntity, "Choose a day after today.")
	s.Want(s.Send(p, path, "nextBillingDate", "2027-03-01"), http.StatusOK, "Your new subscription has begun.")
	c.want(t, "restart 1 on 2027-03-01 17:00Z")
	s.Want(s.Get(portaltest.At+"/s/1/pause"), http.StatusOK, "Cancelled")
}

func TestFrequencySaysWhenAndHowMuch(t *testing.T) {
	t.Parallel()
	c := &scheduleChanges{frequencies: 2}
	s := openSchedule(t, c, nil)
	const path = "/s/1/frequency"
	p := s.Get(portaltest.At + path)
	s.Want(p, http.StatusOK, "Fortnightly", "An order every 2 weeks. Next orders: Mar 3, Mar 17, and Mar 31", "$24.50", "On the first", "An order every month. Next orders: Apr 1, May 1, and Jun 1", "$23.00")
	s.Want(s.Send(p, path), http.StatusUnprocessableEntity, "Choose one of these.")
	s.Want(s.Send(p, path, "sellingPlanId", "12"), http.StatusOK, "How often your orders come is changed.")
	c.want(t, "plan 12 for 1")
	c.err = fault.New(fault.Conflict, "changed").Code("changedMeanwhile")
	s.Want(s.Send(s.Get(portaltest.At+path), path, "sellingPlanId", "12"), http.StatusConflict, "This subscription changed while you were here.")

	c.frequencies = 1
	s.Want(s.Get(portaltest.At+path), http.StatusOK, "The store offers no other frequency for it.")
}

func TestSubscriptionWithoutPaymentMethodDoesNotStartAgain(t *testing.T) {
	t.Parallel()
	c := &scheduleChanges{}
	s := openSchedule(t, c, func(c *contract.Contract) { c.Status = contract.Cancelled })
	const path = "/s/1/restart"
	before := s.Get(portaltest.At + path)
	is := portaltest.Subscription(1)
	is.Status, is.PaymentUsable, is.Version = contract.Cancelled, false, 1
	s.Put(s.First, []contract.Contract{is})
	p := s.Get(portaltest.At + path)
	s.Want(p, http.StatusOK, "There is no payment method that can be charged.", "Go to the store", `href="https://first.myshopify.com/"`)
	if strings.Contains(p.Text, "<form class=\"stack\"") {
		t.Error("the page has a form that starts the subscription again")
	}
	s.Want(s.Send(before, path, "nextBillingDate", "2027-03-01"), http.StatusOK, "There is no payment method that can be charged.")
	c.want(t)
}
