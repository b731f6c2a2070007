package sandbox

import (
	"context"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// command names the scene's contract to the service.
func (sc scene) command() amend.Command {
	return amend.Command{Line: sc.line, Contract: contract.ID(sc.made.Contract), Actor: activity.System}
}

// discounted returns the act of a merchant who gives a discount for some orders.
func discounted(d contractedit.Discount) func(scene, context.Context) error {
	d.Title, d.CycleLimit = "Welcome back", discountOrders
	return func(sc scene, ctx context.Context) error {
		_, err := sc.front.running().Edits.AddDiscount(ctx, sc.store.ID, sc.command(), d)
		return err
	}
}

// stepPrices makes the contract's price fall with its orders: 5 % off, and a fixed price after two cycles.
func (sc scene) stepPrices(ctx context.Context) error {
	steps := []contract.CyclePrice{{Kind: platform.PercentOff, Percent: 5}, {After: 2, Kind: platform.FixedPrice, Amount: *dollars(1349)}}
	variants, err := sc.variantsBySKU(demo.CoffeeGround)
	if err != nil {
		return err
	}
	_, err = sc.front.running().Edits.ChangeLine(ctx, sc.store.ID, sc.command(), contractedit.LineChange{OldVariant: variants[0].ID, Pricing: &steps, Base: dollars(1600)})
	return err
}

// addOneOff adds two one-time products to the next order.
func (sc scene) addOneOff(ctx context.Context) error {
	variants, err := sc.variantsBySKU(demo.ShavingCream)
	if err != nil {
		return err
	}
	return sc.front.running().Command.AddOneOff(ctx, sc.store, command.OneOff{
		Line: sc.line, Contract: contract.ID(sc.made.Contract), OrNext: true, Variant: variants[0].ID, Quantity: 2, Actor: activity.System,
	})
}

// pauseForAMonth pauses the contract until a date.
func (sc scene) pauseForAMonth(ctx context.Context) error {
	_, err := sc.front.running().Lifecycle.SetStatus(ctx, sc.store.ID, sc.command(), lifecycle.StatusChange{
		To: contract.Paused, Until: sc.clock.Now().AddDate(0, 1, 0), Reason: "On holiday",
	})
	return err
}
