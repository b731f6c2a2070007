package simulator

import (
	"slices"
	"time"
)

// ordered returns what a cycle orders: its own terms when it was edited, the
// contract's otherwise. They are not a copy.
func (c *contract) ordered(index int) *terms {
	if r, ok := c.cycles[index]; ok && r.Terms != nil {
		return r.Terms
	}
	return &c.Terms
}

// hasFutureEdits reports whether the running cycle or a later one has terms of
// its own that wait for their order.
func (c *contract) hasFutureEdits(now time.Time) bool {
	running := max(c.indexAt(now), 1)
	for _, r := range c.cycles {
		if r.Terms != nil && !r.Billed && r.Index >= running {
			return true
		}
	}
	return false
}

func futureEdits() *userError {
	return &userError{Code: "HAS_FUTURE_EDITS", Field: []string{"draftId"}, Message: "Cannot update a subscription contract with a current or upcoming billing cycle contract edit."}
}

func editCycleContract(x *exec, _ any, a args) any {
	const kind = "SubscriptionBillingCycleContractEditPayload"
	index, c, refused := x.chosenCycle(a)
	if c == nil && refused == nil {
		return nil
	}
	if refused != nil {
		switch refused.Code {
		case "CYCLE_NOT_FOUND":
			refused.Code = "INVALID"
		case "INVALID":
			refused.Code = "CYCLE_SELECTOR_VALIDATE_ONE_OF"
		}
	} else if c.record(index).Billed {
		refused = &userError{Code: "INVALID", Field: []string{"billingCycleInput"}, Message: "Billing cycle has already been billed."}
	}
	if refused != nil {
		return done(kind, refused, part{"draft", nil})
	}
	return done(kind, nil, part{"draft", draftObject(x.shop, x.s.openCycleDraft(x.shop, c, index))})
}

func (s *Simulator) openCycleDraft(sh *store, c *contract, index int) *draft {
	d := s.openDraft(sh, c)
	d.Cycle, d.CycleEdits, d.Terms = index, c.record(index).Edits, c.ordered(index).clone()
	s.save(d)
	return d
}

func commitCycleDraft(x *exec, _ any, a args) any {
	const kind = "SubscriptionBillingCycleContractDraftCommitPayload"
	d, refused := x.draftArg(a, kind)
	if d == nil {
		return refused
	}
	c, e := x.s.commitCycle(x.shop, d)
	if e != nil {
		return done(kind, e, part{"contract", nil})
	}
	return done(kind, nil, part{"contract", editedObject(c, d.Cycle)})
}

// commitCycle makes a draft what its cycle orders.
func (s *Simulator) commitCycle(sh *store, d *draft) (*contract, *userError) {
	if d.Cycle == 0 {
		return nil, &userError{Code: "BILLING_CYCLE_ABSENT", Field: []string{"draftId"}, Message: "Cannot commit a contract draft with this mutation. Please use SubscriptionDraftCommit."}
	}
	if e := s.checkTerms(sh, d.Terms); e != nil {
		return nil, e
	}
	c, _ := sh.contracts.get(d.Contract)
	r := c.record(d.Cycle)
	switch {
	case r.Billed:
		return nil, &userError{Code: "INVALID", Field: []string{"draftId"}, Message: "Billing cycle has already been billed."}
	case c.Revision != d.Revision || r.Edits != d.CycleEdits:
		return nil, stale()
	}
	t := d.Terms.settled(c.ordered(d.Cycle))
	s.redeemed(sh, d.Terms.Discounts)
	before := r.edited()
	r.Terms = &t
	r.Edits++
	r.EditedAt = s.now()
	s.save(r)
	d.Committed = true
	s.save(d)
	s.emitEdit(c, d.Cycle, before, true)
	return c, nil
}

func stale() *userError {
	return &userError{Code: "STALE_CONTRACT", Field: []string{"draftId"}, Message: "Another operation updated the contract concurrently as the commit was in progress."}
}

func deleteCycleEdit(x *exec, _ any, a args) any {
	const kind = "SubscriptionBillingCycleEditDeletePayload"
	index, c, refused := x.chosenCycle(a)
	if c == nil && refused == nil {
		return nil
	}
	if refused == nil {
		refused = x.s.dropEdits(c, []int{index}, "billingCycleInput")
	}
	if refused != nil {
		return done(kind, refused, part{"billingCycles", nil})
	}
	return done(kind, nil, part{"billingCycles", []object{cycleObject(c, index)}})
}

func deleteCycleEdits(x *exec, _ any, a args) any {
	const kind = "SubscriptionBillingCycleEditsDeletePayload"
	c, ok := x.contractArg(a, "contractId")
	if !ok {
		return nil
	}
	if c == nil {
		return done(kind, noContract("contractId"), part{"billingCycles", nil})
	}
	var edited []int
	running := max(c.indexAt(x.s.now()), 1)
	for _, i := range sortedKeys(c.cycles) {
		if i >= running && c.cycles[i].edited() {
			edited = append(edited, i)
		}
	}
	if e := x.s.dropEdits(c, edited, "contractId"); e != nil {
		return done(kind, e, part{"billingCycles", nil})
	}
	list := make([]object, len(edited))
	for n, i := range edited {
		list[n] = cycleObject(c, i)
	}
	return done(kind, nil, part{"billingCycles", list})
}

// dropEdits takes back the edits of cycles, of their schedule as well as of what
// they order: of all of them or, when there is one that may not be changed, of
// none.
func (s *Simulator) dropEdits(c *contract, cycles []int, field string) *userError {
	if !slices.ContainsFunc(cycles, func(i int) bool { return c.record(i).edited() }) {
		return &userError{Code: "NO_CYCLE_EDITS", Field: []string{field}, Message: "Billing cycle has no edits."}
	}
	for _, i := range cycles {
		if c.record(i).pending() {
			return &userError{Code: "INCOMPLETE_BILLING_ATTEMPTS", Field: []string{field}, Message: "Billing cycle has incomplete billing attempts in progress."}
		}
	}
	for _, i := range cycles {
		r := c.record(i)
		skipped := r.Skipped
		r.Skipped, r.Expected, r.Terms = false, time.Time{}, nil
		r.Edits++
		s.save(r)
		if skipped {
			s.emitCycle(c, i, "SUBSCRIPTION_BILLING_CYCLES_UNSKIP")
		}
		s.emitEdit(c, i, true, false)
	}
	return nil
}

// edited is what a cycle that was edited orders, as it is shown.
type edited struct {
	contract *contract
	terms    *terms
	index    int
	at       time.Time
}

func editedObject(c *contract, index int) object {
	const kind = "SubscriptionBillingCycleEditedContract"
	r, ok := c.cycles[index]
	if !ok || r.Terms == nil {
		return object{kind: kind}
	}
	return object{kind, edited{c, r.Terms, index, r.EditedAt}}
}

func (r registry) editedContracts() {
	f := fields{
		"createdAt":    get(func(e edited) any { return e.at }),
		"updatedAt":    get(func(e edited) any { return e.at }),
		"currencyCode": get(func(e edited) any { return string(e.contract.Currency) }),
		"customer":     get(func(e edited) any { return typed("Customer", e.contract.customer) }),
		"billingCycles": on(func(x *exec, e edited, a args) any {
			return x.paginate("SubscriptionBillingCycle", []entry{{0, int64(e.index), cycleObject(e.contract, e.index)}}, a)
		}),
		"orders": on(func(x *exec, e edited, a args) any {
			list := slices.DeleteFunc(slices.Clone(e.contract.orders), func(o *order) bool { return o.Cycle != e.index })
			return x.orders(list, a)
		}),
		"app":         always(object{kind: "App"}),
		"appAdminUrl": always(nil),
	}
	f.ordered(func(v any) (*terms, *contract) {
		e := v.(edited)
		return e.terms, e.contract
	})
	r["SubscriptionBillingCycleEditedContract"] = f
}
