package mover

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
	"github.com/perennialhq/perennial/internal/platform"
)

const (
	// fresh is how long what the platform said is believed by a dry run.
	fresh = 10 * time.Minute
	// mostKnown is how many answers of a kind are kept at once.
	mostKnown = 20_000
)

// known is what the platform said about a store for a move.
type known struct {
	since    time.Time
	variants memo[int64, *platform.Variant] // nil: the store does not have it
	skus     memo[string, []int64]          // variants by SKU
	people   memo[int64, *[]string]         // usable payment methods by customer; nil: the store does not have the customer
	emails   memo[string, int64]            // customers by their addresses in lower case; 0: no customer has it
	scan     atomic.Pointer[table.Scan]     // of the file; nil: it was not scanned yet
}

// knownOf returns what is known for a move.
func (s *Service) knownOf(id moving.ID) *known {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Clock.Now()
	k := s.known[id]
	if k == nil || now.Sub(k.since) > fresh {
		k = &known{since: now}
		s.known = map[moving.ID]*known{id: k}
	}
	return k
}

// memo keeps the answers to one kind of question. Workers share it; none waits while another one asks.
type memo[K comparable, V any] struct {
	mu      sync.Mutex
	answers map[K]V
}

// about returns the answers about keys. It asks for those that are not known, in parts that one question
// may have; a key without an answer has the zero value.
func (m *memo[K, V]) about(keys []K, ask func(keys []K) (map[K]V, error)) (map[K]V, error) {
	answers, open := m.recall(keys)
	for part := range slices.Chunk(open, platform.MaxIDs) {
		found, err := ask(part)
		if err != nil {
			return nil, err
		}
		for _, k := range part {
			answers[k] = found[k]
		}
		m.keep(part, found)
	}
	return answers, nil
}

// recall returns the answers that are known, and the keys of those that are not.
func (m *memo[K, V]) recall(keys []K) (answers map[K]V, open []K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	answers = make(map[K]V, len(keys))
	for _, k := range keys {
		if _, twice := answers[k]; twice {
			continue
		}
		answer, is := m.answers[k]
		if answers[k] = answer; !is {
			open = append(open, k)
		}
	}
	return answers, open
}

func (m *memo[K, V]) keep(keys []K, answers map[K]V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answers == nil || len(m.answers) > mostKnown {
		m.answers = make(map[K]V)
	}
	for _, k := range keys {
		m.answers[k] = answers[k]
	}
}

// facts is what the store has of that which contracts name.
type facts struct {
	variants map[int64]*platform.Variant
	people   map[int64]*[]string
	owners   map[string]int64 // customers by their addresses in lower case, as far as they were asked for
}

// facts returns the facts about contracts, and gives those their customers that name them by e-mail
// address.
func (k *known) facts(ctx context.Context, p Platform, at platform.Shop, contracts []*moving.Contract) (f facts, err error) {
	if err = k.findByEmail(ctx, p, at, contracts); err != nil {
		return f, notAsked(err)
	}
	var addresses []string
	for _, c := range contracts {
		addresses = append(addresses, strings.ToLower(c.Customer.Email))
	}
	f.owners, _ = k.emails.recall(addresses)
	var variants, people []int64
	for _, c := range contracts {
		for _, l := range c.Lines {
			if l.Variant != 0 {
				variants = append(variants, l.Variant)
			}
		}
		if c.Customer.ID != 0 && c.Live() {
			people = append(people, c.Customer.ID)
		}
	}
	if f.variants, err = k.variants.about(variants, func(ids []int64) (map[int64]*platform.Variant, error) {
		sold, err := p.Variants(ctx, at, ids)
		found := make(map[int64]*platform.Variant, len(sold))
		for _, v := range sold {
			found[v.ID] = &v
		}
		return found, err
	}); err != nil {
		return f, notAsked(err)
	}
	f.people, err = k.people.about(people, func(ids []int64) (map[int64]*[]string, error) {
		usable, err := p.UsablePaymentMethods(ctx, at, ids)
		found := make(map[int64]*[]string, len(usable))
		for id, methods := range usable {
			found[id] = &methods
		}
		return found, err
	})
	return f, notAsked(err)
}

func notAsked(err error) error {
	if err == nil {
		return nil
	}
	return fault.Because(fault.Unavailable, err, "the platform could not be asked what the store has")
}

// findByEmail finds the customers that are named by their addresses alone.
func (k *known) findByEmail(ctx context.Context, p Platform, at platform.Shop, contracts []*moving.Contract) error {
	var addresses []string
	for _, c := range contracts {
		if c.Customer.ID == 0 && c.Customer.Email != "" {
			addresses = append(addresses, strings.ToLower(c.Customer.Email))
		}
	}
	customers, err := k.emails.about(addresses, func(emails []string) (map[string]int64, error) {
		list, err := p.CustomersByEmail(ctx, at, emails)
		found := make(map[string]int64, len(list))
		for _, c := range list {
			found[strings.ToLower(c.Email)] = c.ID
		}
		return found, err
	})
	if err != nil {
		return err
	}
	for _, c := range contracts {
		if c.Customer.ID == 0 {
			c.Customer.ID = customers[strings.ToLower(c.Customer.Email)]
		}
	}
	return nil
}

// variantsOf returns the variants with an SKU.
func (k *known) variantsOf(ctx context.Context, p Platform, at platform.Shop, sku string) ([]int64, error) {
	variants, err := k.skus.about([]string{sku}, func(skus []string) (map[string][]int64, error) {
		sold, err := p.VariantsBySKU(ctx, at, skus)
		found := make(map[string][]int64, 1)
		for _, v := range sold {
			found[sku] = append(found[sku], v.ID)
		}
		return found, err
	})
	return variants[sku], notAsked(err)
}
