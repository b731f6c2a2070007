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

// take writes fresh readings. An author, if there is one, made all the changes.
// Contracts that wait for theirs are noted in waits; nil: none does.
func (s *Service) take(ctx context.Context, store shop.Shop, fresh []platform.Contract, by *AuthoredChange, waits waiting) error {
	var known map[contract.ID]*contract.Contract
	err := s.Store.Update(ctx, store.ID, func(tx Tx) (err error) {
		known, err = standing(ctx, tx, numbers(fresh))
		return err
	})
	if err != nil {
		return err
	}
	found, err := s.weigh(ctx, store, fresh, known, by)
	if err != nil || !found.matter {
		return err
	}
	return s.Store.Update(ctx, store.ID, func(tx Tx) error { return s.write(ctx, tx, found, by, waits) })
}

// standing reads contracts as they are kept, for a first look: write looks again.
func standing(ctx context.Context, tx Tx, ids []contract.ID) (map[contract.ID]*contract.Contract, error) {
	rows, err := tx.ReadContracts(ctx, ids)
	known := make(map[contract.ID]*contract.Contract, len(rows))
	for i := range rows {
		known[rows[i].ID] = &rows[i]
	}
	return known, err
}

// readout is fresh readings of contracts, and where their queues begin that must be
// made anew.
type readout struct {
	fresh  []platform.Contract
	plans  map[contract.ID]plan
	prices map[contract.ID]map[string]contract.Pricing // that plans of ours say of lines
	unread []contract.Unread                           // of which nothing is taken over
	later  waiting                                     // for plans that are being made; nothing of these is taken over yet
	zone   string                                      // of the store, in which plans were made
	matter bool                                        // there is something to write
}

// weigh compares fresh readings with what was known of the contracts. Most of them
// change nothing that matters here: the platform counts a revision for our own
// changes too. Contracts whose queue must be made anew need the platform's cycles,
// which are read here, in no transaction. One that is refused for good is left out
// and noted, unless an author waits for it.
func (s *Service) weigh(ctx context.Context, store shop.Shop, fresh []platform.Contract, known map[contract.ID]*contract.Contract, by *AuthoredChange) (readout, error) {
	found := readout{fresh: fresh, matter: by != nil, zone: store.TimeZone}
	now := s.Clock.Now()
	leaveOut := func(id contract.ID, why error) {
		s.Log.ErrorContext(ctx, "a contract cannot be read", "shop", store.Domain, "contract", id, "error", why)
		found.unread, found.matter = append(found.unread, contract.Unread{ID: id, Reason: why.Error(), Since: now, SeenAt: now}), true
		found.fresh = slices.DeleteFunc(slices.Clone(found.fresh), func(p platform.Contract) bool { return contract.ID(p.ID) == id })
	}
	var replanned, standing, unpriced []contract.Contract
	var bought []platform.Contract
	shown, rerun := make(map[contract.ID]time.Time), make(map[contract.ID]bool)
	for _, p := range fresh {
		c, change, err := contract.Read(known[contract.ID(p.ID)], p, store.Settings, now)
		if err != nil && by != nil {
			return readout{}, err
		}
		if err != nil {
			leaveOut(contract.ID(p.ID), err)
			continue
		}
		found.matter = found.matter || change.Any()
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
			return readout{}, fmt.Errorf("read the prices of plans: %w", err)
		}
		found.matter = found.matter || len(found.prices) > 0
	}
	past, err := s.past(ctx, store.ID, slices.Concat(replanned, standing), now)
	if err != nil {
		return readout{}, err
	}
	begun, later, err := s.beginnings(ctx, store, bought)
	if err != nil {
		return readout{}, err
	}
	found.later, found.matter = later, found.matter || len(later) > 0
	found.fresh = slices.DeleteFunc(slices.Clone(found.fresh), func(p platform.Contract) bool { return later.has(contract.ID(p.ID)) })
	replanned = slices.DeleteFunc(replanned, func(c contract.Contract) bool { return later.has(c.ID) })
	offered, _, err := s.options(ctx, store.ID, slices.DeleteFunc(slices.Clone(replanned), func(c contract.Contract) bool {
		return rerun[c.ID] || known[c.ID] == nil || len(c.Billing.Anchors) == 0
	}))
	if err != nil {
		return readout{}, err
	}
	found.plans = make(map[contract.ID]plan, len(replanned))
	for id, b := range begun {
		found.plans[contract.ID(id)] = plan{beginning: b}
	}
	for _, c := range standing {
		if found.plans[c.ID], err = anew(c, past[c.ID].of(known[c.ID]), known[c.ID].Billing, store, now); err != nil {
			return readout{}, err
		}
	}
	for _, c := range replanned {
		was := past[c.ID].of(known[c.ID])
		var stood plan
		switch old := known[c.ID]; {
		case rerun[c.ID]:
		case old != nil && old.Status != contract.Active && !old.Series.Start.IsZero():
			if stood, err = anew(c, was, old.Billing, store, now); err != nil {
				return readout{}, err
			}
			was = was.given(stood)
		default:
			was.ran, was.anew, was.cutoff = contract.Contract{}, true, offered[c.ID].Cutoff
		}
		begins := found.plans[c.ID].beginning
		if was.trial = begins.trial; begins.lifelong || c.Lifelong {
			found.plans[c.ID] = plan{beginning: begins, fits: true}
			continue
		}
		made, err := s.plan(ctx, store, c, shown[c.ID], was, now)
		if platform.Definite(err) && by == nil {
			leaveOut(c.ID, err)
			continue
		}
		if err != nil {
			return readout{}, err
		}
		made.beginning, made.stood, made.wishes = begins, stood.stood, stood.wishes
		found.plans[c.ID] = made
	}
	return found, nil
}

func numbers(fresh []platform.Contract) []contract.ID {
	ids := make([]contract.ID, len(fresh))
	for i, p := range fresh {
		ids[i] = contract.ID(p.ID)
	}
	return ids
}
