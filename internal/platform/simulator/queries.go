package simulator

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/gid"
)

// id returns the number of a graph id that must be of the given type. Another
// type is the platform's run-time refusal.
func (x *exec) id(a args, name, kind string) (int64, bool) {
	text := a.text(name)
	if typeIn(text) != kind {
		x.fail(codeNotFound, "Invalid id: %s", text)
		return 0, false
	}
	n, err := gid.Parse(kind, text)
	return n, err == nil
}

// byID answers a root field that reads one object.
func byID[T any](kind string, from func(sh *store) *objects[*T]) fieldFunc {
	return func(x *exec, _ any, a args) any {
		n, ok := x.id(a, "id", kind)
		if !ok {
			return nil
		}
		v, ok := from(x.shop).get(n)
		if ok && !x.knows(v) {
			v = nil
		}
		return typed(kind, v)
	}
}

func (r registry) queries() {
	r["QueryRoot"] = fields{
		"shop":                       func(x *exec, _ any, _ args) any { return typed("Shop", x.shop) },
		"customer":                   byID("Customer", func(sh *store) *objects[*customer] { return &sh.customers }),
		"product":                    byID("Product", func(sh *store) *objects[*product] { return &sh.products }),
		"productVariant":             byID("ProductVariant", func(sh *store) *objects[*variant] { return &sh.variants }),
		"order":                      byID("Order", func(sh *store) *objects[*order] { return &sh.orders }),
		"subscriptionContract":       byID("SubscriptionContract", func(sh *store) *objects[*contract] { return &sh.contracts }),
		"subscriptionBillingAttempt": byID("SubscriptionBillingAttempt", func(sh *store) *objects[*attempt] { return &sh.attempts }),
		"subscriptionDraft": func(x *exec, _ any, a args) any {
			n, _ := x.id(a, "id", "SubscriptionDraft")
			d, _ := ownByID(x, &x.shop.drafts, n)
			return draftObject(x.shop, d)
		},
		"webhookSubscription": func(x *exec, _ any, a args) any {
			n, _ := x.id(a, "id", "WebhookSubscription")
			return typed("WebhookSubscription", x.subscription(n))
		},
		"customerPaymentMethod": func(x *exec, _ any, a args) any {
			if typeIn(a.text("id")) != "CustomerPaymentMethod" {
				x.fail(codeNotFound, "Invalid id: %s", a.text("id"))
				return nil
			}
			return methodObject(x.shop, a.tail("id"), a.flag("showRevoked"))
		},
		"node": func(x *exec, _ any, a args) any { return x.node(a.text("id")) },
		"nodes": func(x *exec, _ any, a args) any {
			ids := a.texts("ids")
			list := make([]object, len(ids))
			for i, id := range ids {
				list[i] = x.node(id)
			}
			return list
		},
		"customers":                   findCustomers,
		"products":                    findProducts,
		"productVariants":             findVariants,
		"orders":                      findOrders,
		"subscriptionContracts":       findContracts,
		"subscriptionBillingAttempts": findAttempts,
		"subscriptionBillingCycle": func(x *exec, _ any, a args) any {
			in := a.object("billingCycleInput")
			c, sel, refused := x.cycleInput(in)
			if refused != nil || c == nil {
				return object{kind: "SubscriptionBillingCycle"}
			}
			index, code := x.s.choose(c, sel)
			if code != "" {
				return object{kind: "SubscriptionBillingCycle"}
			}
			return cycleObject(c, index)
		},
		"subscriptionBillingCycles": listCycles,
		"webhookSubscriptions":      findSubscriptions,
		"currentAppInstallation":    func(x *exec, _ any, _ args) any { return object{"AppInstallation", x.at} },
	}
}

func (x *exec) subscription(id int64) *subscription {
	w, ok := ownByID(x, &x.shop.subscriptions, id)
	if !ok || w.Removed {
		return nil
	}
	return w
}

// node returns any object by its graph id; null when there is none.
func (x *exec) node(id string) object {
	kind, n := typeIn(id), gid.Number(id)
	sh := x.shop
	switch kind {
	case "SubscriptionContract":
		v, _ := ownByID(x, &sh.contracts, n)
		return contractObject(v)
	case "SubscriptionBillingAttempt":
		v, _ := ownByID(x, &sh.attempts, n)
		return attemptObject(v)
	case "SubscriptionDraft":
		v, _ := ownByID(x, &sh.drafts, n)
		return draftObject(sh, v)
	case "Customer":
		v, _ := sh.customers.get(n)
		return typed(kind, v)
	case "Order":
		v, _ := sh.orders.get(n)
		return typed(kind, v)
	case "Product":
		v, _ := sh.products.get(n)
		return typed(kind, v)
	case "ProductVariant":
		v, _ := sh.variants.get(n)
		return typed(kind, v)
	case "SellingPlanGroup":
		v, _ := ownByID(x, &sh.planGroups, n)
		return typed(kind, v)
	case "WebhookSubscription":
		return typed(kind, x.subscription(n))
	case "CustomerPaymentMethod":
		return methodObject(sh, args{"id": id}.tail("id"), true)
	case "Shop":
		if n == sh.ID {
			return typed(kind, sh)
		}
		return object{kind: kind}
	}
	if o, ok := x.profileNode(kind, id); ok {
		return o
	}
	if d := x.s.schema.Types[kind]; d == nil || !slices.Contains(d.Interfaces, "Node") {
		x.fail(codeNotFound, "Invalid id: %s", id)
		return object{kind: "Node"}
	}
	x.fail(codeNotSimulated, "The simulator does not simulate nodes of type %s.", kind)
	return object{kind: kind}
}

// contracts is a connection of contracts.
func (x *exec) contracts(list []*contract, a args) *page {
	entries := make([]entry, len(list))
	for i, c := range list {
		e := entry{id: c.ID, node: contractObject(c)}
		switch a.text("sortKey") {
		case "UPDATED_AT":
			e.sort = c.UpdatedAt.Unix()
		case "STATUS":
			e.sort = int64(slices.Index([]string{statusActive, statusCancelled, statusExpired, statusFailed, statusPaused}, c.Terms.Status))
		case "ID":
		default:
			e.sort = c.CreatedAt.Unix()
		}
		entries[i] = e
	}
	return x.paginate("SubscriptionContract", entries, a)
}

func findContracts(x *exec, _ any, a args) any {
	list := search(x, ownOf(x, x.shop.contracts.order), a.text("query"), func(c *contract, t term) (ok, known bool) {
		switch t.key {
		case "updated_at":
			return t.matchTime(c.UpdatedAt), true
		case "created_at":
			return t.matchTime(c.CreatedAt), true
		case "status":
			return t.matchText(c.Terms.Status), true
		case "customer_id":
			return t.matchID(c.Customer), true
		case "id":
			return t.matchID(c.ID), true
		case "product_variant_id":
			return slices.ContainsFunc(c.Terms.Lines, func(l line) bool { return t.matchID(l.Variant) }), true
		case "last_billing_attempt_error_type":
			return t.matchText(c.LastError), true
		}
		return false, false
	})
	return x.contracts(list, a)
}

func findAttempts(x *exec, _ any, a args) any {
	list := search(x, ownOf(x, x.shop.attempts.order), a.text("query"), func(t *attempt, q term) (ok, known bool) {
		switch q.key {
		case "created_at":
			return q.matchTime(t.CreatedAt), true
		case "completed_at":
			return q.matchTime(t.CompletedAt), true
		case "id":
			return q.matchID(t.ID), true
		}
		return false, false
	})
	return x.attempts(list, a)
}

func findOrders(x *exec, _ any, a args) any {
	list := search(x, x.shop.orders.order, a.text("query"), func(o *order, t term) (ok, known bool) {
		switch t.key {
		case "created_at", "processed_at", "updated_at":
			return t.matchTime(o.CreatedAt), true
		case "id":
			return t.matchID(o.ID), true
		case "name":
			return t.matchText(o.Name) || t.matchText(strconv.FormatInt(o.Number, 10)), true
		case "customer_id":
			return t.matchID(o.Customer), true
		case "email":
			return t.matchText(o.customer.Email), true
		case "tag":
			return slices.ContainsFunc(o.Tags, t.matchText), true
		case "discount_code":
			return slices.ContainsFunc(o.Codes, t.matchText), true
		}
		return false, false
	})
	return x.orders(list, a)
}

// candidates returns the customers among which a search looks: those with the addresses, when it
// is for e-mail addresses alone.
func (x *exec) candidates(terms []term) []*customer {
	if len(terms) != 1 || terms[0].key != "email" || terms[0].op != "" {
		return x.shop.customers.order
	}
	var found []*customer
	for _, t := range append(terms, terms[0].or...) {
		if strings.HasSuffix(t.value, "*") || t.op != "" {
			return x.shop.customers.order
		}
		if c := x.shop.byEmail[strings.ToLower(t.value)]; c != nil && !slices.Contains(found, c) {
			found = append(found, c)
		}
	}
	return found
}

func findCustomers(x *exec, _ any, a args) any {
	terms := x.parseSearch(a.text("query"))
	list := satisfying(x, x.candidates(terms), terms, func(c *customer, t term) (ok, known bool) {
		switch t.key {
		case "email":
			return t.matchText(c.Email), true
		case "id":
			return t.matchID(c.ID), true
		case "updated_at":
			return t.matchTime(c.UpdatedAt), true
		case "tag":
			return slices.ContainsFunc(c.Tags, t.matchText), true
		}
		return false, false
	})
	entries := make([]entry, len(list))
	for i, c := range list {
		entries[i] = entry{0, c.ID, typed("Customer", c)}
	}
	return x.paginate("Customer", entries, a)
}

func findProducts(x *exec, _ any, a args) any {
	list := search(x, x.shop.products.order, a.text("query"), func(p *product, t term) (ok, known bool) {
		switch t.key {
		case "id":
			return t.matchID(p.ID), true
		case "title":
			return t.matchWords(p.Title), true
		case "status":
			return t.matchText(p.Status), true
		case "updated_at":
			return t.matchTime(p.UpdatedAt), true
		}
		return false, false
	})
	entries := make([]entry, len(list))
	for i, p := range list {
		entries[i] = entry{0, p.ID, typed("Product", p)}
	}
	return x.paginate("Product", entries, a)
}

func findVariants(x *exec, _ any, a args) any {
	list := search(x, x.shop.variants.order, a.text("query"), func(v *variant, t term) (ok, known bool) {
		switch t.key {
		case "id":
			return t.matchID(v.ID), true
		case "product_id":
			return t.matchID(v.Product), true
		case "sku":
			return t.matchText(v.SKU), true
		case "title":
			return t.matchText(v.Title) || t.matchText(v.product.Title), true
		}
		return false, false
	})
	return x.variants(list, a)
}

func findSubscriptions(x *exec, _ any, a args) any {
	topics := a.texts("topics")
	address := or(a.text("uri"), a.text("callbackUrl"))
	if a.has("query") {
		x.fail(codeNotSimulated, "The simulator does not simulate searches for webhook subscriptions.")
	}
	var entries []entry
	for _, w := range ownOf(x, x.shop.subscriptions.order) {
		if w.Removed || (len(topics) > 0 && !slices.Contains(topics, w.Topic)) || (address != "" && w.URI != address) {
			continue
		}
		entries = append(entries, entry{0, w.ID, typed("WebhookSubscription", w)})
	}
	return x.paginate("WebhookSubscription", entries, a)
}

// cycleInput reads the input that names a cycle of a contract. The contract is
// nil when the store has none of that id.
func (x *exec) cycleInput(in args) (*contract, selector, *userError) {
	n, ok := x.id(in, "contractId", "SubscriptionContract")
	if !ok {
		return nil, selector{}, nil
	}
	sel, refused := selectorOf(in.object("selector"))
	if refused != nil {
		return nil, sel, refused
	}
	c, _ := ownByID(x, &x.shop.contracts, n)
	return c, sel, nil
}

func selectorOf(in args) (selector, *userError) {
	if in.has("index") == in.has("date") {
		return selector{}, &userError{Code: "INVALID", Field: []string{"billingCycleInput", "selector"}, Message: "Billing cycle selector requires exactly one of index or date to be provided."}
	}
	return selector{index: in.int("index"), date: in.time("date")}, nil
}

// cycleWindow is how many cycles are listed when no range is given, unless a
// page is larger.
const cycleWindow = maxPage

// listCycles lists the cycles of an index range or of a date range.
func listCycles(x *exec, _ any, a args) any {
	n, ok := x.id(a, "contractId", "SubscriptionContract")
	if !ok {
		return nil
	}
	c, found := ownByID(x, &x.shop.contracts, n)
	if !found {
		x.fail(codeNotFound, "Invalid id: %s", a.text("contractId"))
		return nil
	}
	from, to := 1, c.indexAt(x.s.now())+cycleWindow
	switch {
	case a.has("billingCyclesIndexRangeSelector"):
		in := a.object("billingCyclesIndexRangeSelector")
		from, to = in.int("startIndex"), in.int("endIndex")
		if from < 1 || to < from {
			x.fail(codeBadRequest, "The index range from %d to %d is invalid.", from, to)
			return nil
		}
	case a.has("billingCyclesDateRangeSelector"):
		in := a.object("billingCyclesDateRangeSelector")
		start, end := in.time("startDate"), in.time("endDate")
		if end.Before(start) {
			x.fail(codeBadRequest, "The date range is invalid.")
			return nil
		}
		if limit := x.s.opts.Switches.DateRangeLimit; limit > 0 && end.Sub(start) > limit {
			x.fail(codeBadRequest, "The date range is too wide.")
			return nil
		}
		from = max(c.indexAt(start), 1)
		to = c.indexAt(end)
	}
	if limit := x.s.opts.Switches.FutureCycleLimit; limit > 0 {
		to = min(to, c.indexAt(x.s.now())+limit)
	}
	to = min(to, from+cycleRangeLimit)
	var entries []entry
	for i := from; i <= to; i++ {
		entries = append(entries, entry{0, int64(i), object{kind: "SubscriptionBillingCycle", val: c}})
	}
	p := x.paginate("SubscriptionBillingCycle", entries, a)
	for i, e := range p.entries {
		p.entries[i].node = cycleObject(c, int(e.id))
	}
	return p
}

// cycleRangeLimit bounds an absurd range.
const cycleRangeLimit = 10_000
