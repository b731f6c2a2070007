package annotate

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
)

// Customers records the tags of customers for contracts that begin, stop or change their plans.
// Contracts are given as they were and as they are. It runs in the caller's transaction, which
// must enqueue the task.
func Customers(ctx context.Context, tx billing.Tx, contracts []contract.Contract, now time.Time) error {
	groups, err := groupsOfAll(ctx, tx, contracts)
	if err != nil {
		return err
	}
	var marks []billing.Annotation
	for _, c := range contracts {
		tags := customerTags(groups, billing.SellingPlans(c.Lines))
		if len(tags) == 0 || c.Customer.ID == 0 {
			continue
		}
		at := slices.IndexFunc(marks, func(m billing.Annotation) bool { return m.Contract == c.ID })
		if at < 0 {
			at, marks = len(marks), append(marks, billing.Annotation{Target: gid.Of(customerType, c.Customer.ID), Contract: c.ID, DueAt: now})
		}
		marks[at].Tags = billing.Unique(append(marks[at].Tags, tags...))
	}
	return tx.PutAnnotations(ctx, marks)
}

const customerType = "Customer"

// customerOf returns the customer that an annotation is for; 0: it is for an order.
func customerOf(m billing.Annotation) int64 {
	id, err := gid.Parse(customerType, m.Target)
	if err != nil {
		return 0
	}
	return id
}

// SamePlans reports whether lines are on the same selling plans.
func SamePlans(a, b []contract.LineItem) bool {
	before, after := billing.SellingPlans(a), billing.SellingPlans(b)
	return len(before) == len(after) && !slices.ContainsFunc(after, func(p int64) bool { return !slices.Contains(before, p) })
}

func customerTags(groups map[int64]plan.Group, plans []int64) []string {
	var tags []string
	for _, p := range plans {
		tags = append(tags, plan.TagsFor(groups[p], false).Customer...)
	}
	return billing.Unique(tags)
}

// tagging is what the platform is asked to do with the tags of an annotation.
type tagging struct {
	add, remove []string
	silent      bool // a customer keeps what another contract gives
}

func (t tagging) same(u tagging) bool {
	return slices.Equal(t.add, u.add) && slices.Equal(t.remove, u.remove)
}

// taggings decides what the tags of annotations become. An order gets them. A customer gets
// those that an ACTIVE contract gives, and loses the others: a late call does what is right
// then.
func taggings(ctx context.Context, tx billing.Tx, marks []billing.Annotation) ([]tagging, error) {
	var customers []int64
	for _, m := range marks {
		if c := customerOf(m); c != 0 {
			customers = append(customers, c)
		}
	}
	running, err := tx.Subscribed(ctx, billing.Unique(customers))
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
		if c := customerOf(m); c != 0 {
			words[i] = decideTags(m, c, running, groups)
		} else {
			words[i].add = m.Tags
		}
	}
	return words, nil
}

// decideTags separates the tags to add to a customer from those to remove. The platform ignores
// the case of letters.
func decideTags(m billing.Annotation, customer int64, running []billing.Subscribed, groups map[int64]plan.Group) tagging {
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
