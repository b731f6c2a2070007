package shopify

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
)

var _ platform.Rewards = (*Client)(nil)

// CreateDiscountCode makes a discount code, or finds the one that an earlier call
// made.
func (c *Client) CreateDiscountCode(ctx context.Context, shop platform.Shop, d platform.DiscountCode) (string, error) {
	var value admin.DiscountCustomerGetsValueInput
	if d.Percent > 0 {
		value.Percentage = float64(d.Percent) / 100
	} else {
		value.DiscountAmount = &admin.DiscountAmountInput{Amount: d.Amount.String()}
	}
	var minimum *admin.DiscountMinimumRequirementInput
	if d.MinPurchase.Minor > 0 {
		minimum = &admin.DiscountMinimumRequirementInput{
			Subtotal: &admin.DiscountMinimumSubtotalInput{GreaterThanOrEqualToSubtotal: d.MinPurchase.String()},
		}
	}
	var ends *time.Time
	if !d.EndsAt.IsZero() {
		at := d.EndsAt.UTC()
		ends = &at
	}
	s := c.session(shop)
	got, err := admin.CreateRewardCode(ctx, s, d.Code, d.Title, gid.Of("Customer", d.Customer), d.StartsAt.UTC(), ends, value, minimum, d.Combines)
	if err != nil {
		return "", about(err, "make discount code for customer %d", d.Customer)
	}
	made := got.DiscountCodeBasicCreate
	switch {
	case made == nil:
		err = errNoPayload()
	case len(made.UserErrors) > 0:
		err = answered(made.UserErrors)
	case made.CodeDiscountNode == nil:
		err = errNoPayload()
	default:
		return made.CodeDiscountNode.Id, nil
	}
	if r, ok := errors.AsType[*platform.Refusal](err); ok && r.Code == codeTaken {
		return s.discountOf(ctx, d)
	}
	return "", about(err, "make discount code for customer %d", d.Customer)
}

// discountOf returns the graph id of the discount that has a code.
func (s session) discountOf(ctx context.Context, d platform.DiscountCode) (string, error) {
	got, err := admin.RewardCode(ctx, s, d.Code)
	if err == nil && got.CodeDiscountNodeByCode == nil {
		err = platform.ErrNotFound // taken, and gone when it was looked for
	}
	if err != nil {
		return "", about(err, "find the discount code of customer %d", d.Customer)
	}
	return got.CodeDiscountNodeByCode.Id, nil
}

// EndDiscountCode deactivates a discount.
func (c *Client) EndDiscountCode(ctx context.Context, shop platform.Shop, id string) error {
	got, err := admin.EndRewardCode(ctx, c.session(shop), id)
	if err == nil {
		if p := got.DiscountCodeDeactivate; p == nil {
			err = errNoPayload()
		} else {
			err = answered(p.UserErrors)
		}
	}
	return about(err, "end discount %s", id)
}

// OrderWithCode searches the orders for a code. The search may find more than was
// asked for: what the order says of its codes counts.
func (c *Client) OrderWithCode(ctx context.Context, shop platform.Shop, code string) (platform.OrderRef, time.Time, error) {
	got, err := admin.OrdersWithCode(ctx, c.session(shop), "discount_code:'"+strings.ReplaceAll(code, "'", "")+"'")
	if err != nil {
		return platform.OrderRef{}, time.Time{}, about(err, "find the order with a discount code")
	}
	for _, o := range got.Orders.Nodes {
		if slices.ContainsFunc(o.DiscountCodes, func(is string) bool { return strings.EqualFold(is, code) }) {
			return platform.OrderRef{ID: gid.Number(o.Id), Name: o.Name}, o.CreatedAt, nil
		}
	}
	return platform.OrderRef{}, time.Time{}, nil
}
