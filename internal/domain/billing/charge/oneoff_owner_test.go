package charge_test

import (
	"context"
	"errors"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
)

// The order carries the product: what is not found is not that.
func TestOneOffOfAnotherCustomerIsNotFound(t *testing.T) {
	t.Parallel()
	customer := func(id int64) activity.Actor {
		return activity.Actor{Source: activity.CustomerPortal, By: "customer", Customer: id}
	}
	type call func(s *command.Service, ctx context.Context, of shop.Shop, cmd command.OneOff) error
	for name, test := range map[string]struct {
		call call
		want int // quantity after the owner's own call
	}{
		"another quantity": {func(s *command.Service, ctx context.Context, of shop.Shop, cmd command.OneOff) error {
			_, err := s.UpdateOneOff(ctx, of, cmd)
			return err
		}, 5},
		"adding it":   {(*command.Service).AddOneOff, 5},
		"removing it": {(*command.Service).RemoveOneOff, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := wait(t)
			node := w.node(w.tea.Client).commands
			cmd := command.OneOff{Line: shop.Subscriptions, Contract: w.order.Contract, Attempt: w.order.ID, Variant: w.tea.Black, Quantity: 2, Actor: activity.System}
			must(t, node.AddOneOff(t.Context(), w.of, cmd))
			carries := func(when string, quantity, entries int) {
				t.Helper()
				var list []billing.OneOff
				must(t, w.db.Update(t.Context(), w.of.ID, func(tx *store.Tx) (err error) {
					list, err = tx.OneOffs(t.Context(), []contract.ID{w.order.Contract})
					return err
				}))
				got := 0
				for _, o := range list {
					got += o.Quantity
				}
				_, logged, err := w.db.Entries(t.Context(), w.of.ID, nil, page.Request{Size: 100})
				must(t, err)
				if got != quantity || logged != entries {
					t.Errorf("%s the order carries %d pieces and the log has %d entries, want %d and %d", when, got, logged, quantity, entries)
				}
			}
			carries("before", 2, 1)
			cmd.Quantity, cmd.Actor = 5, customer(owner+1)
			err := test.call(node, t.Context(), w.of, cmd)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.NotFound || f.ErrorKey != "billingAttemptNotFound" {
				t.Errorf("another customer got %v, want billingAttemptNotFound", err)
			}
			carries("after another customer's call", 2, 1)
			cmd.Actor = customer(owner)
			if err := test.call(node, t.Context(), w.of, cmd); err != nil {
				t.Errorf("the owner got %v", err)
			}
			carries("after the owner's call", test.want, 2)
		})
	}
}
