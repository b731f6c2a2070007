package simulator

import (
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
)

// openCycle opens a draft of a cycle and returns its id.
func (w *world) openCycle(contract int64, index int) string {
	w.t.Helper()
	d := w.ask(`mutation($c: ID!, $i: Int!) { subscriptionBillingCycleContractEdit(billingCycleInput: {contractId: $c, selector: {index: $i}}) { draft { id billingCycle { cycleIndex } } userErrors { code } } }`,
		map[string]any{"c": contractGID(contract), "i": index})
	if got := dig(d, "subscriptionBillingCycleContractEdit", "draft", "billingCycle", "cycleIndex"); got != float64(index) {
		w.t.Fatalf("a draft of cycle %v: %s", got, text(d))
	}
	return dig(d, "subscriptionBillingCycleContractEdit", "draft", "id").(string)
}

func (w *world) commitCycle(draft string) string {
	w.t.Helper()
	d := w.ask(`mutation($d: ID!) { subscriptionBillingCycleContractDraftCommit(draftId: $d) { contract { note billingCycles(first: 1) { nodes { edited } } } userErrors { code } } }`, map[string]any{"d": draft})
	code, _ := dig(d, "subscriptionBillingCycleContractDraftCommit", "userErrors", 0, "code").(string)
	return code
}

func (w *world) dropEdit(contract int64, index int) string {
	w.t.Helper()
	d := w.ask(`mutation($c: ID!, $i: Int!) { subscriptionBillingCycleEditDelete(billingCycleInput: {contractId: $c, selector: {index: $i}}) { billingCycles { edited editedContract { note } } userErrors { code } } }`,
		map[string]any{"c": contractGID(contract), "i": index})
	code, _ := dig(d, "subscriptionBillingCycleEditDelete", "userErrors", 0, "code").(string)
	return code
}

// redeem applies a code to a draft and returns why it is rejected.
func (w *world) redeem(draft, code string) string {
	w.t.Helper()
	d := w.ask(`mutation($d: ID!, $c: String!) { subscriptionDraftDiscountCodeApply(draftId: $d, redeemCode: $c) { appliedDiscount { id redeemCode rejectionReason } userErrors { code } } }`, map[string]any{"d": draft, "c": code})
	reason, _ := dig(d, "subscriptionDraftDiscountCodeApply", "appliedDiscount", "rejectionReason").(string)
	return reason
}

// off adds a discount to a draft and returns the code that refuses it.
func (w *world) off(draft string, input map[string]any) string {
	w.t.Helper()
	return w.line(`mutation($d: ID!, $in: SubscriptionManualDiscountInput!) { subscriptionDraftDiscountAdd(draftId: $d, input: $in) { discountAdded { id } userErrors { code } } }`, draft, "", input)
}

func TestDiscountAmounts(t *testing.T) {
	t.Parallel()
	usd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	lines := []line{{ID: "a", Quantity: 3, Price: usd(1000)}, {ID: "b", Quantity: 1, Price: usd(333)}, {ID: "c", Quantity: 1, Price: usd(0)}}
	tests := []struct {
		name      string
		discounts []discount
		left      []int64
		shipping  int64
	}{
		{"a percentage is rounded half up for each line", []discount{{ID: "1", Percent: 50, All: true}}, []int64{1500, 166, 0}, 500},
		{"a percentage of one line", []discount{{ID: "1", Percent: 10, Lines: []string{"b"}}}, []int64{3000, 300, 0}, 500},
		{"an amount off each item", []discount{{ID: "1", Fixed: usd(100), EachItem: true, All: true}}, []int64{2700, 233, 0}, 500},
		{"an amount off each item takes no more than there is", []discount{{ID: "1", Fixed: usd(700), EachItem: true, All: true}}, []int64{900, 0, 0}, 500},
		{"an amount once is divided in proportion, the rest to the first", []discount{{ID: "1", Fixed: usd(100), All: true}}, []int64{2909, 324, 0}, 500},
		{"an amount once takes no more than there is", []discount{{ID: "1", Fixed: usd(9999), All: true}}, []int64{0, 0, 0}, 500},
		{"each is off what the ones before it left", []discount{{ID: "1", Percent: 50, All: true}, {ID: "2", Percent: 50, All: true}}, []int64{750, 83, 0}, 500},
		{"free shipping", []discount{{ID: "1", Shipping: true}}, []int64{3000, 333, 0}, 0},
		{"one that is used up", []discount{{ID: "1", Percent: 50, All: true, Limit: 2, Used: 2}}, []int64{3000, 333, 0}, 500},
		{"one that is rejected", []discount{{ID: "1", Percent: 50, All: true, Rejected: "NOT_FOUND"}}, []int64{3000, 333, 0}, 500},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			terms := terms{Lines: lines, Discounts: tt.discounts, Price: usd(500)}
			b := terms.bill("USD")
			if !slices.Equal(b.lines, tt.left) || b.shipping != usd(tt.shipping) {
				t.Errorf("left %v and %v, want %v and %d", b.lines, b.shipping, tt.left, tt.shipping)
			}
			if all := int64(3333 + 500); b.total.Minor+b.off.Minor != all || b.total.Minor != tt.left[0]+tt.left[1]+tt.left[2]+tt.shipping {
				t.Errorf("total %v and %v off", b.total, b.off)
			}
		})
	}
}

func TestRoundingRemainderGoesToLineWithRoom(t *testing.T) {
	t.Parallel()
	parts := []int64{0, 1, 2}
	got := make([]int64, 3)
	spread(got, 2, 3, func(n int) int64 { return parts[n] })
	if want := []int64{0, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("2 of %v: %v, want %v", parts, got, want)
	}
}

func TestCycleAndContractDraftsAreCommittedApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	d, c := w.open(made.Contract), w.openCycle(made.Contract, 1)
	if code := w.commit(c); code != "BILLING_CYCLE_PRESENT" {
		t.Errorf("a cycle's draft: %q", code)
	}
	if code := w.commitCycle(d); code != "BILLING_CYCLE_ABSENT" {
		t.Errorf("a contract's draft: %q", code)
	}
	if code := w.commitCycle(c) + w.commit(d); code != "HAS_FUTURE_EDITS" {
		t.Errorf("each in its way: %q", code)
	}
	if code := w.commitCycle(c); code != "COMMITTED" {
		t.Errorf("again: %q", code)
	}
}

func TestEditsOfACycle(t *testing.T) {
	t.Parallel()
	note := map[string]any{"note": "for one"}
	edit := func(w *world, m Made, index int) {
		d := w.openCycle(m.Contract, index)
		w.edit(d, note)
		if code := w.commitCycle(d); code != "" {
			w.t.Fatal(code)
		}
	}
	tests := []struct {
		name string
		do   func(w *world, m Made) string
		want string
	}{
		{"of two drafts of one cycle the second is stale", func(w *world, m Made) string {
			d := w.openCycle(m.Contract, 1)
			edit(w, m, 1)
			return w.commitCycle(d)
		}, "STALE_CONTRACT"},
		{"a draft of another cycle is not", func(w *world, m Made) string {
			d := w.openCycle(m.Contract, 2)
			edit(w, m, 1)
			return w.commitCycle(d)
		}, ""},
		{"a draft is stale when the contract was changed", func(w *world, m Made) string {
			d := w.openCycle(m.Contract, 2)
			o := w.open(m.Contract)
			w.edit(o, note)
			w.commit(o)
			return w.commitCycle(d)
		}, "STALE_CONTRACT"},
		{"a past edit does not forbid to edit the contract", func(w *world, m Made) string {
			edit(w, m, 1)
			w.pass("2025-02-02")
			return w.commit(w.open(m.Contract))
		}, ""},
		{"an edit of the running cycle does", func(w *world, m Made) string {
			edit(w, m, 1)
			return w.commit(w.open(m.Contract))
		}, "HAS_FUTURE_EDITS"},
		{"a product cannot be changed either", func(w *world, m Made) string {
			edit(w, m, 1)
			d := w.ask(`mutation($c: ID!, $l: ID!) { subscriptionContractProductChange(subscriptionContractId: $c, lineId: $l, input: {currentPrice: "1"}) { userErrors { code } } }`,
				map[string]any{"c": contractGID(m.Contract), "l": m.Lines[0]})
			return dig(d, "subscriptionContractProductChange", "userErrors", 0, "code").(string)
		}, "HAS_FUTURE_EDITS"},
		{"there is nothing to take back", func(w *world, m Made) string { return w.dropEdit(m.Contract, 1) }, "NO_CYCLE_EDITS"},
		{"an edit is not taken back while it is charged for", func(w *world, m Made) string {
			edit(w, m, 1)
			w.pass("2025-02-01T15:00:00Z")
			w.charge(m.Contract, "k", 1)
			return w.dropEdit(m.Contract, 1)
		}, "INCOMPLETE_BILLING_ATTEMPTS"},
		{"a skip is taken back with the edit", func(w *world, m Made) string {
			edit(w, m, 1)
			w.skip(m.Contract, 1)
			code := w.dropEdit(m.Contract, 1)
			if c, err := w.sim.Cycles(m.Contract); err != nil || c[0].Skipped || c[0].Edited || c[0].Own != nil {
				w.t.Errorf("cycle %+v, %v", c[0], err)
			}
			return code
		}, ""},
		{"all edits from the running cycle on are taken back together", func(w *world, m Made) string {
			edit(w, m, 1)
			w.pass("2025-02-02")
			edit(w, m, 2)
			w.skip(m.Contract, 3)
			d := w.ask(`mutation($c: ID!) { subscriptionBillingCycleEditsDelete(contractId: $c, targetSelection: ALL) { billingCycles { cycleIndex } userErrors { code } } }`, map[string]any{"c": contractGID(m.Contract)})
			return text(dig(d, "subscriptionBillingCycleEditsDelete", "billingCycles"))
		}, `[{"cycleIndex":2},{"cycleIndex":3}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if got := tt.do(w, w.monthly()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDiscountsOfADraft(t *testing.T) {
	t.Parallel()
	all := map[string]any{"all": true}
	half := map[string]any{"title": "half", "value": map[string]any{"percentage": 50}, "entitledLines": all}
	tests := []struct {
		name     string
		switches Switches
		do       func(w *world, m Made, draft string) string
		want     string
	}{
		{"a discount of nothing", Switches{}, func(w *world, _ Made, d string) string { return w.off(d, map[string]any{"entitledLines": all}) }, "BLANK"},
		{"a percentage over all", Switches{}, func(w *world, _ Made, d string) string {
			return w.off(d, map[string]any{"value": map[string]any{"percentage": 101}, "entitledLines": all})
		}, "NOT_IN_RANGE"},
		{"an amount of nothing", Switches{}, func(w *world, _ Made, d string) string {
			return w.off(d, map[string]any{"value": map[string]any{"fixedAmount": map[string]any{"amount": 0}}, "entitledLines": all})
		}, "GREATER_THAN"},
		{"two values", Switches{}, func(w *world, _ Made, d string) string {
			return w.off(d, map[string]any{"value": map[string]any{"percentage": 1, "fixedAmount": map[string]any{"amount": 1}}, "entitledLines": all})
		}, "INVALID"},
		{"a line that is not there", Switches{}, func(w *world, _ Made, d string) string {
			return w.off(d, map[string]any{"value": map[string]any{"percentage": 1}, "entitledLines": map[string]any{"lines": map[string]any{"add": []any{"gid://shopify/SubscriptionLine/x"}}}})
		}, "INVALID"},
		{"a limit of no order", Switches{}, func(w *world, _ Made, d string) string {
			return w.off(d, map[string]any{"value": map[string]any{"percentage": 1}, "entitledLines": all, "recurringCycleLimit": 0})
		}, "GREATER_THAN_OR_EQUAL_TO"},
		{"a discount without lines is not committed", Switches{}, func(w *world, m Made, d string) string {
			w.line(lineAdd, d, "", map[string]any{"productVariantId": "gid://shopify/ProductVariant/4002", "quantity": 1, "currentPrice": "36"})
			w.off(d, map[string]any{"value": map[string]any{"percentage": 1}, "entitledLines": map[string]any{"lines": map[string]any{"add": []any{m.Lines[0]}}}})
			w.line(lineRemove, d, m.Lines[0], nil)
			return w.commit(d)
		}, "NO_ENTITLED_LINES"},
		{"more than there may be", Switches{MaxDiscounts: 1}, func(w *world, _ Made, d string) string { return w.off(d, half) + w.off(d, half) + w.commit(d) }, "TOO_MANY_DISCOUNTS"},
		{"as many as there are without the switch", Switches{}, func(w *world, _ Made, d string) string { return w.off(d, half) + w.off(d, half) + w.commit(d) }, ""},
		{"an unknown code", Switches{}, func(w *world, _ Made, d string) string { return w.redeem(d, "nothing") }, "NOT_FOUND"},
		{"a code that is not in force", Switches{}, func(w *world, _ Made, d string) string {
			w.code(CodeSpec{Code: "OLD", Percent: 5, Inactive: true})
			return w.redeem(d, "OLD")
		}, "CURRENTLY_INACTIVE"},
		{"a code that others have used up", Switches{}, func(w *world, m Made, d string) string {
			w.code(CodeSpec{Code: "ONCE", Percent: 5, UsageLimit: 1})
			w.redeem(d, "once")
			if code := w.commit(d); code != "" {
				w.t.Fatal(code)
			}
			other := w.monthly(func(c *ContractSpec) { c.Customer.Email = "bob@example.com" })
			return w.redeem(w.open(other.Contract), "once")
		}, "USAGE_LIMIT_REACHED"},
		{"a code that another draft used up first", Switches{}, func(w *world, m Made, d string) string {
			w.code(CodeSpec{Code: "ONCE", Percent: 5, UsageLimit: 1})
			other := w.open(w.monthly(func(c *ContractSpec) { c.Customer.Email = "bob@example.com" }).Contract)
			if code := w.redeem(d, "once") + w.redeem(other, "once") + w.commit(other); code != "" {
				w.t.Fatal(code)
			}
			return w.commit(d)
		}, "INVALID"},
		{"a discount is updated", Switches{}, func(w *world, m Made, d string) string {
			w.off(d, half)
			w.update(d, "subscriptionDraftDiscountUpdate", "SubscriptionManualDiscountInput", map[string]any{"value": map[string]any{"percentage": 10}})
			w.commit(d)
			return w.amount(m)
		}, "27.50"},
		{"free shipping is updated", Switches{}, func(w *world, m Made, d string) string {
			w.line(`mutation($d: ID!, $in: SubscriptionFreeShippingDiscountInput!) { subscriptionDraftFreeShippingDiscountAdd(draftId: $d, input: $in) { discountAdded { id } userErrors { code } } }`, d, "", map[string]any{"title": "a"})
			w.update(d, "subscriptionDraftFreeShippingDiscountUpdate", "SubscriptionFreeShippingDiscountInput", map[string]any{"title": "b", "recurringCycleLimit": 2})
			w.commit(d)
			k, err := w.sim.Contract(m.Contract)
			if err != nil || len(k.Discounts) != 1 {
				w.t.Fatal(k.Discounts, err)
			}
			return k.Discounts[0].Title + " " + k.Amount
		}, "b 25.00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) { o.Switches = tt.switches })
			made := w.monthly()
			if got := tt.do(w, made, w.open(made.Contract)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func (w *world) code(spec CodeSpec) {
	w.t.Helper()
	if err := w.sim.AddCode(spec); err != nil {
		w.t.Fatal(err)
	}
}

// update updates the only discount that was added to a draft.
func (w *world) update(draft, mutation, input string, in map[string]any) {
	w.t.Helper()
	d := w.ask(`query($d: ID!) { subscriptionDraft(id: $d) { discountsAdded(first: 2) { nodes { ... on SubscriptionManualDiscount { id } } } } }`, map[string]any{"d": draft})
	id := dig(d, "subscriptionDraft", "discountsAdded", "nodes", 0, "id")
	d = w.ask(`mutation($d: ID!, $l: ID!, $in: `+input+`!) { `+mutation+`(draftId: $d, discountId: $l, input: $in) { discountUpdated { id } userErrors { code } } }`, map[string]any{"d": draft, "l": id, "in": in})
	if dig(d, mutation, "discountUpdated", "id") != id {
		w.t.Fatal(text(d))
	}
}

// amount is what a renewal of a contract costs.
func (w *world) amount(m Made) string {
	w.t.Helper()
	k, err := w.sim.Contract(m.Contract)
	if err != nil {
		w.t.Fatal(err)
	}
	return k.Amount
}

func TestOrderListsItsDiscounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	d := w.open(made.Contract)
	w.off(d, map[string]any{"title": "half", "value": map[string]any{"percentage": 50}, "entitledLines": map[string]any{"all": true}})
	w.line(lineUpdate, d, made.Lines[0], map[string]any{"customAttributes": []any{map[string]any{"key": "grind", "value": "fine"}}})
	if code := w.commit(d); code != "" {
		t.Fatal(code)
	}
	w.pass("2025-02-01T15:00:00Z")
	w.charge(made.Contract, "k1", 1)
	w.pass("2025-02-01T15:01:00Z")
	got := w.ask(`query($id: ID!) { subscriptionContract(id: $id) { orders(first: 1, reverse: true) { nodes { totalDiscountsSet { shopMoney { amount } } subtotalPriceSet { shopMoney { amount } } totalPriceSet { shopMoney { amount } }
		lineItems(first: 1) { nodes { customAttributes { key value } discountedTotalSet { shopMoney { amount } } discountedUnitPriceSet { shopMoney { amount } } totalDiscountSet { shopMoney { amount } } } } } } } }`, map[string]any{"id": contractGID(made.Contract)})
	amount := func(s string) string { return `{"shopMoney":{"amount":"` + s + `"}}` }
	want := `{"lineItems":{"nodes":[{"customAttributes":[{"key":"grind","value":"fine"}],"discountedTotalSet":` + amount("12.5") + `,"discountedUnitPriceSet":` + amount("6.25") + `,"totalDiscountSet":` + amount("12.5") +
		`}]},"subtotalPriceSet":` + amount("12.5") + `,"totalDiscountsSet":` + amount("12.5") + `,"totalPriceSet":` + amount("17.5") + `}`
	if got := text(dig(got, "subscriptionContract", "orders", "nodes", 0)); got != want {
		t.Errorf("order\n got %s\nwant %s", got, want)
	}
}

func TestNewContractMayRequirePaymentMethod(t *testing.T) {
	t.Parallel()
	for want, required := range map[string]bool{"": false, "MISSING_CUSTOMER_PAYMENT_METHOD": true} {
		w := newWorld(t, func(o *Options) { o.Switches.PaymentMethodRequired = required })
		w.monthly()
		month := map[string]any{"interval": "MONTH", "intervalCount": 1}
		d := w.ask(`mutation($in: SubscriptionContractCreateInput!) { subscriptionContractCreate(input: $in) { userErrors { code } } }`, map[string]any{"in": map[string]any{
			"customerId": "gid://shopify/Customer/7001", "currencyCode": "USD", "nextBillingDate": "2025-08-27T07:00:00Z",
			"contract": map[string]any{"billingPolicy": month, "deliveryPolicy": month},
		}})
		if got, _ := dig(d, "subscriptionContractCreate", "userErrors", 0, "code").(string); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOrderUpdateIsPartial(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly(func(c *ContractSpec) { c.Note = "ring twice" })
	const update = `mutation($in: OrderInput!) { orderUpdate(input: $in) { order { note tags customAttributes { key value } } userErrors { field message } } }`
	id := "gid://shopify/Order/5001"
	d := w.ask(update, map[string]any{"in": map[string]any{"id": id, "tags": []any{"a", "A", "b"}, "customAttributes": []any{map[string]any{"key": "k", "value": "v"}}}})
	if got := text(dig(d, "orderUpdate", "order")); got != `{"customAttributes":[{"key":"k","value":"v"}],"note":"ring twice","tags":["a","b"]}` {
		t.Errorf("order %s of %+v", got, made)
	}
	d = w.ask(update, map[string]any{"in": map[string]any{"id": id, "note": nil}})
	if got := dig(d, "orderUpdate", "order", "note"); got != nil {
		t.Errorf("note %v", got)
	}
}

func TestTagsIgnoreLetterCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.monthly()
	for _, c := range []struct{ mutation, tag, want string }{{"tagsAdd", "Gold", "Gold"}, {"tagsAdd", "GOLD", "Gold"}, {"tagsRemove", "gold", ""}} {
		w.ask(`mutation($id: ID!, $t: [String!]!) { `+c.mutation+`(id: $id, tags: $t) { node { id } userErrors { message } } }`, map[string]any{"id": "gid://shopify/Customer/7001", "t": []any{c.tag}})
		k, err := w.sim.Customer(7001)
		if want := slices.DeleteFunc([]string{c.want}, func(s string) bool { return s == "" }); err != nil || !slices.Equal(k.Tags, want) {
			t.Errorf("after %s of %s: %q, %v", c.mutation, c.tag, k.Tags, err)
		}
	}
}

func TestOrderDuringDraftCountsAgainstDiscounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.monthly()
	d := w.open(made.Contract)
	w.off(d, map[string]any{"value": map[string]any{"percentage": 50}, "entitledLines": map[string]any{"all": true}, "recurringCycleLimit": 5})
	if code := w.commit(d); code != "" {
		t.Fatal(code)
	}
	w.pass("2025-02-01T15:00:00Z")
	w.charge(made.Contract, "k1", 1)
	w.pass("2025-03-01T15:00:00Z")
	d = w.open(made.Contract)
	w.charge(made.Contract, "k2", 2)
	w.pass("2025-03-01T15:01:00Z")
	if code := w.commit(d); code != "" {
		t.Fatal(code)
	}
	if k, err := w.sim.Contract(made.Contract); err != nil || len(k.Discounts) != 1 || k.Discounts[0].Used != 2 {
		t.Errorf("discounts %+v, %v", k.Discounts, err)
	}
}
