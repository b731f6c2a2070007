package billing

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
)

// A customer has the tags that plan groups name for customers who subscribe: those
// of the groups of which one of the customer's contracts is ACTIVE, and no others of
// theirs.

// Subscribed is a selling plan that a running contract of a customer has.
type Subscribed struct {
	Customer int64
	Contract contract.ID
	Plan     int64
}

// AnnotateCustomers notes the tags of customers that contracts may have changed by
// beginning to run, standing still or changing their plans: they are given as they
// were and as they are. It runs inside the caller's transaction, which must ask for
// Work.
func AnnotateCustomers(ctx context.Context, tx Tx, contracts []contract.Contract, now time.Time) error {
	groups, err := groupsOfAll(ctx, tx, contracts)
	if err != nil {
		return err
	}
	var marks []Annotation
	for _, c := range contracts {
		tags := customerTags(groups, plansOf(c.Lines))
		if len(tags) == 0 || c.Customer.ID == 0 {
			continue
		}
		at := slices.IndexFunc(marks, func(m Annotation) bool { return m.Contract == c.ID })
		if at < 0 {
			at, marks = len(marks), append(marks, Annotation{Target: gid.Of(customerType, c.Customer.ID), Contract: c.ID, DueAt: now})
		}
		marks[at].Tags = unique(append(marks[at].Tags, tags...))
	}
	return tx.PutMarks(ctx, marks)
}

const customerType = "Customer"

// customer returns the number of the customer that is to be marked; 0: it is an order.
func (m Annotation) customer() int64 {
	id, err := gid.Parse(customerType, m.Target)
	if err != nil {
		return 0
	}
	return id
}

// SamePlans reports whether lines are on the same selling plans.
func SamePlans(a, b []contract.Line) bool {
	before, after := plansOf(a), plansOf(b)
	return len(before) == len(after) && !slices.ContainsFunc(after, func(p int64) bool { return !slices.Contains(before, p) })
}

func customerTags(groups map[int64]plan.Group, plans []int64) []string {
	var tags []string
	for _, p := range plans {
		tags = append(tags, plan.TagsFor(groups[p], false).Customer...)
	}
	return unique(tags)
}

// tagging is what the platform is told of a mark's tags.
type tagging struct {
	add, remove []string
	silent      bool // a customer keeps what another contract gives
}

func (t tagging) same(u tagging) bool {
	return slices.Equal(t.add, u.add) && slices.Equal(t.remove, u.remove)
}

// taggings decides what becomes of the tags of marks. An order gets them. A customer
// gets those that a running contract gives, and loses the others: whoever is told
// late is told what is true by then.
func taggings(ctx context.Context, tx Tx, marks []Annotation) ([]tagging, error) {
	var customers []int64
	for _, m := range marks {
		if c := m.customer(); c != 0 {
			customers = append(customers, c)
		}
	}
	running, err := tx.Subscribed(ctx, unique(customers))
	if err != nil {
		return nil, err
	}
	var plans []int64
	for _, r := range running {
		plans = append(plans, r.Plan)
	}
	groups, err := groupsOf(ctx, tx, plans)
	if err != nil {
		return nil, err
	}
	words := make([]tagging, len(marks))
	for i, m := range marks {
		if c := m.customer(); c != 0 {
			words[i] = m.decide(c, running, groups)
		} else {
			words[i].add = m.Tags
		}
	}
	return words, nil
}

// decide tells the tags of a customer that are given from those that are taken away.
// The platform makes no difference between letters of both cases.
func (m Annotation) decide(customer int64, running []Subscribed, groups map[int64]plan.Group) tagging {
	var given []string
	t := tagging{silent: true}
	for _, r := range running {
		if r.Customer == customer {
			given = append(given, customerTags(groups, []int64{r.Plan})...)
			t.silent = t.silent && r.Contract != m.Contract
		}
	}
	for _, tag := range m.Tags {
		if slices.ContainsFunc(given, func(g string) bool { return strings.EqualFold(g, tag) }) {
			t.add = append(t.add, tag)
		} else {
			t.remove = append(t.remove, tag)
		}
	}
	t.silent = t.silent && len(t.remove) == 0
	return t
}
