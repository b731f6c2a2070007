package platformtest

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
)

// missing is a number that no object has.
const missing = 1 << 40

// usd is an amount in the store's currency.
func usd(cents int64) *money.Amount { return &money.Amount{Minor: cents, Currency: "USD"} }

// editing are the promises of platform.Editor about contracts as a whole.
var editing = []promise{
	{"a line is edited and all else stays as it was", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour), Lines: 2, Note: "ring twice"})
		before := detail(t, w, k)
		got := edit(t, w, k, platform.Edit{Lines: []platform.LineEdit{{
			Line: before.Lines[1].ID, Quantity: new(3), Price: usd(900), Attributes: &[]platform.Attribute{{Key: "grind", Value: "fine"}},
		}}})
		l, more := got.Lines[1], got.LineDetails[1]
		if l.Quantity != 3 || l.Price != *usd(900) || more.Discounted != *usd(2700) || !slices.Equal(more.Attributes, []platform.Attribute{{Key: "grind", Value: "fine"}}) {
			t.Errorf("line %+v, %+v", l, more)
		}
		if got.Lines[0] != before.Lines[0] || got.Note != "ring twice" || got.Revision <= before.Revision || len(got.Lines) != 2 {
			t.Errorf("got %+v, want nothing else changed of %+v", got, before)
		}
		if again := detail(t, w, k); again.Lines[1] != l || again.Revision != got.Revision {
			t.Errorf("read again: %+v, want %+v", again, got)
		}
	}},
	{"lines are added and removed together", func(t *testing.T, w World) {
		k := due(w, Contract{})
		before := detail(t, w, k)
		got := edit(t, w, k, platform.Edit{Lines: []platform.LineEdit{
			{Line: before.Lines[0].ID, Remove: true},
			{Variant: new(w.Variants()[1]), Quantity: new(2), Price: usd(450), SellingPlanID: new(int64(77)), SellingPlanName: new("Monthly")},
		}})
		if len(got.Lines) != 1 || got.Lines[0].VariantID != w.Variants()[1] || got.Lines[0].SellingPlanID != 77 || got.Lines[0].SellingPlanName != "Monthly" || got.Lines[0].Title == "" {
			t.Fatalf("lines %+v", got.Lines)
		}
		wantNextOrder(t, w, first(k), 900, "")
	}},
	{"prices by cycle are kept and alone change nothing", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		want := platform.Pricing{Base: *usd(1250), Cycles: []platform.CyclePrice{
			{After: 0, Kind: platform.PercentOff, Percent: 12.5, Computed: *usd(1094)},
			{After: 2, Kind: platform.FixedPrice, Amount: *usd(1000), Computed: *usd(1000)},
		}}
		got := edit(t, w, k, platform.Edit{Lines: []platform.LineEdit{{Line: detail(t, w, k).Lines[0].ID, Pricing: &want}}})
		p := got.LineDetails[0].Pricing
		if p == nil || p.Base != want.Base || !slices.Equal(p.Cycles, want.Cycles) || got.Lines[0].Price != *usd(1250) {
			t.Errorf("pricing %+v of %+v", p, got.Lines[0])
		}
	}},
	{"a contract's terms are edited", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		next := w.Now().Add(72 * time.Hour)
		twoMonths := platform.Policy{Interval: "MONTH", Count: 2, Anchors: []platform.Anchor{{Type: "MONTHDAY", Day: 15, CutoffDay: 3}}, MinCycles: 2, MaxCycles: 9}
		delivery := platform.Policy{Interval: "MONTH", Count: 2, Anchors: twoMonths.Anchors}
		to := platform.Address{FirstName: "Ben", LastName: "Ott", Address1: "2 Side Street", City: "Austin", ProvinceCode: "TX", CountryCode: "US", Zip: "73301", Phone: "+15550100"}
		got := edit(t, w, k, platform.Edit{
			Billing: &twoMonths, Delivery: &delivery, NextBillingDate: &next, Note: new("at the back door"),
			Attributes: &[]platform.Attribute{{Key: "gift", Value: "no"}}, DeliveryPrice: usd(499),
			Method: &platform.DeliveryMethod{Kind: platform.MethodShipping, Address: to, Code: "express", Title: "Express"},
		})
		if got.Billing.Count != 2 || got.Billing.MinCycles != 2 || got.Billing.MaxCycles != 9 || !slices.Equal(got.Billing.Anchors, twoMonths.Anchors) || got.Delivery.Count != 2 {
			t.Errorf("policies %+v, %+v", got.Billing, got.Delivery)
		}
		a := got.Method.Address
		if got.Method.Kind != platform.MethodShipping || got.Method.Code != "express" || got.Method.Title != "Express" || a.FirstName != "Ben" || a.City != "Austin" || a.ProvinceCode != "TX" || a.CountryCode != "US" || a.Phone != "+15550100" {
			t.Errorf("method %+v", got.Method)
		}
		if !got.NextBillingDate.Equal(next) || got.Note != "at the back door" || got.DeliveryPrice != *usd(499) || !slices.Equal(got.Attributes, []platform.Attribute{{Key: "gift", Value: "no"}}) {
			t.Errorf("contract %+v", got.Contract)
		}
	}},
	{"a note and attributes can be emptied", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour), Note: "ring twice"})
		got := edit(t, w, k, platform.Edit{Note: new(""), Attributes: &[]platform.Attribute{}})
		if got.Note != "" || len(got.Attributes) != 0 {
			t.Errorf("note %q, attributes %v", got.Note, got.Attributes)
		}
	}},
	{"orders are delivered locally", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		got := edit(t, w, k, platform.Edit{Method: &platform.DeliveryMethod{
			Kind: platform.MethodLocal, Address: platform.Address{Address1: "3 Hill", City: "Rye", CountryCode: "US"}, Title: "Bike", Phone: "+15550100", Instructions: "to the porch",
		}})
		if m := got.Method; m.Kind != platform.MethodLocal || m.Title != "Bike" || m.Phone != "+15550100" || m.Instructions != "to the porch" || m.Address.City != "Rye" {
			t.Errorf("method %+v", m)
		}
	}},
	{"orders are picked up at a place that the store has, and at no other", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		place := w.Place()
		got := edit(t, w, k, platform.Edit{Method: &platform.DeliveryMethod{Kind: platform.MethodPickUp, Code: "shop", Title: "In the shop", Location: place}})
		if m := got.Method; m.Kind != platform.MethodPickUp || m.Code != "shop" || m.Title != "In the shop" || m.Location != place {
			t.Errorf("method %+v", m)
		}
		_, err := w.Platform().EditContract(t.Context(), w.Shop(), k, platform.Edit{Method: &platform.DeliveryMethod{Kind: platform.MethodPickUp, Location: "gid://shopify/Location/999999"}})
		wantRefusal(t, err, "INVALID")
	}},
	{"an edit of nothing changes nothing", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		before := detail(t, w, k)
		if got := edit(t, w, k, platform.Edit{}); got.Revision != before.Revision || got.ID != k {
			t.Errorf("revision %d, want %d", got.Revision, before.Revision)
		}
	}},
	{"what the platform refuses leaves the contract as it was", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour), Lines: 2})
		before := detail(t, w, k)
		line := before.Lines[0].ID
		other := detail(t, w, w.Contract(Contract{Next: w.Now().Add(time.Hour)}))
		for name, c := range map[string]struct {
			edit platform.Edit
			code string
		}{
			"an unknown variant":                {platform.Edit{Lines: []platform.LineEdit{{Variant: new(int64(missing)), Quantity: new(1), Price: usd(1)}}}, "INVALID"},
			"an unknown variant of a line":      {platform.Edit{Lines: []platform.LineEdit{{Line: line, Variant: new(int64(missing))}}}, "INVALID"},
			"an unknown line":                   {platform.Edit{Lines: []platform.LineEdit{{Line: "gid://shopify/SubscriptionLine/none", Quantity: new(2)}}}, "INVALID"},
			"a quantity of nothing":             {platform.Edit{Lines: []platform.LineEdit{{Line: line, Quantity: new(0)}}}, "GREATER_THAN_OR_EQUAL_TO"},
			"the last line removed":             {platform.Edit{Lines: []platform.LineEdit{{Line: line, Remove: true}, {Line: before.Lines[1].ID, Remove: true}}}, "INVALID_LINES"},
			"a line removed twice":              {platform.Edit{Lines: []platform.LineEdit{{Line: line, Remove: true}, {Line: line, Remove: true}}}, "ALREADY_REMOVED"},
			"another customer's payment method": {platform.Edit{PaymentMethod: &other.PaymentMethod.ID}, "CUSTOMER_MISMATCH"},
			"an unknown discount":               {platform.Edit{Discounts: []platform.DiscountEdit{{Remove: "gid://shopify/SubscriptionManualDiscount/none"}}}, "INVALID"},
			"an unknown discount code":          {platform.Edit{Discounts: []platform.DiscountEdit{{Code: "NOSUCHCODE"}}}, "NOT_FOUND"},
			"a discount of more than all":       {platform.Edit{Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "all", Percent: 101, AllLines: true}}}}, "NOT_IN_RANGE"},
			"a discount for no line":            {platform.Edit{Discounts: []platform.DiscountEdit{{Add: &platform.Discount{Title: "none", Percent: 5}}}}, "NO_ENTITLED_LINES"},
			"an interval of nothing":            {platform.Edit{Billing: &platform.Policy{Interval: "MONTH", Count: 0}}, "GREATER_THAN"},
			"deliveries that do not fit":        {platform.Edit{Delivery: &platform.Policy{Interval: "WEEK", Count: 1}}, "DELIVERY_MUST_BE_MULTIPLE_OF_BILLING"},
		} {
			c.edit.Note = new("never to be seen")
			_, err := w.Platform().EditContract(t.Context(), w.Shop(), k, c.edit)
			r, ok := errors.AsType[*platform.Refusal](err)
			if !ok || r.Code != c.code || r.Message == "" {
				t.Errorf("%s: %v, want the refusal %s", name, err, c.code)
			}
			if ok && c.code != "INVALID_LINES" && c.code != "DELIVERY_MUST_BE_MULTIPLE_OF_BILLING" && r.Field == "" {
				t.Errorf("%s: the refusal names no field", name)
			}
			if now := detail(t, w, k); now.Revision != before.Revision || now.Note != before.Note {
				t.Errorf("%s: the contract changed: %+v", name, now.Contract)
			}
		}
	}},
	{"a contract that changes between draft and commit is stale, and can be edited again", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		w.BeforeCommit(func() {
			if err := w.Platform().SetNextBillingDate(t.Context(), w.Shop(), k, w.Now().Add(48*time.Hour)); err != nil {
				t.Error(err)
			}
		})
		_, err := w.Platform().EditContract(t.Context(), w.Shop(), k, platform.Edit{Note: new("late")})
		wantRefusal(t, err, platform.CodeStale)
		if got := edit(t, w, k, platform.Edit{Note: new("late")}); got.Note != "late" {
			t.Errorf("note %q", got.Note)
		}
	}},
	{"an edit of a revision that is past is stale and changes nothing", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		read := detail(t, w, k)
		other := edit(t, w, k, platform.Edit{Revision: read.Revision, Attributes: &[]platform.Attribute{{Key: "gift", Value: "no"}}})
		for name, e := range map[string]platform.Edit{
			"a change":      {Revision: read.Revision, Attributes: &[]platform.Attribute{{Key: "box", Value: "red"}}},
			"nothing":       {Revision: read.Revision},
			"a later state": {Revision: other.Revision + 1, Note: new("from the future")},
		} {
			if _, err := w.Platform().EditContract(t.Context(), w.Shop(), k, e); err == nil {
				t.Errorf("%s: not refused", name)
			} else {
				wantRefusal(t, err, platform.CodeStale)
			}
		}
		_, err := w.Platform().EditCycle(t.Context(), w.Shop(), first(k), platform.Edit{Revision: read.Revision, Note: new("for one")})
		wantRefusal(t, err, platform.CodeStale)
		if got := detail(t, w, k); got.Revision != other.Revision || !slices.Equal(got.Attributes, other.Attributes) || cycle(t, w, first(k)).Edited {
			t.Errorf("the contract changed: %+v", got.Contract)
		}
		if got := edit(t, w, k, platform.Edit{Revision: other.Revision, Note: new("in time")}); got.Note != "in time" {
			t.Errorf("note %q", got.Note)
		}
	}},
	{"a cycle is edited at the contract's revision, whatever other cycles are edited", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		read := detail(t, w, k).Revision
		for i := 1; i <= 2; i++ {
			if o := editCycle(t, w, platform.CycleRef{Contract: k, Index: i}, platform.Edit{Revision: read, Note: new("for one")}); o.Note != "for one" {
				t.Errorf("cycle %d: note %q", i, o.Note)
			}
		}
	}},
	{"a commit whose answer is lost is found to have been made", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		w.LoseCommits(1)
		if got := edit(t, w, k, platform.Edit{Note: new("once"), DeliveryPrice: usd(100)}); got.Note != "once" {
			t.Errorf("note %q", got.Note)
		}
		w.LoseCommits(1)
		o, err := w.Platform().EditCycle(t.Context(), w.Shop(), first(k), platform.Edit{Note: new("for one")})
		if err != nil || o.Note != "for one" || !o.Edited || o.CycleRef != first(k) {
			t.Errorf("got %+v, %v", o, err)
		}
	}},
	{"a commit whose answers stay lost is unknown", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		w.LoseCommits(2)
		if _, err := w.Platform().EditContract(t.Context(), w.Shop(), k, platform.Edit{Note: new("once")}); !errors.Is(err, platform.ErrUnknown) {
			t.Errorf("got %v, want ErrUnknown", err)
		}
		if got := detail(t, w, k); got.Note != "once" {
			t.Errorf("note %q: the platform had made the change", got.Note)
		}
	}},
	{"whatever is asked for when answers are lost is unknown", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		p, ctx, shop := w.Platform(), t.Context(), w.Shop()
		method := detail(t, w, k).PaymentMethod.ID
		for _, how := range []Fault{AnswerLost, RequestLost} {
			w.Break(how, func() {
				errs := map[string]error{
					"send update": p.SendPaymentUpdate(ctx, shop, method), "tag": p.Tag(ctx, shop, "gid://shopify/Customer/1", []string{"a"}, nil),
					"drop": p.DropCycleEdit(ctx, shop, first(k)), "note": p.NoteOrder(ctx, shop, 1, "n"),
				}
				_, errs["edit"] = p.EditContract(ctx, shop, k, platform.Edit{Note: new("n")})
				_, errs["edit cycle"] = p.EditCycle(ctx, shop, first(k), platform.Edit{Note: new("n")})
				_, errs["status"] = p.SetStatus(ctx, shop, k, "PAUSED")
				_, errs["create"] = p.CreateContract(ctx, shop, newContract(w, 1))
				for name, err := range errs {
					if !errors.Is(err, platform.ErrUnknown) {
						t.Errorf("%s: %s: %v, want ErrUnknown", how, name, err)
					}
				}
			})
		}
	}},
	{"a status that is set again changes nothing", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		for _, status := range []string{"PAUSED", "ACTIVE", "FAILED", "ACTIVE", "CANCELLED"} {
			got := setStatus(t, w, k, status)
			if again := setStatus(t, w, k, status); got.Status != status || again.Status != status || again.Revision != got.Revision {
				t.Errorf("%s: %s at %d, then %s at %d", status, got.Status, got.Revision, again.Status, again.Revision)
			}
		}
		_, err := w.Platform().SetStatus(t.Context(), w.Shop(), k, "ACTIVE")
		wantRefusal(t, err, platform.CodeTerminated)
		if got := setStatus(t, w, w.Contract(Contract{Next: w.Now().Add(time.Hour)}), "EXPIRED"); got.Status != "EXPIRED" {
			t.Errorf("status %s", got.Status)
		}
	}},
	{"a contract is created with all its parts", func(t *testing.T, w World) {
		person := detail(t, w, w.Contract(Contract{Next: w.Now().Add(time.Hour)}))
		c := newContract(w, person.Customer.ID)
		c.PaymentMethod = &person.PaymentMethod.ID
		c.Discounts = []platform.DiscountEdit{{Code: w.Code()}, {Add: &platform.Discount{Title: "loyal", Percent: 10, AllLines: true, CycleLimit: 2}}}
		got, err := w.Platform().CreateContract(t.Context(), w.Shop(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got.ID == 0 || got.ID == person.ID || got.Status != "PAUSED" || got.Customer.ID != person.Customer.ID || got.PaymentMethod.ID != person.PaymentMethod.ID ||
			!got.NextBillingDate.Equal(c.NextBillingDate) || got.Note != "made by hand" || got.Billing.Interval != "MONTH" || got.Method.Address.City != "Rye" {
			t.Errorf("contract %+v", got)
		}
		if len(got.Lines) != 2 || got.Lines[0].Quantity != 2 || got.Lines[1].Price != *usd(400) || len(got.Discounts) != 3 {
			t.Errorf("lines %+v, discounts %+v", got.Lines, got.Discounts)
		}
		if again := detail(t, w, got.ID); again.Revision != got.Revision || len(again.Lines) != 2 {
			t.Errorf("read again: %+v", again)
		}
	}},
	{"a new contract takes no discount that is not for each line", func(t *testing.T, w World) {
		person := detail(t, w, w.Contract(Contract{Next: w.Now().Add(time.Hour)})).Customer.ID
		before := w.ContractCount()
		for name, d := range map[string]platform.Discount{
			"of some lines": {Title: "x", Percent: 5, Lines: []string{"gid://shopify/SubscriptionLine/1"}},
			"once":          {Title: "x", Amount: *usd(5), AllLines: true},
			"free shipping": {Title: "x", FreeShipping: true, AllLines: true},
		} {
			c := newContract(w, person)
			c.Discounts = []platform.DiscountEdit{{Add: &d}}
			if _, err := w.Platform().CreateContract(t.Context(), w.Shop(), c); err == nil || errors.Is(err, platform.ErrUnknown) {
				t.Errorf("%s: %v, want a refusal", name, err)
			}
		}
		if now := w.ContractCount(); now != before {
			t.Errorf("%d contracts, want %d", now, before)
		}
	}},
	{"a contract without customer, lines or a known variant is not created", func(t *testing.T, w World) {
		person := detail(t, w, w.Contract(Contract{Next: w.Now().Add(time.Hour)})).Customer.ID
		for code, change := range map[string]func(*platform.NewContract){
			"CUSTOMER_DOES_NOT_EXIST": func(c *platform.NewContract) { c.Customer = missing },
			"INVALID_LINES":           func(c *platform.NewContract) { c.Lines = nil },
			"INVALID":                 func(c *platform.NewContract) { c.Lines[0].Variant = new(int64(missing)) },
			"INVALID_BILLING_DATE":    func(c *platform.NewContract) { c.NextBillingDate = w.Now().Add(-time.Hour) },
		} {
			c := newContract(w, person)
			change(&c)
			_, err := w.Platform().CreateContract(t.Context(), w.Shop(), c)
			wantRefusal(t, err, code)
		}
	}},
	{"a contract with more lines than fit on a page is read, edited and ordered in full", func(t *testing.T, w World) {
		const many = 120
		k := due(w, Contract{Lines: many})
		before := detail(t, w, k)
		e := platform.Edit{}
		for _, l := range before.Lines {
			e.Lines = append(e.Lines, platform.LineEdit{Line: l.ID, Price: usd(100)})
		}
		got := edit(t, w, k, e)
		o, err := w.Platform().CycleOrder(t.Context(), w.Shop(), first(k))
		if err != nil || len(before.Lines) != many || len(got.Lines) != many || len(got.LineDetails) != many || len(o.Lines) != many {
			t.Fatalf("%d, %d, %d and %d lines, %v", len(before.Lines), len(got.Lines), len(got.LineDetails), len(o.Lines), err)
		}
		for i, l := range got.Lines {
			if l.Price != *usd(100) || l.ID != before.Lines[i].ID || o.Lines[i].ID != l.ID {
				t.Fatalf("line %d: %+v", i, l)
			}
		}
		wantNextOrder(t, w, first(k), many*100, "")
	}},
	{"contracts are read together as each is alone, in their order", func(t *testing.T, w World) {
		var ids []int64
		for range 7 {
			ids = append(ids, due(w, Contract{Lines: 2}))
		}
		slices.Reverse(ids)
		got, err := w.Platform().Details(t.Context(), w.Shop(), append([]int64{missing}, ids...))
		if err != nil || len(got) != len(ids) {
			t.Fatalf("%d contracts, %v", len(got), err)
		}
		for i, id := range ids {
			if alone := detail(t, w, id); !reflect.DeepEqual(got[i], alone) {
				t.Errorf("together %+v\nalone    %+v", got[i], alone)
			}
		}
	}},
	{"an unknown contract is not found", func(t *testing.T, w World) {
		p, ctx, shop := w.Platform(), t.Context(), w.Shop()
		if _, err := p.Detail(ctx, shop, missing); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
		if _, err := p.CycleOrder(ctx, shop, first(missing)); !errors.Is(err, platform.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
		_, edit := p.EditContract(ctx, shop, missing, platform.Edit{Note: new("x")})
		_, status := p.SetStatus(ctx, shop, missing, "PAUSED")
		for name, err := range map[string]error{"edit": edit, "status": status, "drop": p.DropCycleEdit(ctx, shop, first(missing))} {
			if _, refused := errors.AsType[*platform.Refusal](err); !refused && !errors.Is(err, platform.ErrNotFound) {
				t.Errorf("%s: %v, want a refusal or ErrNotFound", name, err)
			}
		}
	}},
	{"a contract's detail tells how it is paid, its attempts and its fulfilment orders", func(t *testing.T, w World) {
		k := due(w, Contract{})
		a := charge(t, w, platform.Charge{CycleRef: first(k), Key: "one"})
		w.Pass(settling)
		got := detail(t, w, k)
		if i := got.Instrument; i.Kind != "CustomerCreditCard" || i.LastDigits == "" || i.Masked == "" || i.Name == "" || i.ExpiryYear == 0 || !i.RevokedAt.IsZero() {
			t.Errorf("instrument %+v", i)
		}
		if len(got.Attempts) != 1 || got.Attempts[0].ID != a.ID || got.Attempts[0].State != platform.Succeeded || len(got.Fulfilments) != 1 {
			t.Errorf("attempts %+v, fulfilments %v", got.Attempts, got.Fulfilments)
		}
	}},
}
