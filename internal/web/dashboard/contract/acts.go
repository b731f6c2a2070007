package contract

import (
	"context"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// orderActions are about single orders.
var orderActions = []action{
	{
		name: "skip", of: anOrder, title: "Skip order", button: "Skip the order", keep: "Keep the order", done: "The order was skipped.",
		says: func(t target) []string {
			return []string{"The order of " + t.v.Day(t.order.BillingDate) + ", " + dashboard.Money(t.order.Cost()) + ", is not charged. The one after it comes on its date. The skip can be undone until that day."}
		},
		do: func(ctx context.Context, c change) error {
			_, err := c.m.Orders.Skip(ctx, c.v.Shop.ID, c.skip())
			return err
		},
	},
	{
		name: "unskip", of: anOrder, title: "Undo skip", button: "Plan the order", keep: "Leave it skipped", done: "The order is planned again.",
		says: func(t target) []string {
			return []string{"The order of " + t.v.Day(t.order.BillingDate) + " is charged on its date after all: " + dashboard.Money(t.order.Cost()) + " as of today."}
		},
		do: func(ctx context.Context, c change) error {
			_, err := c.m.Orders.Unskip(ctx, c.v.Shop.ID, c.skip())
			return err
		},
	},
	{
		name: "move", of: anOrder, title: "Move order", button: "Move the order", keep: "Keep the date", done: "The order was moved.", do: doMove,
		says: func(t target) []string {
			return []string{"The order of " + t.v.Day(t.order.BillingDate) + ", " + dashboard.Money(t.order.Cost()) + ", is charged on another day, at the store’s order time. Later orders keep their dates."}
		},
		fields: func(t target) []dashboard.Field {
			return []dashboard.Field{{
				Name: "date", Label: "New day", Type: "date", Required: true, Value: t.order.BillingDate.In(t.v.Zone).Format(time.DateOnly), Min: t.m.Clock.Now().In(t.v.Zone).Format(time.DateOnly),
			}}
		},
	},
	{
		name: "charge", of: anOrder, title: "Charge order", button: "Charge the order", keep: "Do not charge it", done: "The order is being charged. The result shows here in a moment.",
		says: func(t target) []string {
			says := []string{"The order of " + t.v.Day(t.order.BillingDate) + ", " + dashboard.Money(t.order.Cost()) + " before taxes, is charged to the customer’s payment method, now."}
			if t.order.Status == billing.Failure {
				says = append(says, "It was declined before. If it is declined again, the plan of retries goes on.")
			}
			return says
		},
		do: func(ctx context.Context, c change) error {
			return c.m.Orders.Trigger(ctx, c.v.Shop.ID, command.Trigger{Line: c.c.Line, Attempt: c.order.ID, Actor: c.cmd.Actor, Declined: c.order.Status == billing.Failure})
		},
	},
	{
		name: "add-one-time", title: "Add one-time product", button: "Add the product", keep: "Add nothing", done: "The product was added to the next order.", do: doAddOneOff, then: thenOneOff,
		says: func(t target) []string {
			if t.next == nil {
				return []string{"No order is planned that could carry a product."}
			}
			return []string{"The order of " + t.v.Day(t.next.BillingDate) + " carries the product once, at the catalogue’s price unless you set one. It is charged with the order."}
		},
		fields: func(t target) []dashboard.Field {
			return []dashboard.Field{
				variantField, quantityField(1),
				{Name: "price", Label: "Price of one", Max: 12, Hint: "In " + string(t.c.Currency) + ". Leave empty for the catalogue’s price."},
			}
		},
	},
	{
		name: "remove-one-time", of: aOneOff, title: "Remove one-time product", button: "Remove the product", keep: "Keep the product", done: "The product was removed from the order.",
		says: func(t target) []string {
			says := t.oneOff.Line().Title + " is taken out of its order again."
			if t.order != nil {
				says = t.oneOff.Line().Title + " is taken out of the order of " + t.v.Day(t.order.BillingDate) + ", which costs " +
					dashboard.Money(t.order.Carrying(billing.OneOff{Variant: t.oneOff.Variant}, nil).Cost()) + " before taxes then, and " + dashboard.Money(t.order.Cost()) + " now."
			}
			return []string{says}
		},
		do: func(ctx context.Context, c change) error {
			cmd := command.OneOff{Line: c.c.Line, Contract: c.c.ID, Variant: c.oneOff.Variant.ID, Quantity: 1, Actor: c.cmd.Actor}
			if c.order != nil {
				cmd.Attempt = c.order.ID
			}
			return c.m.Orders.RemoveOneOff(ctx, c.v.Shop, cmd)
		},
	},
}

func (c change) skip() command.Skip {
	return command.Skip{Line: c.c.Line, Attempt: c.order.ID, Contract: c.c.ID, Actor: c.cmd.Actor}
}

func doMove(ctx context.Context, c change) error {
	day, err := c.day("date", c.form.Get("date"))
	if err != nil {
		return err
	}
	now := c.m.Clock.Now()
	if now.In(c.v.Zone).Format(time.DateOnly) == c.form.Get("date") {
		day = now // later today
	}
	_, err = c.m.Orders.Edit(ctx, c.v.Shop.ID, command.Edit{Line: c.c.Line, Attempt: c.order.ID, BillingDate: &day, Actor: c.cmd.Actor})
	return err
}

func doAddOneOff(ctx context.Context, c change) error {
	cmd, err := c.oneTime()
	if err != nil {
		return err
	}
	return c.m.Orders.AddOneOff(ctx, c.v.Shop, cmd)
}

// thenOneOff is the next order with a one-time product.
func thenOneOff(ctx context.Context, c change) (before, after billing.Record, counted bool, err error) {
	if strings.TrimSpace(c.form.Get("variant")) == "" {
		return before, after, false, nil
	}
	cmd, err := c.oneTime()
	if err != nil {
		return before, after, false, err
	}
	after, err = c.m.Orders.PreviewOneOff(ctx, c.v.Shop, *c.next, cmd)
	return *c.next, after, true, err
}

// oneTime reads the one-time product that a form names, for the next order.
func (c change) oneTime() (command.OneOff, error) {
	variant, err := c.variant()
	if err != nil {
		return command.OneOff{}, err
	}
	quantity, err := c.whole("quantity")
	if err != nil {
		return command.OneOff{}, err
	}
	price, err := c.price("price")
	if err != nil {
		return command.OneOff{}, err
	}
	cmd := command.OneOff{Line: c.c.Line, Contract: c.c.ID, OrNext: true, Variant: variant, Quantity: *quantity, Price: price, Actor: c.cmd.Actor}
	if c.next != nil {
		cmd.Attempt = c.next.ID
	}
	return cmd, nil
}
