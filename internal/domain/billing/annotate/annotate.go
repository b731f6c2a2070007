// Package annotate gives orders and customers their tags, and orders their notes, at the
// platform.
package annotate

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/plan"
)

// Order is an order that a charge has just made.
type Order struct {
	billing.Attempt
	Note        string // of the contract
	LinesUnsure bool   // the platform may have made the order with other lines
}

// Orders records the tags and notes for new orders, and reads the lines again where they are
// unsure.
func Orders(ctx context.Context, tx billing.Tx, made []Order, now time.Time) error {
	if len(made) == 0 {
		return nil
	}
	var plans []int64
	for _, o := range made {
		plans = append(plans, billing.SellingPlans(o.Lines)...)
	}
	groups, err := groupsOf(ctx, tx, plans)
	if err != nil {
		return err
	}
	var list []billing.Annotation
	for _, o := range made {
		a := billing.Annotation{Target: gid.Of("Order", o.OrderID), Contract: o.Contract, Attempt: o.ID, DueAt: now}
		if o.LinesUnsure {
			list = append(list, a)
		}
	}
	for _, o := range made {
		a := billing.Annotation{Target: gid.Of("Order", o.OrderID), Contract: o.Contract, Attempt: o.ID, DueAt: now}
		if o.Prep.NoteLeft {
			noted := a
			noted.Note = billing.JoinNotes(o.Note, o.Attempt.Note)
			list = append(list, noted)
		}
		for _, p := range billing.SellingPlans(o.Lines) {
			a.Tags = append(a.Tags, plan.TagsFor(groups[p], true).Order...)
		}
		if a.Tags = billing.Unique(a.Tags); len(a.Tags) > 0 {
			list = append(list, a)
		}
	}
	return tx.PutAnnotations(ctx, list)
}

// FirstOrders records the tags of first orders when contracts begin. It runs in the caller's
// transaction, which must enqueue the task.
func FirstOrders(ctx context.Context, tx billing.Tx, contracts []contract.Contract, now time.Time) error {
	groups, err := groupsOfAll(ctx, tx, contracts)
	if err != nil {
		return err
	}
	var marks []billing.Annotation
	for _, c := range contracts {
		order := billing.Annotation{Target: gid.Of("Order", c.OriginOrderID), Contract: c.ID, DueAt: now}
		for _, p := range billing.SellingPlans(c.Lines) {
			order.Tags = append(order.Tags, plan.TagsFor(groups[p], false).Order...)
		}
		if order.Tags = billing.Unique(order.Tags); len(order.Tags) > 0 && c.OriginOrderID != 0 && c.Orders == 0 {
			marks = append(marks, order)
		}
	}
	return tx.PutAnnotations(ctx, marks)
}

// groupsOfAll returns the groups of all plans of contracts.
func groupsOfAll(ctx context.Context, tx billing.Tx, contracts []contract.Contract) (map[int64]plan.Group, error) {
	var plans []int64
	for _, c := range contracts {
		plans = append(plans, billing.SellingPlans(c.Lines)...)
	}
	return groupsOf(ctx, tx, plans)
}

func groupsOf(ctx context.Context, tx billing.Tx, plans []int64) (map[int64]plan.Group, error) {
	if plans = billing.Unique(plans); len(plans) == 0 {
		return nil, nil
	}
	return tx.PlanGroups(ctx, plans)
}
