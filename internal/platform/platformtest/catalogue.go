package platformtest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
)

// catalogue are the promises of platform.Catalogue.
var catalogue = []promise{
	{"variants tell what is sold, and unknown ones are left out", func(t *testing.T, w World) {
		sold := w.Variants()
		got, err := w.Platform().Variants(t.Context(), w.Shop(), []int64{sold[1], missing, sold[0]})
		if err != nil || len(got) != 2 || got[0].ID != sold[1] || got[1].ID != sold[0] {
			t.Fatalf("got %+v, %v", got, err)
		}
		v := got[0]
		if v.ProductID == 0 || v.Title == "" || v.ProductTitle == "" || v.SKU == "" || v.Handle == "" || v.Vendor == "" || v.Price != *usd(1250) || !v.Available || !v.Taxable || !v.RequiresShipping {
			t.Errorf("variant %+v", v)
		}
		if got, err := w.Platform().Variants(t.Context(), w.Shop(), nil); err != nil || len(got) != 0 {
			t.Errorf("of none: %+v, %v", got, err)
		}
		if _, err := w.Platform().Variants(t.Context(), w.Shop(), make([]int64, platform.MaxIDs+1)); err == nil {
			t.Error("too many ids are no error")
		}
	}},
	{"products tell their variants, and unknown ones are left out", func(t *testing.T, w World) {
		sold := w.Variants()
		one, err := w.Platform().Variants(t.Context(), w.Shop(), sold[1:2])
		if err != nil || len(one) != 1 {
			t.Fatalf("got %+v, %v", one, err)
		}
		got, err := w.Platform().ProductVariants(t.Context(), w.Shop(), []int64{missing, one[0].ProductID})
		if err != nil || !slices.Contains(got, one[0]) {
			t.Fatalf("got %+v, %v; want %+v among them", got, err, one[0])
		}
		for _, v := range got {
			if v.ProductID != one[0].ProductID || v.ProductTitle != one[0].ProductTitle {
				t.Errorf("variant %+v is of another product", v)
			}
		}
		if got, err := w.Platform().ProductVariants(t.Context(), w.Shop(), nil); err != nil || len(got) != 0 {
			t.Errorf("of none: %+v, %v", got, err)
		}
		if _, err := w.Platform().ProductVariants(t.Context(), w.Shop(), make([]int64, platform.MaxProducts+1)); err == nil {
			t.Error("too many ids are no error")
		}
	}},
	{"customers tell who they are, and unknown ones are left out", func(t *testing.T, w World) {
		d := detail(t, w, w.Contract(Contract{Next: w.Now().Add(time.Hour), Customer: "ann@example.com"}))
		got, err := w.Platform().Customers(t.Context(), w.Shop(), []int64{missing, d.Customer.ID})
		if err != nil || len(got) != 1 {
			t.Fatalf("got %+v, %v", got, err)
		}
		if c := got[0]; c.ID != d.Customer.ID || c.Email != "ann@example.com" || c.DisplayName == "" || c.FirstName == "" || c.LastName == "" || len(c.Tags) != 0 {
			t.Errorf("customer %+v", c)
		}
	}},
	{"what a file names is found, many at once", func(t *testing.T, w World) {
		ann := detail(t, w, w.Contract(Contract{Next: w.Now().Add(time.Hour), Customer: "ann@example.com"}))
		bob := detail(t, w, w.Contract(Contract{Next: w.Now().Add(time.Hour), Customer: "bob@example.com"}))
		people, err := w.Platform().CustomersByEmail(t.Context(), w.Shop(), []string{"bob@example.com", `no"body@example.com`, "ANN@example.com"})
		var found []int64
		for _, c := range people {
			found = append(found, c.ID)
		}
		if slices.Sort(found); err != nil || !slices.Equal(found, []int64{ann.Customer.ID, bob.Customer.ID}) {
			t.Errorf("customers %v, %v; want %d and %d", found, err, ann.Customer.ID, bob.Customer.ID)
		}
		known, err := w.Platform().Variants(t.Context(), w.Shop(), w.Variants()[:1])
		if err != nil {
			t.Fatal(err)
		}
		sold, err := w.Platform().VariantsBySKU(t.Context(), w.Shop(), []string{"no such thing", known[0].SKU})
		if err != nil || len(sold) != 1 || sold[0] != known[0] {
			t.Errorf("variants %+v, %v; want %+v", sold, err, known[0])
		}
		methods, err := w.Platform().UsablePaymentMethods(t.Context(), w.Shop(), []int64{missing, bob.Customer.ID})
		if err != nil || len(methods) != 1 || !slices.Contains(methods[bob.Customer.ID], bob.PaymentMethod.ID) {
			t.Errorf("payment methods %v, %v; want %s", methods, err, bob.PaymentMethod.ID)
		}
		if _, err := w.Platform().CustomersByEmail(t.Context(), w.Shop(), make([]string, platform.MaxIDs+1)); err == nil {
			t.Error("too many addresses are no error")
		}
		if _, err := w.Platform().VariantsBySKU(t.Context(), w.Shop(), make([]string, platform.MaxIDs+1)); err == nil {
			t.Error("too many SKUs are no error")
		}
	}},
	{"nothing was sent of a new order, and an unknown order is not found", func(t *testing.T, w World) {
		k := due(w, Contract{})
		wantNextOrder(t, w, first(k), 1250, "")
		if got, err := w.Platform().Fulfillments(t.Context(), w.Shop(), w.LastOrder(k).ID); err != nil || len(got) != 0 {
			t.Errorf("of a new order: %+v, %v", got, err)
		}
		if got, err := w.Platform().Fulfillments(t.Context(), w.Shop(), missing); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("of an unknown order: %+v, %v; want ErrNotFound", got, err)
		}
	}},
	{"tags are added and removed, twice as once", func(t *testing.T, w World) {
		k := due(w, Contract{})
		wantNextOrder(t, w, first(k), 1250, "")
		who := detail(t, w, k).Customer.ID
		for range 2 {
			for _, id := range []string{gid.Of("Customer", who), gid.Of("Order", w.LastOrder(k).ID)} {
				if err := w.Platform().Tag(t.Context(), w.Shop(), id, []string{"gold", "new"}, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := w.CustomerTags(who); !slices.Equal(got, []string{"gold", "new"}) {
			t.Errorf("the customer's tags: %v", got)
		}
		if got := w.LastOrder(k).Tags; !slices.Equal(got, []string{"gold", "new"}) {
			t.Errorf("the order's tags: %v", got)
		}
		for range 2 {
			if err := w.Platform().Tag(t.Context(), w.Shop(), gid.Of("Customer", who), []string{"old"}, []string{"new", "never there"}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := w.Platform().Customers(t.Context(), w.Shop(), []int64{who})
		if err != nil || len(got) != 1 || !slices.Equal(got[0].Tags, []string{"gold", "old"}) {
			t.Errorf("got %+v, %v", got, err)
		}
		if err := w.Platform().Tag(t.Context(), w.Shop(), gid.Of("Customer", missing), []string{"gold"}, nil); err == nil || errors.Is(err, platform.ErrUnknown) {
			t.Errorf("an unknown customer: %v", err)
		}
	}},
	{"an order tells what it has of a contract", func(t *testing.T, w World) {
		k := due(w, Contract{})
		ordered := detail(t, w, k).Lines
		wantNextOrder(t, w, first(k), 1250, "")
		id := w.LastOrder(k).ID
		lines, err := w.Platform().OrderLines(t.Context(), w.Shop(), id, k)
		if err != nil || len(lines) != len(ordered) || len(lines) == 0 {
			t.Fatalf("got %+v, %v", lines, err)
		}
		for i, is := range lines {
			if is.ID = ordered[i].ID; is != ordered[i] {
				t.Errorf("line %d: %+v, want %+v", i, is, ordered[i])
			}
		}
		if lines, err := w.Platform().OrderLines(t.Context(), w.Shop(), id, missing); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("of another contract: %+v, %v", lines, err)
		}
		if _, err := w.Platform().OrderLines(t.Context(), w.Shop(), missing, k); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("an unknown order: %v", err)
		}
	}},
	{"an order's note is replaced", func(t *testing.T, w World) {
		k := due(w, Contract{Note: "ring twice"})
		wantNextOrder(t, w, first(k), 1250, "ring twice")
		id := w.LastOrder(k).ID
		if err := w.Platform().NoteOrder(t.Context(), w.Shop(), id, "ring twice\nand wait"); err != nil {
			t.Fatal(err)
		}
		if got := w.LastOrder(k); got.Note != "ring twice\nand wait" {
			t.Errorf("note %q", got.Note)
		}
		if err := w.Platform().NoteOrder(t.Context(), w.Shop(), missing, "x"); err == nil || errors.Is(err, platform.ErrUnknown) {
			t.Errorf("an unknown order: %v", err)
		}
	}},
	{"payment methods tell what they are, one of them can be taken for a contract", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		who := detail(t, w, k).Customer.ID
		paypal := w.AddPayPal(who)
		got, err := w.Platform().PaymentMethods(t.Context(), w.Shop(), who)
		if err != nil || len(got) != 2 {
			t.Fatalf("got %+v, %v", got, err)
		}
		if m := got[0]; m.Kind != "CustomerCreditCard" || m.Brand == "" || m.LastDigits == "" || m.ExpiryYear == 0 || m.Instrument.Masked == "" {
			t.Errorf("card %+v", m)
		}
		if m := got[1]; m.ID != paypal || m.Kind != "CustomerPaypalBillingAgreement" || m.Instrument.Name == "" || m.LastDigits != "" {
			t.Errorf("agreement %+v", m)
		}
		d := edit(t, w, k, platform.Edit{PaymentMethod: &paypal})
		if d.PaymentMethod.ID != paypal || d.Instrument.Kind != "CustomerPaypalBillingAgreement" {
			t.Errorf("paid with %+v, %+v", d.PaymentMethod, d.Instrument)
		}
		if _, err := w.Platform().PaymentMethods(t.Context(), w.Shop(), missing); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("an unknown customer: %v, want ErrNotFound", err)
		}
	}},
	{"the platform sends its e-mail to update a payment method", func(t *testing.T, w World) {
		method := detail(t, w, w.Contract(Contract{Next: w.Now().Add(time.Hour)})).PaymentMethod.ID
		if err := w.Platform().SendPaymentUpdate(t.Context(), w.Shop(), method); err != nil {
			t.Fatal(err)
		}
		if got := w.UpdateEmails(); !slices.Equal(got, []string{method}) {
			t.Errorf("e-mails for %v, want %s", got, method)
		}
		err := w.Platform().SendPaymentUpdate(t.Context(), w.Shop(), "gid://shopify/CustomerPaymentMethod/none")
		if _, refused := errors.AsType[*platform.Refusal](err); !refused {
			t.Errorf("an unknown payment method: %v, want a refusal", err)
		}
	}},
}
