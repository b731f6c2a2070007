package peer_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/peer"
)

// shelf is a service with one contract, once it was created.
type shelf struct {
	created   bool
	discounts []map[string]string
	keys      []string
	answer    func(w http.ResponseWriter, n int) bool // answers the n-th addition of a discount; false: it is carried out
}

func (s *shelf) open(t *testing.T) *peer.End {
	return at(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
		switch last := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]; last {
		case "create-subscription-contract":
			s.created = true
			reply(t, w, map[string]any{"id": 7})
		case "subscription-contracts-add-discount":
			s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
			if s.answer == nil || !s.answer(w, len(s.keys)) {
				q := r.URL.Query()
				s.discounts = append(s.discounts, map[string]string{"title": q.Get("discountTitle"), "limit": q.Get("recurringCycleLimit")})
				reply(t, w, map[string]any{"id": 7})
			}
		case "7":
			reply(t, w, map[string]any{"id": 7, "discounts": map[string]any{"nodes": s.discounts}})
		default: // the customer's contracts
			rows := []map[string]any{}
			if s.created {
				rows = append(rows, map[string]any{"subscriptionContractId": 7, "importedId": "5", "status": "paused"})
			}
			reply(t, w, rows)
		}
	})
}

func reply(t *testing.T, w http.ResponseWriter, body any) {
	t.Helper()
	if err := json.NewEncoder(w).Encode(body); err != nil {
		t.Error(err)
	}
}

// discounted is a contract with two discounts of one title, the first for three more orders, and one that is used up.
func discounted() moving.Contract {
	return moving.Contract{
		ID: 5, ImportedID: "5", Line: shop.Subscriptions, Status: contract.Active, Currency: "USD", Customer: contract.Customer{ID: 3}, Next: time.Date(2100, 1, 2, 9, 0, 0, 0, time.UTC),
		Discounts: []contract.Discount{
			{Title: "Hello", Percent: 10, AllLines: true, CycleLimit: 5, UsedCycles: 2},
			{Title: "Gone", Percent: 10, AllLines: true, CycleLimit: 2, UsedCycles: 2},
			{Title: "Hello", Amount: money.Amount{Minor: 150, Currency: "USD"}, AllLines: true},
		},
	}
}

// A creation that is repeated adds the discounts that are missing, each once, and under the key that it had.
func TestRepeatedCreationAddsMissingDiscounts(t *testing.T) {
	t.Parallel()
	s := &shelf{answer: func(w http.ResponseWriter, n int) bool {
		if n == 2 {
			w.WriteHeader(http.StatusBadGateway)
		}
		return n == 2
	}}
	e := s.open(t)
	if _, err := e.Create(t.Context(), shop.Shop{}, discounted(), "key"); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("the first creation: %v, want an Unavailable", err)
	}
	for range 2 {
		if made, err := e.Create(t.Context(), shop.Shop{}, discounted(), "key"); err != nil || made != 7 {
			t.Fatalf("the creation again: %d, %v", made, err)
		}
	}
	if len(s.discounts) != 2 || s.discounts[0]["limit"] != "3" || s.discounts[1]["limit"] != "" {
		t.Errorf("the contract has the discounts %v, want one for 3 orders and one for all", s.discounts)
	}
	if want := []string{"key-discount-1", "key-discount-3", "key-discount-3"}; !slices.Equal(s.keys, want) {
		t.Errorf("they were added under the keys %q, want %q", s.keys, want)
	}
}

// Where an addition was broken off for good, the contract is given back instead of waiting between the services.
func TestDiscountInDoubtIsRefused(t *testing.T) {
	t.Parallel()
	s := &shelf{answer: func(w http.ResponseWriter, _ int) bool {
		w.WriteHeader(http.StatusConflict)
		reply(t, w, map[string]any{"errorKey": "idempotencyKeyInUse"})
		return true
	}}
	if _, err := s.open(t).Create(t.Context(), shop.Shop{}, discounted(), "key"); !fault.Is(err, fault.FailedPrecondition) {
		t.Errorf("%v, want a FailedPrecondition", err)
	}
}
