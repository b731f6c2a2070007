package platform

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
)

// Rewards makes what customers redeem at the checkout.
type Rewards interface {
	// CreateDiscountCode makes a discount code for one customer and one order
	// and returns the discount's graph id. A code that the store has already
	// is left as it is and its id returned, so that repeating a call is safe.
	CreateDiscountCode(ctx context.Context, shop Shop, c DiscountCode) (id string, err error)
	// EndDiscountCode takes a discount away, so that its code is no longer
	// accepted. Repeating it changes nothing.
	EndDiscountCode(ctx context.Context, shop Shop, id string) error
	// OrderWithCode returns the first order, of a checkout or a renewal, that used
	// a discount code, and when it was made; a zero order when none did.
	OrderWithCode(ctx context.Context, shop Shop, code string) (order OrderRef, at time.Time, err error)
}

// DiscountCode is a discount code to be made. Percent or Amount is set.
type DiscountCode struct {
	Code        string
	Title       string
	Customer    int64
	Percent     int          // off the order
	Amount      money.Amount // off the order, in the store's currency
	MinPurchase money.Amount // 0: any
	StartsAt    time.Time
	EndsAt      time.Time // zero: no end
	Combines    bool      // with discounts of products and of shipping
}
