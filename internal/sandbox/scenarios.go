package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard/simulate"
)

// scenario is what a new customer does, and how far time moves to show what becomes of it.
type scenario struct {
	simulate.Scenario

	billing, delivery simulator.PolicySpec // zero: every month
	declines          int                  // charges that are declined for lack of funds, from the first renewal on
	membership        bool                 // the customer joins the club of the demo stores

	needs  func(scene, context.Context) error                // refuses a store that lacks something; nil: it needs nothing
	option func(scene, context.Context) (plan.Option, error) // that the customer buys; nil: none
	act    func(scene, context.Context) error                // what the customer does next; nil: nothing
	until  func(scene, context.Context) (time.Time, error)   // where time moves
}

// scene is the store in which a scenario is played.
type scene struct {
	*Sandbox

	store shop.Shop
	line  shop.Line      // of a contract that is changed as its merchant would
	first time.Time      // renewal
	made  simulator.Made // contract and customer
}

// trialGroup is the group of plans of the scenario with a trial, and trialDays how long that is.
const (
	trialGroup = "Free trial"
	trialDays  = 14
)

// scenarios lists what can be played, in the order of the dashboard.
func scenarios() []scenario {
	after := func(years, months, days int) func(scene, context.Context) (time.Time, error) {
		return func(sc scene, _ context.Context) (time.Time, error) {
			return sc.clock.Now().AddDate(years, months, days), nil
		}
	}
	monthly := simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}
	committed := monthly
	committed.MinCycles = 3
	return []scenario{
		{
			Scenario: simulate.Scenario{Name: "renewal-year", Title: "Renewal year", About: "A customer subscribes, and each monthly renewal is paid. Time moves by a year and a day."},
			until:    after(1, 0, 1),
		},
		{
			Scenario: simulate.Scenario{Name: "dunning-recovery", Title: "Dunning to recovery", About: "A customer's first renewal is declined for lack of funds, and the first retry is paid. Time moves past that retry, by about 5 weeks unless the store's settings say otherwise."},
			declines: 1, needs: scene.retries, until: func(sc scene, _ context.Context) (time.Time, error) {
				return sc.outlook().Retries[0].AddDate(0, 0, 1), nil
			},
		},
		{
			Scenario: simulate.Scenario{Name: "dunning-pause", Title: "Dunning to pause", About: "A customer's first renewal and all its retries are declined, and the subscription is paused. The store must be set to pause after the last retry. Time moves past it, by about 7 weeks unless the store's settings say otherwise."},
			declines: 2 * dunning.MaxRetries, needs: scene.pausesAtLast, until: func(sc scene, _ context.Context) (time.Time, error) { return sc.outlook().End.AddDate(0, 0, 1), nil },
		},
		{
			Scenario: simulate.Scenario{Name: "trial-to-paid", Title: "Trial to paid", About: "A customer subscribes with a free trial of 14 days, on a group of plans that is made for it, and pays when the trial ends. Time moves by 16 days."},
			option:   scene.trial, until: after(0, 0, trialDays+2),
		},
		{
			Scenario: simulate.Scenario{Name: "prepaid-year", Title: "Prepaid year", About: "A customer has paid for 12 monthly deliveries, gets them, and pays for the next 12. Time moves by a year and 2 days."},
			billing:  simulator.PolicySpec{Interval: "YEAR", IntervalCount: 1}, delivery: monthly, until: after(1, 0, 2),
		},
		{
			Scenario: simulate.Scenario{Name: "min-cycle-freeze", Title: "Min-cycle freeze", About: "A member who is committed to 3 orders cancels after the first. The other orders are made all the same, and then the membership ends. Time moves by 3 months."},
			billing:  committed, membership: true, act: scene.cancel, until: after(0, 3, 0),
		},
		{
			Scenario: simulate.Scenario{Name: "points-expiry", Title: "Points expiry", About: "A customer gets 100 points and does not spend them. Time moves past the day on which they expire: 2 years, as the demo stores' programmes are."},
			needs:    scene.pointsExpire, act: scene.earn, until: scene.expiry,
		},
	}
}

// scenarioOf returns a scenario by its name.
func scenarioOf(name string) (scenario, error) {
	list := scenarios()
	at := slices.IndexFunc(list, func(s scenario) bool { return s.Name == name })
	if at < 0 {
		return scenario{}, fault.New(fault.NotFound, "there is no scenario %q: GET /scenarios lists them", name)
	}
	return list[at], nil
}

// stage does what a scenario begins with and returns the contract and where time moves.
func (s *Sandbox) stage(ctx context.Context, domain string, one scenario) (contract int64, to time.Time, err error) {
	sc := scene{Sandbox: s, first: s.clock.Now()}
	if sc.store, err = s.front.running().Store.Shops().ShopByDomain(ctx, domain); err != nil {
		return 0, to, err
	}
	if one.needs != nil {
		if err := one.needs(sc, ctx); err != nil {
			return 0, to, err
		}
	}
	spec, err := sc.checkout(ctx, one)
	if err != nil {
		return 0, to, err
	}
	sc.first = spec.NextBillingDate
	sc.made, err = s.sim.Checkout(spec)
	for range one.declines {
		if err == nil {
			err = s.sim.Outcome(simulator.Outcome{Contract: sc.made.Contract, Code: "INSUFFICIENT_FUNDS"})
		}
	}
	if err == nil {
		err = s.steps.Settle(ctx)
	}
	if err == nil && one.act != nil {
		err = one.act(sc, ctx)
	}
	if err != nil {
		return 0, to, err
	}
	to, err = one.until(sc, ctx)
	return sc.made.Contract, to, err
}

// checkout returns what the customer of a scenario buys: the first product that the store sells
// on plans.
func (sc scene) checkout(ctx context.Context, one scenario) (simulator.ContractSpec, error) {
	var spec simulator.ContractSpec
	variants, err := sc.sim.Variants(sc.store.Domain)
	if err != nil {
		return spec, err
	}
	at := slices.IndexFunc(variants, func(v simulator.Variant) bool { return demo.PlansFor(v)[0].Membership == one.membership })
	if at < 0 {
		return spec, fault.New(fault.FailedPrecondition, "the store has no product that the demo stores sell like this")
	}
	terms, _ := demo.PlanByID(demo.EveryMonth)
	if one.billing.Interval != "" {
		terms.Billing, terms.Delivery = one.billing, one.delivery
	}
	line := simulator.LineSpec{VariantID: variants[at].ID, Quantity: 1}
	if one.membership {
		line.SellingPlanID = demo.MembershipPlans()[0]
	}
	if one.option != nil {
		option, err := one.option(sc, ctx)
		if err != nil {
			return spec, err
		}
		line.SellingPlanID, line.SellingPlanName = option.ID, option.Name
	}
	store := demo.Store{TimeZone: sc.store.TimeZone, Hour: sc.store.OrderHour, Minute: sc.store.OrderMinute}
	now := sc.clock.Now()
	return simulator.ContractSpec{
		Shop: sc.store.Domain, NextBillingDate: store.FirstRenewal(terms, now), Billing: terms.Billing, Delivery: terms.Delivery, Lines: []simulator.LineSpec{line},
		Customer: simulator.CustomerSpec{Email: fmt.Sprintf("%s.%d@shopper.example", one.Name, now.UnixMilli()), FirstName: "Sam", LastName: one.Title},
	}, nil
}

// outlook returns what becomes of the first renewal if every charge is declined for lack of funds.
func (sc scene) outlook() dunning.Outlook {
	calendar, err := sc.store.Calendar()
	if err != nil {
		return dunning.Outlook{}
	}
	return sc.store.Settings.Dunning.Outlook(dunning.Decline{Class: dunning.Funds, First: sc.first, Last: sc.first, Due: sc.first, Calendar: calendar})
}

// retries refuses a store that does not try declined charges again.
func (sc scene) retries(context.Context) error {
	if len(sc.outlook().Retries) == 0 {
		return fault.New(fault.FailedPrecondition, "the store does not try declined charges again: allow retries in its settings, under Billing and dunning")
	}
	return nil
}

// pausesAtLast refuses a store that does not pause what stays unpaid.
func (sc scene) pausesAtLast(context.Context) error {
	if then := sc.outlook().Then; then != dunning.Pause {
		return fault.New(fault.FailedPrecondition, "the store does not pause a subscription that stays unpaid (it is set to %s): choose pausing in its settings, under Billing and dunning", then)
	}
	return nil
}

// trial returns the option with a free trial, and makes its group when the store has none.
func (sc scene) trial(ctx context.Context) (plan.Option, error) {
	a := sc.front.running()
	groups, _, err := a.Store.PlanGroups(ctx, sc.store.ID, shop.Subscriptions, page.Request{})
	if err != nil {
		return plan.Option{}, err
	}
	if at := slices.IndexFunc(groups, func(g plan.Group) bool {
		return g.Name == trialGroup && len(g.Options) > 0 && g.Options[0].Trial.Enabled
	}); at >= 0 {
		return groups[at].Options[0], nil
	}
	sold, err := sc.soldOn(sc.store.Domain, shop.Subscriptions)
	if err != nil {
		return plan.Option{}, err
	}
	monthly := plan.Frequency{Interval: cadence.Month, Count: 1}
	made, err := a.Plans.Create(ctx, sc.store.ID, plan.CreateCommand{Line: shop.Subscriptions, Sold: sold, Actor: scenarioActor(), Draft: plan.Draft{
		Terms: plan.Terms{Name: trialGroup},
		Options: []plan.Option{{
			Name: fmt.Sprintf("Every month after %d days free", trialDays), Kind: plan.PayAsYouGo, Billing: monthly, Delivery: monthly, Sequence: 1,
			Trial: plan.Trial{Enabled: true, Interval: cadence.Day, Count: trialDays},
		}},
	}})
	if err != nil {
		return plan.Option{}, err
	}
	return made.Options[0], nil
}

// scenarioActor is the user of the dashboard, who makes what a scenario needs.
func scenarioActor() activity.Actor {
	return activity.Actor{Source: activity.MerchantPortal, By: dashboardUser}
}

// cancel cancels the contract as its customer does in the portal.
func (sc scene) cancel(ctx context.Context) error { return sc.cancelBecause(ctx, "OTHER") }

// cancelBecause does the same for a reason that the customer gives.
func (sc scene) cancelBecause(ctx context.Context, reason string) error {
	who := portal.Caller{Shop: sc.store, Actor: activity.Actor{Source: activity.CustomerPortal, By: "customer", Customer: sc.made.Customer}}
	_, err := sc.front.running().Portal.Cancel(ctx, who, portal.ContractRef{ID: contract.ID(sc.made.Contract)}, reason)
	return settled(err, func() error { return sc.steps.Settle(ctx) })
}

// pointsExpire refuses a store whose points do not expire.
func (sc scene) pointsExpire(ctx context.Context) error {
	program, err := sc.front.running().Loyalty.Program(ctx, sc.store.ID)
	if err == nil && (program.Version == 0 || program.Terms.Expiry.Mode == loyalty.NoExpiry) {
		err = fault.New(fault.FailedPrecondition, "the store has no loyalty programme whose points expire: start one, or set when they expire")
	}
	return err
}

// earn gives the customer points.
func (sc scene) earn(ctx context.Context) error {
	_, err := sc.front.running().Loyalty.Add(ctx, sc.store.ID, loyalty.PointsCommand{
		Who: loyalty.CustomerRef{Customer: sc.made.Customer}, Points: 100 * loyalty.One, Note: "Scenario: points that expire", Actor: scenarioActor(),
	})
	return err
}

// expiry returns an instant after the points of the customer have expired.
func (sc scene) expiry(ctx context.Context) (time.Time, error) {
	m, err := sc.front.running().Loyalty.Member(ctx, sc.store, loyalty.CustomerRef{Customer: sc.made.Customer}, loyalty.Unused)
	return m.ExpiresAt.AddDate(0, 0, 1), err
}

// played is what a scenario made, and what happened while time moved.
type played struct {
	Contract int64 `json:"contractId"`
	clockReport
}

// described returns what people read of the scenarios.
func described() []simulate.Scenario {
	var list []simulate.Scenario
	for _, one := range scenarios() {
		list = append(list, one.Scenario)
	}
	return list
}

// listScenarios lists the scenarios.
func (s *Sandbox) listScenarios(*http.Request) ([]simulate.Scenario, error) { return described(), nil }

// playScenario plays a scenario in a store.
func (s *Sandbox) playScenario(r *http.Request) (played, error) {
	one, err := scenarioOf(r.PathValue("name"))
	if err != nil {
		return played{}, err
	}
	if err := s.movable(); err != nil {
		return played{}, err
	}
	if err := s.steps.claim(); err != nil {
		return played{}, err
	}
	defer s.steps.release()
	before, err := s.tally(r.Context())
	if err != nil {
		return played{}, err
	}
	made, to, err := s.stage(r.Context(), cmp.Or(r.URL.Query().Get("shop"), demo.Main), one)
	if err == nil {
		err = s.steps.advance(r.Context(), func(time.Time) (time.Time, error) { return to, nil })
	}
	if err != nil {
		return played{}, err
	}
	after, err := s.tally(r.Context())
	return played{made, clockReport{clockView{web.At(s.clock.Now())}, after.since(before)}}, err
}
