package mover

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

const (
	// fresh is how long what the platform said is believed by a dry run.
	fresh = 10 * time.Minute
	// mostPeople is how many customers are known at once.
	mostPeople = 20_000
)

// known is what the store has of that which contracts name.
type known struct {
	since    time.Time
	mu       sync.Mutex
	variants map[int64]*platform.Variant // nil: it does not have it
	skus     map[string][]int64          // variants by SKU
	people   map[int64]*[]string         // usable payment methods by customer; nil: the store does not have the customer
	emails   map[string]int64            // customers by their addresses in lower case; 0: no customer has it
}

// knownOf returns what is known for a move.
func (s *Service) knownOf(id moving.ID) *known {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Clock.Now()
	k := s.known[id]
	if k == nil || now.Sub(k.since) > fresh {
		k = &known{since: now, variants: map[int64]*platform.Variant{}, skus: map[string][]int64{}}
		k.forgetPeople()
		s.known = map[moving.ID]*known{id: k}
	}
	return k
}

func (k *known) forgetPeople() { k.people, k.emails = map[int64]*[]string{}, map[string]int64{} }

// add asks the platform for what contracts name and is not known yet, and gives those their
// customers that name them by e-mail address.
func (k *known) add(ctx context.Context, p Platform, of shop.Shop, contracts ...*moving.Contract) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.people)+len(k.emails) > mostPeople {
		k.forgetPeople()
	}
	for _, ask := range []func(context.Context, Platform, platform.Shop, []*moving.Contract) error{k.addVariants, k.addEmails, k.addPeople} {
		if err := ask(ctx, p, of.At(), contracts); err != nil {
			return fault.Because(fault.Unavailable, err, "the platform could not be asked what the store has")
		}
	}
	return nil
}

// unknown returns what of the contracts is not known yet, each once, in parts that one question may have.
func unknown[T comparable](contracts []*moving.Contract, of func(c *moving.Contract) []T, known func(T) bool) [][]T {
	var list []T
	seen := map[T]bool{}
	for _, c := range contracts {
		for _, v := range of(c) {
			if !seen[v] && !known(v) {
				seen[v] = true
				list = append(list, v)
			}
		}
	}
	return slices.Collect(slices.Chunk(list, platform.MaxIDs))
}

func (k *known) addVariants(ctx context.Context, p Platform, at platform.Shop, contracts []*moving.Contract) error {
	variants := func(c *moving.Contract) (list []int64) {
		for _, l := range c.Lines {
			if l.Variant != 0 {
				list = append(list, l.Variant)
			}
		}
		return list
	}
	for _, ids := range unknown(contracts, variants, func(id int64) bool { _, asked := k.variants[id]; return asked }) {
		sold, err := p.Variants(ctx, at, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			k.variants[id] = nil
		}
		for _, v := range sold {
			k.variants[v.ID] = &v
		}
	}
	return nil
}

// addEmails finds the customers that are named by their addresses alone.
func (k *known) addEmails(ctx context.Context, p Platform, at platform.Shop, contracts []*moving.Contract) error {
	address := func(c *moving.Contract) []string {
		if c.Customer.ID != 0 || c.Customer.Email == "" {
			return nil
		}
		return []string{strings.ToLower(c.Customer.Email)}
	}
	for _, emails := range unknown(contracts, address, func(email string) bool { _, asked := k.emails[email]; return asked }) {
		found, err := p.CustomersByEmail(ctx, at, emails)
		if err != nil {
			return err
		}
		for _, email := range emails {
			k.emails[email] = 0
		}
		for _, c := range found {
			k.emails[strings.ToLower(c.Email)] = c.ID
		}
	}
	for _, c := range contracts {
		if a := address(c); a != nil {
			c.Customer.ID = k.emails[a[0]]
		}
	}
	return nil
}

// addPeople asks which customers exist, and what they can be charged with.
func (k *known) addPeople(ctx context.Context, p Platform, at platform.Shop, contracts []*moving.Contract) error {
	customer := func(c *moving.Contract) []int64 {
		if c.Customer.ID == 0 || !c.Live() {
			return nil
		}
		return []int64{c.Customer.ID}
	}
	for _, ids := range unknown(contracts, customer, func(id int64) bool { _, asked := k.people[id]; return asked }) {
		usable, err := p.UsablePaymentMethods(ctx, at, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			k.people[id] = nil
			if methods, exists := usable[id]; exists {
				k.people[id] = &methods
			}
		}
	}
	return nil
}

// sku returns the variants with an SKU.
func (k *known) sku(ctx context.Context, p Platform, of shop.Shop, sku string) ([]int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if found, asked := k.skus[sku]; asked {
		return found, nil
	}
	sold, err := p.VariantsBySKU(ctx, of.At(), []string{sku})
	if err != nil {
		return nil, fault.Because(fault.Unavailable, err, "the platform could not be asked for the variants with an SKU")
	}
	var found []int64
	for _, v := range sold {
		found = append(found, v.ID)
	}
	k.skus[sku] = found
	return found, nil
}
