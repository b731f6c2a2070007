package platformtest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

const (
	here  = "https://perennial.example/webhooks"
	there = "https://perennial.example/elsewhere"
)

// storing are the promises of platform.Stores, and what a store's end means.
var storing = []promise{
	{"the store tells its facts", func(t *testing.T, w World) {
		got, err := w.Platform().Store(t.Context(), w.Shop())
		if err != nil {
			t.Fatal(err)
		}
		if got.ID == 0 || got.Domain != w.Shop().Domain || got.Name == "" || got.Email == "" || got.Currency == "" || got.CountryCode == "" {
			t.Errorf("store %+v", got)
		}
		if _, err := time.LoadLocation(got.TimeZone); err != nil || got.TimeZone == "" {
			t.Errorf("time zone %q: %v", got.TimeZone, err)
		}
	}},
	{"subscribing again makes no second subscription", func(t *testing.T, w World) {
		for range 2 {
			subscribe(t, w, here)
		}
		wantSubscriptions(t, w, here)
	}},
	{"subscriptions are listed by topic, with their addresses", func(t *testing.T, w World) {
		if got, err := w.Platform().Subscriptions(t.Context(), w.Shop(), platform.Topics); err != nil || len(got) != 0 {
			t.Fatalf("before subscribing: %v, %v", got, err)
		}
		subscribe(t, w, here)
		w.SubscribeTwice(platform.ContractUpdated, there)
		got, err := w.Platform().Subscriptions(t.Context(), w.Shop(), platform.Topics)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(platform.Topics) || !slices.Equal(got[platform.Uninstalled], []string{here}) || len(got[platform.ContractUpdated]) != 2 {
			t.Errorf("got %v", got)
		}
	}},
	{"the granted access scopes are listed", func(t *testing.T, w World) {
		got, err := w.Platform().GrantedScopes(t.Context(), w.Shop())
		if err != nil || !slices.Contains(got, "write_own_subscription_contracts") {
			t.Errorf("got %v, %v", got, err)
		}
	}},
	{"subscribing with another address moves every subscription", func(t *testing.T, w World) {
		subscribe(t, w, here)
		subscribe(t, w, there)
		wantSubscriptions(t, w, there)
	}},
	{"subscribing removes what is subscribed twice", func(t *testing.T, w World) {
		subscribe(t, w, here)
		w.SubscribeTwice(platform.ContractUpdated, there)
		subscribe(t, w, here)
		wantSubscriptions(t, w, here)
	}},
	{"a subscription that is missing is made again", func(t *testing.T, w World) {
		if err := w.Platform().Subscribe(t.Context(), w.Shop(), here, platform.Topics[:3]); err != nil {
			t.Fatal(err)
		}
		subscribe(t, w, here)
		wantSubscriptions(t, w, here)
	}},
	{"a subscription whose answer was lost is not made twice", func(t *testing.T, w World) {
		w.Break(AnswerLost, func() {
			if err := w.Platform().Subscribe(t.Context(), w.Shop(), here, platform.Topics); !errors.Is(err, platform.ErrUnknown) {
				t.Errorf("got %v, want ErrUnknown", err)
			}
		})
		subscribe(t, w, here)
		wantSubscriptions(t, w, here)
	}},
	{"a token that opens nothing says that the connection is gone", func(t *testing.T, w World) {
		_, err := w.Platform().Store(t.Context(), platform.Shop{Domain: w.Shop().Domain, Token: "guessed"})
		if !errors.Is(err, platform.ErrDisconnected) {
			t.Errorf("got %v, want ErrDisconnected", err)
		}
	}},
	{"after the app is removed every call says that the connection is gone", func(t *testing.T, w World) {
		k := due(w, Contract{})
		w.Uninstall()
		p, ctx, shop := w.Platform(), t.Context(), w.Shop()
		errs := map[string]error{
			"skip":      p.SkipCycle(ctx, shop, k, 1),
			"unskip":    p.UnskipCycle(ctx, shop, k, 1),
			"move":      p.MoveCycle(ctx, shop, k, 1, w.Now()),
			"next date": p.SetNextBillingDate(ctx, shop, k, w.Now()),
			"subscribe": p.Subscribe(ctx, shop, here, platform.Topics),
		}
		_, errs["store"] = p.Store(ctx, shop)
		_, errs["scopes"] = p.GrantedScopes(ctx, shop)
		_, errs["subscriptions"] = p.Subscriptions(ctx, shop, platform.Topics)
		_, errs["contracts"] = p.Contracts(ctx, shop, []int64{k})
		_, _, errs["updated"] = p.ContractsUpdatedSince(ctx, shop, w.Now(), "")
		_, errs["cycles"] = p.Cycles(ctx, shop, k, 1, 1)
		_, errs["paid with"] = p.ContractsPaidWith(ctx, shop, "gid://shopify/CustomerPaymentMethod/1")
		_, errs["states"] = p.CycleStates(ctx, shop, []platform.CycleRef{first(k)})
		_, errs["charge"] = p.Charge(ctx, shop, []platform.Charge{{CycleRef: first(k), Key: "late"}})
		_, errs["attempts"] = p.Attempts(ctx, shop, []string{"gid://shopify/SubscriptionBillingAttempt/1"})
		_, errs["detail"] = p.Detail(ctx, shop, k)
		_, errs["details"] = p.Details(ctx, shop, []int64{k})
		_, errs["edit"] = p.EditContract(ctx, shop, k, platform.Edit{Note: new("x")})
		_, errs["edit cycle"] = p.EditCycle(ctx, shop, first(k), platform.Edit{Note: new("x")})
		_, errs["cycle order"] = p.CycleOrder(ctx, shop, first(k))
		errs["drop"] = p.DropCycleEdit(ctx, shop, first(k))
		_, errs["create"] = p.CreateContract(ctx, shop, newContract(w, 1))
		_, errs["status"] = p.SetStatus(ctx, shop, k, "PAUSED")
		errs["send update"] = p.SendPaymentUpdate(ctx, shop, "gid://shopify/CustomerPaymentMethod/1")
		_, errs["variants"] = p.Variants(ctx, shop, []int64{1})
		_, errs["product variants"] = p.ProductVariants(ctx, shop, []int64{1})
		_, errs["customers"] = p.Customers(ctx, shop, []int64{1})
		_, errs["payment methods"] = p.PaymentMethods(ctx, shop, 1)
		_, errs["usable payment methods"] = p.UsablePaymentMethods(ctx, shop, []int64{1})
		_, errs["customers by e-mail"] = p.CustomersByEmail(ctx, shop, []string{"a@example.com"})
		_, errs["variants by SKU"] = p.VariantsBySKU(ctx, shop, []string{"a"})
		errs["tag"] = p.Tag(ctx, shop, "gid://shopify/Customer/1", []string{"a"}, nil)
		_, errs["order lines"] = p.OrderLines(ctx, shop, 1, k)
		errs["note"] = p.NoteOrder(ctx, shop, 1, "x")
		_, errs["epoch"] = p.Epoch(ctx, shop)
		errs["set epoch"] = p.SetEpoch(ctx, shop, platform.Epoch{Owner: "gid://shopify/Shop/1"}, "x")
		_, _, errs["attempts since"] = p.AttemptsSince(ctx, shop, w.Now(), "")
		for name, err := range errs {
			if !errors.Is(err, platform.ErrDisconnected) || errors.Is(err, platform.ErrUnknown) {
				t.Errorf("%s: %v, want ErrDisconnected", name, err)
			}
		}
		w.Pass(settling)
		wantOrders(t, w, k, 0)
	}},
}

func subscribe(t *testing.T, w World, address string) {
	t.Helper()
	if err := w.Platform().Subscribe(t.Context(), w.Shop(), address, platform.Topics); err != nil {
		t.Fatalf("subscribe: %v", err)
	}
}

// wantSubscriptions fails the test unless every topic goes to the address alone.
func wantSubscriptions(t *testing.T, w World, address string) {
	t.Helper()
	for _, topic := range platform.Topics {
		if got := w.Subscriptions(topic); !slices.Equal(got, []string{address}) {
			t.Errorf("%s goes to %v, want %s alone", topic, got, address)
		}
	}
}
