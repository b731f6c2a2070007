package shopify

import (
	"context"
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// attemptNode is a billing attempt that was asked for by its id.
type attemptNode struct {
	admin.AttemptFields
	SubscriptionContract struct {
		ID string `json:"id"`
	} `json:"subscriptionContract"`
}

// Attempts returns the billing attempts with the given graph ids, in their
// order. What is not the id of a billing attempt is left out like one that the
// platform does not know.
func (c *Client) Attempts(ctx context.Context, shop platform.Shop, ids []string) ([]platform.Attempt, error) {
	if len(ids) > platform.MaxIDs {
		return nil, fmt.Errorf("read %d billing attempts at once: at most %d", len(ids), platform.MaxIDs)
	}
	var asked []string
	for _, id := range ids {
		if n, err := gid.Parse(typeAttempt, id); err == nil {
			asked = append(asked, gid.Of(typeAttempt, n))
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	var got struct {
		Nodes []*attemptNode `json:"nodes"`
	}
	if err := c.session(shop).nodes(ctx, "Attempts", admin.Attempts_Operation, asked, &got); err != nil {
		return nil, fmt.Errorf("read billing attempts: %w", err)
	}
	if len(got.Nodes) != len(asked) {
		return nil, fmt.Errorf("read billing attempts: %w", errNodes(len(got.Nodes), len(asked)))
	}
	var attempts []platform.Attempt
	for _, n := range got.Nodes {
		if n == nil || n.Id == "" {
			continue
		}
		contract, err := gid.Parse(typeContract, n.SubscriptionContract.ID)
		if err != nil {
			return nil, fmt.Errorf("read billing attempt %s: %w", n.Id, unknown(err))
		}
		a, err := newAttempt(&n.AttemptFields, contract)
		if err != nil {
			return nil, err
		}
		attempts = append(attempts, a)
	}
	return attempts, nil
}

// newAttempt turns what the platform says into ours. An order or an amount that
// cannot be read is platform.ErrUnknown.
func newAttempt(f *admin.AttemptFields, contract int64) (platform.Attempt, error) {
	a := platform.Attempt{
		ID:          f.Id,
		Contract:    contract,
		Key:         f.IdempotencyKey,
		State:       attemptState(f),
		CreatedAt:   f.CreatedAt,
		CompletedAt: f.CompletedAt,
	}
	switch a.State {
	case platform.Failed:
		a.ErrorCode = strings.ToUpper(f.State.Error.Code())
		if a.ErrorCode == "" {
			a.ErrorCode = strings.ToUpper(f.ErrorCode)
		}
		a.ErrorMessage = f.ErrorMessage
		if a.ErrorMessage == "" {
			a.ErrorMessage = f.State.Error.Message
		}
	case platform.Challenged:
		a.NextActionURL = f.State.Action.NextActionURL
		if a.NextActionURL == "" {
			a.NextActionURL = f.NextActionUrl
		}
	case platform.Succeeded:
		order := f.State.Order
		if order == nil {
			order = f.Order
		}
		if err := setOrder(&a, order); err != nil {
			return platform.Attempt{}, fmt.Errorf("read billing attempt %s: %w", f.Id, err)
		}
	case platform.Pending:
	}
	return a, nil
}

// attemptState returns the state by the union, or, when that has a member that
// we do not know, by the older fields.
func attemptState(f *admin.AttemptFields) platform.AttemptState {
	switch f.State.Type {
	case wire.StatePending:
		return platform.Pending
	case wire.StateActionRequired:
		return platform.Challenged
	case wire.StateFailed:
		return platform.Failed
	case wire.StateSuccess:
		return platform.Succeeded
	}
	switch {
	case f.ErrorCode != "":
		return platform.Failed
	case f.Order != nil:
		return platform.Succeeded
	case f.NextActionUrl != "":
		return platform.Challenged
	default:
		return platform.Pending // not known to be over
	}
}

// setOrder puts the order of a successful attempt into a. The platform keeps
// back an order that the token may not read.
func setOrder(a *platform.Attempt, order *wire.Order) error {
	if order == nil {
		return nil
	}
	id, err := gid.Parse(typeOrder, order.ID)
	if err != nil {
		return unknown(err)
	}
	a.Order = platform.OrderRef{ID: id, Name: order.Name}
	a.Amount, err = amount(order.TotalPriceSet.PresentmentMoney)
	return err
}
