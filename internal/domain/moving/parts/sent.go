package parts

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// sent makes plan groups, swap rules and bundles at the other service, over the interface. They are found there
// as here: by their name, by what they do, or by a plan that they have.
type sent struct{ maker }

func (sent) judge(ctx context.Context, j *job, p moving.Part) (list []moving.Finding, err error) {
	f := (*moving.Findings)(&list)
	there, is, err := j.there(ctx, p)
	switch {
	case err != nil && passing(err):
		return nil, err
	case err != nil:
		text, _ := refusal(err)
		f.Add(moving.Stays, "kindUnreadable", "", "What the other service has cannot be read: %s. Set it up there.", text)
		return list, nil
	case p.Kind == moving.RulePart && p.Data.Rule.Off:
		f.Add(moving.Stays, "ruleOff", "", "The rule is switched off, and the interface cannot say so: create it there once it counts.")
		return list, nil
	}
	if p.Kind == moving.RulePart {
		counted(f, *p.Data.Rule)
	}
	if is && p.Kind == moving.GroupPart {
		j.takeGroup(f, *p.Data.Group, there.Name, there.Data.Group.Options)
	}
	return list, nil
}

// counted says what a rule makes of contracts that move: the interface does not tell the other service how many
// orders they had.
func counted(f *moving.Findings, r swap.Rule) {
	if !r.FirstOrder {
		f.Add(moving.Changes, "firstOrderLeft", "updatedFirstOrder", "The rule leaves first orders alone, and contracts that move begin with their first order there: the first one is not swapped.")
	}
	if r.Cycle > 0 {
		f.Add(moving.Changes, "cycleCounted", "forBillingCycle", "The rule names billing cycle %d. Contracts that move begin with cycle 1 there: look at what it makes of them.", r.Cycle)
	}
	if r.Discount == swap.ProductPlan || r.Discount == swap.ProductThenExisting {
		f.Add(moving.Changes, "planDiscountCounted", "discountCarryForward", "The rule takes the discount of the plan. Where that changes after some orders, contracts that move begin with the first order there.")
	}
}

func (sent) make(ctx context.Context, j *job, p *moving.Part) error {
	wanted, err := j.wanted(ctx, p)
	if err != nil {
		return err
	}
	there, is, err := j.there(ctx, wanted)
	if err != nil {
		return err
	}
	if is && p.Kind == moving.BundlePart && !sameBundle(*there.Data.Bundle, *wanted.Data.Bundle) && !p.Has("bundleTaken") {
		f := (*moving.Findings)(&p.Findings)
		f.Add(moving.Changes, "bundleTaken", "sellingPlanIds", "A bundle with one of its plans exists there: it is taken as it is.")
	}
	if !is {
		if there, err = j.Other(j.move.Peer).MakePart(ctx, j.store, wanted, keyOf(*p)); err != nil {
			return err
		}
		delete(j.others, list{p.Kind, p.Line})
	}
	if there.There == "" { // the answer did not say which one it is
		if there, is, err = j.there(ctx, wanted); err == nil && !is {
			err = fault.New(fault.FailedPrecondition, "the other service does not list the %s that it created: look for it there", p.Kind).Entity("move").Code("notListed") // repeating it might create another one
		}
		if err != nil {
			return err
		}
	}
	if p.Here, err = strconv.ParseInt(there.There, 10, 64); err != nil {
		return err
	}
	if p.Kind == moving.GroupPart && there.Data.Group != nil {
		p.Plans = plansOf(*p.Data.Group, there.Data.Group.Options)
	}
	p.Judge(p.Findings)
	return nil
}

// wanted returns a part as it must be at the other service: with the selling plans and the products that count there.
func (j *job) wanted(ctx context.Context, p *moving.Part) (moving.Part, error) {
	is := *p
	switch p.Kind {
	case moving.GroupPart:
		g := *p.Data.Group
		sold, err := j.sold(ctx, g)
		if err != nil {
			return is, err
		}
		g.Products, g.Variants = sold.Products, sold.Variants
		is.Data.Group = &g
	case moving.BundlePart:
		b := *p.Data.Bundle
		var err error
		if b.Plans, err = j.plansOfBundle(ctx, p); err != nil {
			return is, err
		}
		is.Data.Bundle = &b
	}
	return is, nil
}

// there returns what the other service has in the place of a part.
func (j *job) there(ctx context.Context, p moving.Part) (moving.Part, bool, error) {
	all, err := j.listed(ctx, list{p.Kind, p.Line})
	if err != nil {
		return moving.Part{}, false, err
	}
	made, err := j.made(ctx, p.Kind)
	if err != nil {
		return moving.Part{}, false, err
	}
	at := slices.IndexFunc(all, func(o moving.Part) bool {
		taken := slices.ContainsFunc(made, func(m moving.Part) bool { return m.Line == p.Line && fmt.Sprint(m.Here) == o.There })
		return takesPlace(o, p) && (!taken || p.Kind == moving.GroupPart)
	})
	if at < 0 {
		return moving.Part{}, false, nil
	}
	return all[at], true, nil
}

// takesPlace reports whether a part of the other service is what another one would become there.
func takesPlace(there, p moving.Part) bool {
	switch p.Kind {
	case moving.GroupPart:
		return strings.EqualFold(strings.TrimSpace(there.Name), strings.TrimSpace(p.Data.Group.Terms.Name))
	case moving.RulePart:
		return sameRule(*there.Data.Rule, *p.Data.Rule)
	}
	has, wanted := there.Data.Bundle, p.Data.Bundle
	if len(wanted.Plans) == 0 {
		return sameBundle(*has, *wanted)
	}
	return slices.ContainsFunc(wanted.Plans, func(plan int64) bool { return slices.Contains(has.Plans, plan) })
}

// listed returns all parts of a list of the other service, as they were when this step asked first.
func (j *job) listed(ctx context.Context, of list) ([]moving.Part, error) {
	if all, known := j.others[of]; known {
		return all, nil
	}
	all := []moving.Part{}
	seen := map[string]bool{}
	for n := 0; len(all) < mostListed; n++ {
		page, err := j.Other(j.move.Peer).Parts(ctx, j.store, of.kind, of.line, n)
		if err != nil {
			return nil, err
		}
		fresh := 0
		for _, p := range page.Parts {
			if !seen[p.There] {
				seen[p.There] = true
				all = append(all, p)
				fresh++
			}
		}
		if !page.More || fresh == 0 { // a service that ignores the page lists the first one for ever
			break
		}
	}
	if j.others == nil {
		j.others = map[list][]moving.Part{}
	}
	j.others[of] = all
	return all, nil
}

// keyOf returns the key under which a part is made at the other service.
func keyOf(p moving.Part) string {
	return strings.ToLower(fmt.Sprintf("move-%d-%s-%s-%s", p.Move, p.Kind, p.Line, p.There))
}

// sentMembers makes members of the loyalty programme at the other service. Their balances there change by what they have
// here beyond the points that were brought from there.
type sentMembers struct{}

func (sentMembers) judge(ctx context.Context, j *job, p moving.Part) (list []moving.Finding, err error) {
	m := *p.Data.Member
	f := (*moving.Findings)(&list)
	if m.Excluded {
		f.Add(moving.Stays, "memberExcluded", "customerStatus", "The customer does not take part in the programme here.")
		return list, nil
	}
	if m.Available < 0 {
		f.Add(moving.Changes, "pointsNegative", "availablePoints", "The balance is %s points: it counts as none.", m.Available)
	}
	if m.Pending > 0 {
		f.Add(moving.Changes, "pointsPending", "pendingPoints", "%s points are pending here and are not carried over: add them by hand once they were approved here.", m.Pending)
	}
	has, err := j.Other(j.move.Peer).Member(ctx, j.store, m.Customer)
	switch {
	case fault.Is(err, fault.NotFound):
		return list, nil
	case err != nil && passing(err):
		return nil, err
	case err != nil:
		text, _ := refusal(err)
		f.Add(moving.Stays, "memberUnreadable", "", "The member cannot be read there: %s.", text)
	case has.Excluded:
		f.Add(moving.Stays, "customerExcluded", "customerStatus", "The customer is excluded from the programme there.")
	case m.Brought != 0:
		f.Add(moving.Changes, "memberExists", "", "The customer is a member there with %s points. They change by %s: the member has %s here, and %s were brought from there or sent there before.", has.Available, gained(m), m.Available, m.Brought)
	default:
		f.Add(moving.Changes, "memberExists", "", "The customer is a member there with %s points: those from here are added.", has.Available)
	}
	return list, nil
}

// gained returns by how many points the balance at the other service changes.
func gained(m moving.Member) loyalty.Points { return max(m.Available, 0) - m.Brought }

func (sentMembers) changed(_, is moving.PartData) string {
	if is.Member == nil || gained(*is.Member) == 0 {
		return ""
	}
	return fmt.Sprintf("the member has %s points more or less", gained(*is.Member))
}

func (sentMembers) make(ctx context.Context, j *job, p *moving.Part) error {
	m := *p.Data.Member
	other := j.Other(j.move.Peer)
	has, err := other.Member(ctx, j.store, m.Customer)
	if fault.Is(err, fault.NotFound) {
		if err = other.Enrol(ctx, j.store, m, keyOf(*p)); fault.Is(err, fault.NotFound) {
			return fault.Because(fault.FailedPrecondition, err, "the other service enrols only customers with a contract: make the member once contracts have moved").Entity("move").Code("memberTooEarly")
		}
		if err == nil {
			has, err = other.Member(ctx, j.store, m.Customer) // the programme may give points to new members
		}
	}
	if err != nil {
		return err
	}
	if m.Before == nil { // as it was before the first attempt, whose answer may be lost
		m.Before, m.By = &has.Available, gained(m)
		m.Changes++
		p.Data.Member, p.BegunAt = &m, j.now
		if err := j.put(ctx, *p); err != nil {
			return err
		}
	}
	by, done := m.By, has.Available-*m.Before
	if by > 0 && done < by || by < 0 && done > by {
		if err := other.ChangePoints(ctx, j.store, m.Customer, by, "Balance at the service that the store leaves", fmt.Sprintf("%s-points-%d", keyOf(*p), m.Changes)); err != nil {
			if !passing(err) { // it was not carried out: the next attempt is another change
				m.Before, m.By = nil, 0
				p.Data.Member = &m
			}
			return err
		}
	}
	p.Here, p.Name = m.Customer, ""
	p.Data.Member = &moving.Member{ // the rest is no longer needed
		Customer: m.Customer, Available: m.Available, Brought: m.Brought + by, Sent: m.Sent + by, Changes: m.Changes, Pending: m.Pending, Earned: m.Earned,
	}
	return nil
}
