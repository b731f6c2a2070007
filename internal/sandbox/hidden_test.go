package sandbox

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// To a subscriber another one's contract does not exist, whatever is asked of it, and
// the log has no trace of the question. Whose the contract is decides, and nothing that
// the caller says.
func TestContractOfAnotherSubscriberIsNotFound(t *testing.T) {
	t.Parallel()
	f := commit(t, `"billingPolicy":{"interval":"MONTH","intervalCount":1}`)
	ctx, a, of := t.Context(), f.front.running(), f.store.ID
	list, _, err := a.Store.AttemptsWhere(ctx, of, billing.Question{Line: shop.Subscriptions, Contract: f.id, Upcoming: true}, page.Request{Size: 1})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d attempts: %v", len(list), err)
	}
	first, owner := list[0], list[0].Of.Customer.ID
	const line = shop.Subscriptions
	asks := map[string]func(by activity.Actor) error{
		"looking at an order": func(by activity.Actor) error {
			_, err := billing.Shown(ctx, a.Store, of, line, first.ID, by)
			return err
		},
		"skipping": func(by activity.Actor) error {
			_, err := a.Command.Skip(ctx, of, command.Skip{Line: line, Attempt: first.ID, Contract: f.id, Actor: by})
			return err
		},
		"taking a skip back": func(by activity.Actor) error {
			_, err := a.Command.Unskip(ctx, of, command.Skip{Line: line, Attempt: first.ID, Actor: by})
			return err
		},
		"skipping the next order": func(by activity.Actor) error {
			_, err := a.Command.SkipNext(ctx, of, command.SkipNext{Line: line, Contract: f.id, Actor: by})
			return err
		},
		"moving an order": func(by activity.Actor) error {
			_, err := a.Command.Reschedule(ctx, of, command.Reschedule{Line: line, Attempt: first.ID, BillingDate: first.BillingDate.AddDate(0, 0, 1), Actor: by})
			return err
		},
		"moving the next order": func(by activity.Actor) error {
			_, err := a.Command.Reschedule(ctx, of, command.Reschedule{Line: line, Contract: f.id, BillingDate: first.BillingDate.AddDate(0, 0, 1), Actor: by})
			return err
		},
		"changing an order": func(by activity.Actor) error {
			_, err := a.Command.Edit(ctx, of, command.Edit{Line: line, Attempt: first.ID, Note: new("mine"), Actor: by})
			return err
		},
		"a note of an order": func(by activity.Actor) error {
			_, err := a.Command.SetNote(ctx, of, command.Note{Line: line, Attempt: first.ID, Note: "mine", Actor: by})
			return err
		},
		"ordering now": func(by activity.Actor) error {
			return a.Command.Trigger(ctx, of, command.Trigger{Line: line, Attempt: first.ID, Actor: by})
		},
		"a product for one order": func(by activity.Actor) error {
			return a.Command.AddOneOff(ctx, f.store, command.OneOff{Line: line, Contract: f.id, Attempt: first.ID, Variant: 4002, Quantity: 1, Actor: by})
		},
		"a note of the contract": func(by activity.Actor) error {
			_, err := a.Edits.SetNote(ctx, of, amend.Command{Line: line, Contract: f.id, Actor: by}, "mine")
			return err
		},
		"cancelling": func(by activity.Actor) error {
			_, err := a.Lifecycle.SetStatus(ctx, of, amend.Command{Line: line, Contract: f.id, Actor: by}, lifecycle.StatusChange{To: contract.Cancelled})
			return err
		},
		"a price": func(by activity.Actor) error {
			_, err := a.Edits.VariantPrice(ctx, of, amend.Command{Line: line, Contract: f.id, Actor: by}, 4002)
			return err
		},
		"leaving": func(by activity.Actor) error {
			_, err := a.Retention.Record(ctx, of, retention.Command{Line: line, Contract: f.id, Details: retention.Details{Action: "KEPT"}, Actor: by})
			return err
		},
	}
	other := activity.Actor{Source: activity.CustomerPortal, By: "customer", Customer: owner + 1}
	for name, ask := range asks {
		if err := ask(other); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v, want that there is no such thing", name, err)
		}
	}
	f.wantEntries(wasMade)
	own := other
	own.Customer = owner
	cancel := asks["cancelling"] // last, for it leaves no orders to ask about
	delete(asks, "cancelling")
	for name, ask := range asks {
		if err := ask(own); fault.Is(err, fault.NotFound) {
			t.Errorf("%s of one's own: %v", name, err)
		}
	}
	if err := cancel(own); err != nil {
		t.Errorf("cancelling one's own: %v", err)
	}
}
