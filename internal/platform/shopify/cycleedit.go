package shopify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// EditCycle does for one cycle what EditContract does for all.
func (c *Client) EditCycle(ctx context.Context, shop platform.Shop, of platform.CycleRef, e platform.Edit) (platform.CycleOrder, error) {
	o, err := c.session(shop).editCycle(ctx, of, &e)
	return o, about(err, "edit cycle %d of contract %d", of.Index, of.Contract)
}

func (s session) editCycle(ctx context.Context, of platform.CycleRef, e *platform.Edit) (platform.CycleOrder, error) {
	ops := draftOps(e)
	if len(ops) == 0 {
		return s.cycleOrder(ctx, of)
	}
	draft, err := s.prepare(ctx, e.Revision, ops, func() (*admin.Draft, error) {
		got, err := admin.OpenCycleDraft(ctx, s, newCycleInput(of))
		if err != nil {
			return nil, err
		}
		if got.Draft == nil {
			return nil, errNoPayload()
		}
		d, err := opened(got.Draft.Draft, got.Draft.UserErrors)
		if err == nil && e.Was != nil {
			err = s.stillOrders(ctx, of, e.Was)
		}
		return d, err
	})
	if err != nil {
		return platform.CycleOrder{}, err
	}
	raw, err := s.commit(ctx, "CommitCycleDraft", admin.CommitCycleDraft_Operation, draft)
	if err != nil {
		return platform.CycleOrder{}, err
	}
	var n orderedNode
	if isNull(raw) {
		n.Lines.PageInfo.HasNextPage = true // all of it is yet to be read
	} else if err := json.Unmarshal(raw, &n); err != nil {
		return platform.CycleOrder{}, unknown(err)
	}
	if n.more() {
		o, err := s.cycleOrder(ctx, of)
		return o, afterwards(err)
	}
	o, err := newOrdered(&n, n.Lines.Nodes)
	o.CycleRef, o.Edited = of, true
	return o, err
}

// stillOrders refuses an edit of a cycle that orders other lines than those. A
// draft of the edit is open: what others commit after this reading, or committed
// just before it, keeps the draft from being taken.
func (s session) stillOrders(ctx context.Context, of platform.CycleRef, lines []platform.Line) error {
	now, err := s.cycleOrder(ctx, of)
	if err != nil {
		return err
	}
	same := slices.EqualFunc(now.Lines, lines, func(a, b platform.Line) bool {
		return a.ID == b.ID && a.VariantID == b.VariantID && a.Quantity == b.Quantity && a.Price == b.Price
	})
	if !same {
		return errStale()
	}
	return nil
}

func newCycleInput(of platform.CycleRef) admin.SubscriptionBillingCycleInput {
	return cycleInput(of.Contract, of.Index)
}

// CycleOrder reads what a cycle will order, however many pages its lines take.
func (c *Client) CycleOrder(ctx context.Context, shop platform.Shop, of platform.CycleRef) (platform.CycleOrder, error) {
	o, err := c.session(shop).cycleOrder(ctx, of)
	return o, about(err, "read the order of cycle %d of contract %d", of.Index, of.Contract)
}

// cycleNode is a cycle with what it will order.
type cycleNode struct {
	Skipped  bool         `json:"skipped"`
	Expected time.Time    `json:"billingAttemptExpectedDate"`
	Edited   *orderedNode `json:"editedContract"`
	Source   *struct {
		orderedNode
		Revision wire.Number `json:"revisionId"`
	} `json:"sourceContract"`
}

// ordered returns what the cycle will order; nil when the answer lacks it.
func (n *cycleNode) ordered() *orderedNode {
	if n.Edited != nil || n.Source == nil {
		return n.Edited
	}
	return &n.Source.orderedNode
}

// revision returns that of the contract; 0 when the answer lacks it.
func (n *cycleNode) revision() uint64 {
	if n.Source == nil {
		return 0
	}
	return uint64(n.Source.Revision)
}

func (s session) cycleOrder(ctx context.Context, of platform.CycleRef) (platform.CycleOrder, error) {
	var whole *orderedNode
	var lines []lineNode
	edited, revision, after := false, uint64(0), ""
	for {
		n, err := s.cycleNode(ctx, of, after)
		if err != nil {
			return platform.CycleOrder{}, err
		}
		page := n.ordered()
		if page == nil {
			return platform.CycleOrder{}, errNoPayload()
		}
		if whole == nil {
			whole, edited, revision = page, n.Edited != nil, n.revision()
		}
		if edited != (n.Edited != nil) || revision != n.revision() {
			return platform.CycleOrder{}, fmt.Errorf("%w: the cycle changed while it was read", platform.ErrUnknown)
		}
		lines = append(lines, page.Lines.Nodes...)
		if !page.more() {
			break
		}
		after = page.Lines.PageInfo.EndCursor
	}
	o, err := newOrdered(whole, lines)
	o.CycleRef, o.Edited, o.Revision = of, edited, revision
	return o, err
}

func (s session) cycleNode(ctx context.Context, of platform.CycleRef, after string) (*cycleNode, error) {
	got, err := admin.CycleOrder(ctx, s, newCycleInput(of), after)
	if err != nil {
		return nil, err
	}
	if isNull(got.SubscriptionBillingCycle) {
		return nil, platform.ErrNotFound
	}
	n := new(cycleNode)
	if err := json.Unmarshal(got.SubscriptionBillingCycle, n); err != nil {
		return nil, unknown(err)
	}
	return n, nil
}

// DropCycleEdit takes back the edit of what a cycle orders. The platform knows
// only how to take back that and the cycle's schedule together: what was skipped
// or moved is skipped or moved again.
func (c *Client) DropCycleEdit(ctx context.Context, shop platform.Shop, of platform.CycleRef) error {
	return about(c.session(shop).dropCycleEdit(ctx, of), "take back the edit of cycle %d of contract %d", of.Index, of.Contract)
}

func (s session) dropCycleEdit(ctx context.Context, of platform.CycleRef) error {
	before, err := s.cycleNode(ctx, of, "")
	if err != nil || before.Edited == nil {
		return err
	}
	lost, err := s.again(ctx, pauses(ctx), func() error {
		got, err := admin.DropCycleEdit(ctx, s, newCycleInput(of))
		if err != nil {
			return err
		}
		if got.SubscriptionBillingCycleEditDelete == nil {
			return errNoPayload()
		}
		return answered(got.SubscriptionBillingCycleEditDelete.UserErrors)
	})
	if lost {
		err = unsettled(err)
	}
	if _, refused := errors.AsType[*platform.Refusal](err); refused {
		now, unread := s.cycleNode(ctx, of, "")
		switch {
		case unread != nil && lost: // it may be refused because it was done
			return afterwards(unread)
		case unread != nil || now.Edited != nil:
			return err
		}
	} else if err != nil {
		return err
	}
	return afterwards(s.restoreSchedule(ctx, of, before))
}

// restoreSchedule skips or moves a cycle that was skipped or moved before.
func (s session) restoreSchedule(ctx context.Context, of platform.CycleRef, before *cycleNode) error {
	cycles, err := s.client.Cycles(ctx, s.shop, of.Contract, of.Index, of.Index)
	if err != nil {
		return err
	}
	if len(cycles) != 1 {
		return errors.New("the cycle is gone")
	}
	now := cycles[0]
	switch {
	case before.Skipped && !now.Skipped:
		return s.client.SkipCycle(ctx, s.shop, of.Contract, of.Index)
	case !before.Skipped && !before.Expected.Equal(now.Expected):
		err := s.client.MoveCycle(ctx, s.shop, of.Contract, of.Index, before.Expected)
		if _, refused := errors.AsType[*platform.Refusal](err); refused { // its calendar has changed since
			return nil
		}
		return err
	}
	return nil
}
