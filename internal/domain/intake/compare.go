package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// compare compares fresh readings with the stored contracts. Most of them change nothing
// that matters here, because the platform also raises the revision for our own edits.
// Contracts whose queue must be rebuilt need the platform's cycles, which are read here,
// outside a transaction. A contract that the platform refuses is left out and stored as
// unread, unless the change has an author.
func (s *Service) compare(ctx context.Context, store shop.Shop, fresh []platform.Contract, known map[contract.ID]*contract.Contract, by *AuthoredChange) (reading, error) {
	found := reading{fresh: fresh, changed: by != nil, zone: store.TimeZone}
	now := s.Clock.Now()
	markUnread := func(id contract.ID, why error) {
		s.Log.ErrorContext(ctx, "a contract cannot be read", "shop", store.Domain, "contract", id, "error", why)
		found.unread, found.changed = append(found.unread, contract.Unread{ID: id, Reason: why.Error(), Since: now, SeenAt: now}), true
		found.fresh = slices.DeleteFunc(slices.Clone(found.fresh), func(p platform.Contract) bool { return contract.ID(p.ID) == id })
	}
	var replanned, standing, unpriced []contract.Contract
	var bought []platform.Contract
	shown, rerun := make(map[contract.ID]time.Time), make(map[contract.ID]bool)
	for _, p := range fresh {
		c, change, err := contract.Read(known[contract.ID(p.ID)], p, store.Settings, now)
		if err != nil && by != nil {
			return reading{}, err
		}
		if err != nil {
			markUnread(contract.ID(p.ID), err)
			continue
		}
		found.changed = found.changed || change.Any()
		if lines := c.Unpriced(known[c.ID]); len(lines) > 0 {
			n := c
			n.Lines = lines
			unpriced = append(unpriced, n)
		}
		if change.Created && by == nil && c.OriginOrderID != 0 {
			bought = append(bought, p)
		}
		if change.Replans() && c.Status == contract.Active {
			replanned = append(replanned, c)
			shown[c.ID], rerun[c.ID] = p.NextBillingDate, !change.Billing
		} else if change.Billing && known[c.ID] != nil && !c.Series.Start.IsZero() {
			standing = append(standing, c)
		}
	}
	if len(unpriced) > 0 {
		var err error
		if found.prices, err = s.Prices.PlanPrices(ctx, store, unpriced); err != nil {
			return reading{}, fmt.Errorf("read the prices of plans: %w", err)
		}
		found.changed = found.changed || len(found.prices) > 0
	}
	past, err := s.histories(ctx, store.ID, slices.Concat(replanned, standing), now)
	if err != nil {
		return reading{}, err
	}
	begun, later, err := s.beginnings(ctx, store, bought)
	if err != nil {
		return reading{}, err
	}
	found.later, found.changed = later, found.changed || len(later) > 0
	found.fresh = slices.DeleteFunc(slices.Clone(found.fresh), func(p platform.Contract) bool { return later.has(contract.ID(p.ID)) })
	replanned = slices.DeleteFunc(replanned, func(c contract.Contract) bool { return later.has(c.ID) })
	offered, _, err := s.options(ctx, store.ID, slices.DeleteFunc(slices.Clone(replanned), func(c contract.Contract) bool {
		return rerun[c.ID] || known[c.ID] == nil || len(c.Billing.Anchors) == 0
	}))
	if err != nil {
		return reading{}, err
	}
	found.plans = make(map[contract.ID]queueStart, len(replanned))
	for id, b := range begun {
		found.plans[contract.ID(id)] = queueStart{beginning: b}
	}
	for _, c := range standing {
		if found.plans[c.ID], err = startWhilePaused(c, past[c.ID].withContract(known[c.ID]), known[c.ID].Billing, store, now); err != nil {
			return reading{}, err
		}
	}
	for _, c := range replanned {
		was := past[c.ID].withContract(known[c.ID])
		var stood queueStart
		switch old := known[c.ID]; {
		case rerun[c.ID]:
		case old != nil && old.Status != contract.Active && !old.Series.Start.IsZero():
			if stood, err = startWhilePaused(c, was, old.Billing, store, now); err != nil {
				return reading{}, err
			}
			was = was.withStart(stood)
		default:
			was.calendar, was.intervalChanged, was.cutoff = contract.Contract{}, true, offered[c.ID].Cutoff
		}
		begins := found.plans[c.ID].beginning
		if was.trial = begins.trial; begins.lifelong || c.Lifelong {
			found.plans[c.ID] = queueStart{beginning: begins, open: true}
			continue
		}
		made, err := s.planStart(ctx, store, c, shown[c.ID], was, now)
		if platform.Definite(err) && by == nil {
			markUnread(c.ID, err)
			continue
		}
		if err != nil {
			return reading{}, err
		}
		made.beginning, made.whilePaused, made.overrides = begins, stood.whilePaused, stood.overrides
		found.plans[c.ID] = made
	}
	return found, nil
}
