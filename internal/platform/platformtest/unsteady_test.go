package platformtest_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// inside carries requests to a handler without a network, so that the pauses of
// the client take no time.
type inside struct{ http.Handler }

func (h inside) RoundTrip(r *http.Request) (res *http.Response, err error) {
	defer func() {
		if cut := recover(); cut == http.ErrAbortHandler { //nolint:errorlint // it is this very value
			res, err = nil, errors.New("connection reset")
		} else if cut != nil {
			panic(cut)
		}
	}()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestEditsSucceedWhenHalfOfConnectionsBreak(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		at := clock.NewManual(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))
		sim, err := simulator.New(simulator.Options{Clock: at})
		must(err)
		must(sim.AddShop(simulator.ShopSpec{Domain: domain, Token: token, TimeZone: "UTC"}))
		sold, err := sim.AddProduct(simulator.ProductSpec{Title: "Tea", Variants: []simulator.VariantSpec{{Title: "Bag", Price: "12.50"}}})
		must(err)
		made, err := sim.Checkout(simulator.ContractSpec{
			Customer: simulator.CustomerSpec{Email: "ada@example.com"}, NextBillingDate: at.Now().Add(time.Hour),
			Billing: simulator.PolicySpec{Interval: "MONTH", IntervalCount: 1}, PaymentMethod: simulator.MethodValid,
			Lines: []simulator.LineSpec{{VariantID: sold[0].ID, Quantity: 1}},
		})
		must(err)
		client := shopify.New(shopify.Options{HTTP: &http.Client{Transport: inside{sim.Handler()}}})
		shop := platform.Shop{Domain: domain, Token: token}
		ctx := platform.Interactive(t.Context())

		must(sim.SetFaults(simulator.Faults{Rate: 0.5, Seed: 1, Kinds: []simulator.FaultKind{simulator.ConnectionReset}}))
		const edits = 40
		through := 0
		before := ""
		for i := range edits {
			note := "edit " + strconv.Itoa(i)
			got, err := client.EditContract(ctx, shop, made.Contract, platform.Edit{Note: &note})
			is, read := sim.Contract(made.Contract)
			must(read)
			switch {
			case err == nil && got.Note == note && is.Note == note:
				through++
			case !errors.Is(err, platform.ErrUnknown) || is.Note != note && is.Note != before:
				t.Errorf("edit %d: %v, answered with the note %q; it is %q", i, err, got.Note, is.Note)
			}
			before = is.Note
		}
		if through < edits*2/3 {
			t.Errorf("%d of %d edits got through", through, edits)
		}
		t.Logf("%d of %d edits got through", through, edits)
		must(sim.Close())
	})
}
