package parts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// groups moves plan groups. A group is found here by its name, on its line.
type groups struct{}

func (groups) judge(ctx context.Context, j *job, p moving.Part) (list []moving.Finding, err error) {
	g := p.Data.Group
	f := (*moving.Findings)(&list)
	here, is, err := j.groupNamed(ctx, line(p), g.Terms.Name)
	if err != nil {
		return nil, err
	}
	if is {
		j.takeGroup(f, *g, here.Name, here.Options)
		return list, nil
	}
	d := draft(*g)
	if _, changed := (plan.Draft{Terms: g.Terms, Options: g.Options}).Supported(); changed {
		f.Add(moving.Changes, "notSupported", "rulesJson", "Nothing follows from rulesJson here: it is left out.")
	}
	d.Settle()
	if err := d.Validate(); err != nil {
		text, _ := refusal(err)
		f.Add(moving.Stays, "groupInvalid", "subscriptionPlans", "The group cannot be made here: %s.", text)
		return list, nil
	}
	sold, err := j.sold(ctx, *g)
	if err != nil {
		return nil, err
	}
	if gone := len(g.Products) + len(g.Variants) - len(sold.Products) - len(sold.Variants); gone > 0 {
		f.Add(moving.Changes, "productsGone", "productIds", "The store no longer has %d of the products and variants: they are left out.", gone)
	}
	return list, nil
}

// make makes a group with its first products, and adds the others.
func (groups) make(ctx context.Context, j *job, p *moving.Part) error {
	g := *p.Data.Group
	here, is, err := j.groupNamed(ctx, line(*p), g.Terms.Name)
	if err != nil {
		return err
	}
	ours := !p.BegunAt.IsZero() && !here.CreatedAt.Before(p.BegunAt)
	if is && !ours {
		p.Here, p.Plans = int64(here.ID), plansOf(g, here.Options)
		return nil
	}
	sold, err := j.sold(ctx, g)
	if err != nil {
		return err
	}
	if !is {
		if err := j.settled(ctx, g.Terms.Name); err != nil {
			return err
		}
		p.BegunAt = j.now
		if err := j.put(ctx, *p); err != nil {
			return err
		}
		first := platform.Assigned{Products: upTo(sold.Products, platform.MaxAssigned), Variants: upTo(sold.Variants, platform.MaxAssigned)}
		if here, err = j.Plans.Create(ctx, j.store.ID, plan.CreateCommand{Line: line(*p), Draft: draft(g), Sold: first, Actor: activity.System}); err != nil {
			return err
		}
	}
	if len(here.Products) < len(sold.Products) || len(here.Variants) < len(sold.Variants) {
		here, err = j.Plans.Update(ctx, j.store.ID, plan.UpdateCommand{Line: line(*p), ID: here.ID, Assign: plan.Assignment{Add: sold}, Actor: activity.System})
		if err != nil {
			return err
		}
	}
	p.Here, p.Plans = int64(here.ID), plansOf(g, here.Options)
	return nil
}

func (groups) changed(was, is moving.PartData) string {
	if is.Group == nil || was.Group == nil {
		return ""
	}
	var what []string
	if was.Group.Terms != is.Group.Terms {
		what = append(what, "its name, tags or texts")
	}
	if !slices.Equal(was.Group.Options, is.Group.Options) {
		what = append(what, "its plans")
	}
	if !slices.Equal(was.Group.Products, is.Group.Products) || !slices.Equal(was.Group.Variants, is.Group.Variants) {
		what = append(what, "its products")
	}
	return strings.Join(what, ", ")
}

// groupNamed returns the group of a line with a name, the oldest one.
func (j *job) groupNamed(ctx context.Context, of shop.Line, name string) (plan.Group, bool, error) {
	list, _, err := j.PlanBook.PlanGroups(ctx, j.store.ID, of, page.Request{Size: mostListed})
	if err != nil {
		return plan.Group{}, false, err
	}
	at := slices.IndexFunc(list, func(g plan.Group) bool { return strings.EqualFold(strings.TrimSpace(g.Name), strings.TrimSpace(name)) })
	if at < 0 {
		return plan.Group{}, false, nil
	}
	return list[at], true, nil
}

// settled fails while a group with a name is being made: the answer of the platform was lost, and its
// repair will find out.
func (j *job) settled(ctx context.Context, name string) error {
	return j.Plans.Store.View(ctx, j.store.ID, func(tx plan.ReadTx) error {
		waiting, err := tx.WaitingPlanGroups(ctx, j.now.Add(24*time.Hour), mostListed)
		if err != nil {
			return err
		}
		for _, id := range waiting {
			g, err := tx.PlanGroup(ctx, id)
			if err != nil {
				return err
			}
			if g.State == plan.Creating && g.Pending != nil && strings.EqualFold(g.Pending.Terms.Name, name) {
				return fault.New(fault.Unavailable, "the plan group %q is being made", name)
			}
		}
		return nil
	})
}

// sold returns what of a group's products and variants the store has.
func (j *job) sold(ctx context.Context, g moving.Group) (platform.Assigned, error) {
	products, variants, err := j.Platform.Titles(ctx, j.store.At(), platform.Assigned{Products: g.Products, Variants: g.Variants})
	if err != nil {
		return platform.Assigned{}, unavailable(err)
	}
	return plan.Items{Products: products, Variants: variants}.Assigned(), nil
}

// draft returns a group as it is made here, without what has no effect.
func draft(g moving.Group) plan.Draft {
	d, _ := plan.Draft{Terms: g.Terms, Options: g.Options}.Supported()
	for n := range d.Options {
		d.Options[n].ID = 0
	}
	return d
}

// takeGroup says what becomes of a group whose name another one has where it goes.
func (j *job) takeGroup(f *moving.Findings, g moving.Group, name string, options []plan.Option) {
	_, come := j.move.Places()
	f.Add(moving.Changes, "groupTaken", "groupName", "A plan group with the name %q exists %s: it is taken as it is, and contracts go to its plans.", name, come)
	for left, o := range unmatched(g, options) {
		f.Add(moving.Changes, "planUnmatched", "subscriptionPlans", "The group %s has no plan like %q (%d): lines on it keep their price and are on no plan, unless you name the plan that takes its place.", come, o, left)
	}
}

// plansOf returns the plans that take the place of those of a group that leaves: plans with the same
// name, or else the only ones with the same frequency.
func plansOf(left moving.Group, come []plan.Option) moving.PlanMap {
	plans := moving.PlanMap{}
	for _, o := range left.Options {
		if same, is := match(o, come); is {
			plans[o.ID] = same.ID
		}
	}
	return plans
}

func match(o plan.Option, among []plan.Option) (plan.Option, bool) {
	for _, h := range among {
		if strings.EqualFold(h.Name, o.Name) && alike(h, o) {
			return h, true
		}
	}
	var like []plan.Option
	for _, h := range among {
		if alike(h, o) {
			like = append(like, h)
		}
	}
	if len(like) != 1 {
		return plan.Option{}, false
	}
	return like[0], true
}

// alike reports whether two plans charge and deliver equally often.
func alike(a, b plan.Option) bool {
	every := func(o plan.Option) string {
		if o.Billing == (plan.Frequency{}) {
			o.Billing = o.Delivery
		}
		if o.Delivery == (plan.Frequency{}) {
			o.Delivery = o.Billing
		}
		return fmt.Sprint(o.Billing, o.Delivery)
	}
	return every(a) == every(b)
}

// unmatched returns the names of the plans that no plan takes the place of.
func unmatched(left moving.Group, come []plan.Option) map[int64]string {
	plans, names := plansOf(left, come), map[int64]string{}
	for _, o := range left.Options {
		if _, is := plans[o.ID]; !is {
			names[o.ID] = o.Name
		}
	}
	return names
}

func upTo(list []int64, most int) []int64 { return list[:min(len(list), most)] }
