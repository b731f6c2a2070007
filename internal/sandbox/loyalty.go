package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// loyaltyYears is how long the stores have had their programmes when a sandbox
// begins: what was ordered before counts.
const loyaltyYears = 1

// loyaltyTerms are those of every store: points expire after two years, there are
// three tiers, and what customers do elsewhere can be rewarded.
func loyaltyTerms() loyalty.Terms {
	t := loyalty.DefaultTerms()
	t.Expiry = loyalty.ExpiryPolicy{Mode: loyalty.LotAge, Months: 24}
	t.Tiers = []loyalty.Tier{
		{ID: 1, Name: "Seedling", Points: 0}, {ID: 2, Name: "Sapling", Points: 250 * loyalty.One}, {ID: 3, Name: "Oak", Points: 1000 * loyalty.One},
	}
	for i := range t.Earn {
		if r := &t.Earn[i]; r.For != loyalty.Start && r.For != loyalty.CreateAccount {
			r.Active = true
		}
	}
	return t
}

// openLoyalty starts a store's programme, once.
func (i *instance) openLoyalty(ctx context.Context, of shop.ID) error {
	points := i.front.running().Loyalty
	program, err := points.Program(ctx, of)
	if err != nil || program.Version != 0 {
		return err
	}
	if err := points.Enable(ctx, of, i.box.clock.Now().AddDate(-loyaltyYears, 0, 0), loyaltyTerms()); err != nil {
		return fmt.Errorf("start the loyalty programme: %w", err)
	}
	return nil
}

// loyaltyIn is how a store's programme is to run. What is nil stays.
type loyaltyIn struct {
	Shop         string `json:"shop"`
	PendingDays  *int   `json:"pendingDays"`
	ExpireMonths *int   `json:"expireMonths"` // 0: never
}

// setLoyalty changes a store's programme.
func (s *Sandbox) setLoyalty(r *http.Request) (loyaltyIn, error) {
	in := loyaltyIn{Shop: demo.Main}
	if err := body(r, &in); err != nil {
		return in, err
	}
	of, err := s.front.running().Store.Shops().IDOf(r.Context(), in.Shop)
	if err != nil {
		return in, err
	}
	points := s.front.running().Loyalty
	program, err := points.Program(r.Context(), of)
	if err != nil {
		return in, err
	}
	terms := program.Terms
	if in.PendingDays != nil {
		terms.PendingDays = *in.PendingDays
	}
	if in.ExpireMonths != nil && *in.ExpireMonths < 0 {
		return in, fault.New(fault.Invalid, "points expire after %d months: use 0 for never, or more", *in.ExpireMonths).Field("expireMonths")
	}
	if in.ExpireMonths != nil {
		terms.Expiry = loyalty.ExpiryPolicy{Mode: loyalty.NoExpiry}
		if *in.ExpireMonths > 0 {
			terms.Expiry = loyalty.ExpiryPolicy{Mode: loyalty.LotAge, Months: *in.ExpireMonths}
		}
	}
	return in, points.Enable(r.Context(), of, program.StartedAt, terms)
}

// welcomeMembers gives some customers of the main store a history. What they have
// of it already is left alone.
func (s *Sandbox) welcomeMembers(ctx context.Context) error {
	customers := s.secrets.Cast.Customers
	if len(customers) < welcomed {
		return nil
	}
	store, err := s.front.running().Store.Shops().ShopByDomain(ctx, demo.Main)
	if err != nil {
		return err
	}
	for i, points := range []loyalty.Points{500 * loyalty.One, 120 * loyalty.One, 40*loyalty.One + loyalty.One/2} {
		h := formerly{s.front.running().Loyalty, store, loyalty.CustomerRef{Customer: customers[i].ID}}
		if err := h.write(ctx, points, i == 0); err != nil {
			return fmt.Errorf("give customer %d a history: %w", customers[i].ID, err)
		}
	}
	return nil
}

// welcomed is how many customers have a history.
const welcomed = 3

// formerly is what a member did before the sandbox began.
type formerly struct {
	points *loyalty.Service
	store  shop.Shop
	who    loyalty.CustomerRef
}

func (h formerly) write(ctx context.Context, points loyalty.Points, all bool) error {
	by := activity.Actor{Source: activity.MerchantPortal, By: dashboardUser}
	entries, _, err := h.points.History(ctx, h.store.ID, h.who, page.Request{})
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	for _, rule := range loyaltyTerms().Earn {
		if !all || rule.For != loyalty.NewsLetter && rule.For != loyalty.Instagram && rule.For != loyalty.Referral ||
			slices.ContainsFunc(entries, func(e loyalty.Entry) bool { return e.Source.Type == rule.For }) {
			continue
		}
		if _, err := h.points.Add(ctx, h.store.ID, loyalty.PointsCommand{Who: h.who, Rule: rule.ID, Actor: by}); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(entries, func(e loyalty.Entry) bool { return e.Kind == loyalty.Adjust }) {
		if _, err := h.points.Add(ctx, h.store.ID, loyalty.PointsCommand{Who: h.who, Points: points, Note: "Moved from the punch card", Actor: by}); err != nil {
			return err
		}
	}
	if !all || slices.ContainsFunc(entries, func(e loyalty.Entry) bool { return e.Kind == loyalty.Spend }) {
		return nil
	}
	_, err = h.points.Redeem(ctx, h.store.ID, loyalty.RedeemCommand{Who: h.who, Rule: loyaltyTerms().Redeem[0].ID, Actor: by})
	return err
}

// loyaltyCustomer returns a member with a history; 0 when there is none.
func (s *Sandbox) loyaltyCustomer() int64 {
	if len(s.secrets.Cast.Customers) < welcomed {
		return 0
	}
	return s.secrets.Cast.Customers[0].ID
}
