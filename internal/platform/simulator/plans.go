package simulator

import (
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
)

// Limits of groups of selling plans.
const (
	maxPlans           = 31
	maxPlanOptions     = 3
	maxPlanPrices      = 2
	firstPlanGroup     = 8001
	firstPlan          = 6001
	maxPlanInterval    = 365 // of one policy, in its interval; the platform's own limits are not published
	maxResourcesInCall = 250
)

// planGroup is a group of selling plans and what is sold on them.
type planGroup struct {
	Shop        string
	ID          int64
	App         string `json:",omitempty"` // owner
	Code        string // the merchant's
	Name        string
	Description string   `json:",omitempty"`
	Options     []string // labels
	Position    int      `json:",omitempty"`
	Plans       []sellingPlan
	Products    []int64 `json:",omitempty"` // in the order in which they were added
	Variants    []int64 `json:",omitempty"`
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

func (g *planGroup) key() rowKey { return number("planGroup", g.Shop, g.ID) }
func (g *planGroup) gid() string { return gid.Of("SellingPlanGroup", g.ID) }

// clone returns a group that can be changed without this one.
func (g *planGroup) clone() *planGroup {
	c := *g
	c.Options, c.Plans = slices.Clone(g.Options), slices.Clone(g.Plans)
	c.Products, c.Variants = slices.Clone(g.Products), slices.Clone(g.Variants)
	return &c
}

// sellingPlan is one way of buying something again and again.
type sellingPlan struct {
	ID          int64
	Name        string
	Description string   `json:",omitempty"`
	Options     []string // what it says under each label of the group
	Position    int      `json:",omitempty"`
	Category    string   `json:",omitempty"`
	Billing     policy
	Delivery    policy
	Cutoff      int         `json:",omitempty"`
	Behavior    string      // before the first anchor: ASAP or NEXT
	Prices      []planPrice `json:",omitempty"`
	Reserve     string
	CreatedAt   time.Time
}

// planPrice is a pricing policy: a fixed one counts from the first order, a
// recurring one after some orders.
type planPrice struct {
	Recurring bool         `json:",omitempty"`
	After     int          `json:",omitempty"`
	Kind      string       // PERCENTAGE, FIXED_AMOUNT or PRICE
	Percent   float64      `json:",omitempty"`
	Amount    money.Amount `json:",omitzero"`
	CreatedAt time.Time
}

// groupsOf lists the groups in which something is sold.
func (sh *store) groupsOf(is func(g *planGroup) bool) []*planGroup {
	var list []*planGroup
	for _, g := range sh.planGroups.order {
		if is(g) {
			list = append(list, g)
		}
	}
	return list
}

// planName returns the name of a selling plan; empty when the store has none of the
// number.
func (sh *store) planName(plan int64) string {
	if g := sh.groupOfPlan(plan); g != nil {
		return g.Plans[g.planAt(plan)].Name
	}
	return ""
}

// groupOfPlan returns the group of a selling plan; nil when the store has none of the number.
func (sh *store) groupOfPlan(plan int64) *planGroup {
	for _, g := range sh.planGroups.order {
		if g.planAt(plan) >= 0 {
			return g
		}
	}
	return nil
}

// planAt returns where a plan stands in the group, or -1.
func (g *planGroup) planAt(plan int64) int {
	return slices.IndexFunc(g.Plans, func(p sellingPlan) bool { return p.ID == plan })
}

// removePlanGroup forgets a group and its plans. Contracts keep theirs.
func (s *Simulator) removePlanGroup(sh *store, g *planGroup) {
	sh.planGroups.remove(g.ID)
	s.drop(g)
}

// removePlanGroups forgets what an app made in a store that it has left.
func (s *Simulator) removePlanGroups(sh *store, owner string) {
	for _, g := range slices.Clone(sh.planGroups.order) {
		if g.App == owner {
			s.removePlanGroup(sh, g)
		}
	}
}

// startPlans gives a store of an earlier version its first numbers of plans.
func (c *counters) startPlans(base int64) {
	if c.Plan == 0 {
		c.Plan, c.PlanGroup = base+firstPlan, base+firstPlanGroup
	}
}

// summary says what a group offers, in the platform's words.
func (g *planGroup) summary() string {
	frequencies := map[frequency]bool{}
	lowest, highest, percents := 0.0, 0.0, 0
	for _, p := range g.Plans {
		frequencies[frequency{p.Delivery.Interval, p.Delivery.Count}] = true
		for _, price := range p.Prices {
			if price.Kind != "PERCENTAGE" || price.Percent == 0 {
				continue
			}
			if percents == 0 || price.Percent < lowest {
				lowest = price.Percent
			}
			highest = max(highest, price.Percent)
			percents++
		}
	}
	text := strconv.Itoa(len(frequencies)) + " delivery frequenc"
	if len(frequencies) == 1 {
		text += "y"
	} else {
		text += "ies"
	}
	format := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case percents == 0:
	case lowest == highest:
		text += ", " + format(lowest) + "% discount"
	default:
		text += ", " + format(lowest) + "-" + format(highest) + "% discount"
	}
	return text
}

// frequency is how often something comes.
type frequency struct {
	interval string
	count    int
}
