package shopify

import (
	"context"
	"fmt"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
)

// Charge asks for all charges in one document. When the fate of one of them is
// unknown, all of them are: repeating the call with the same keys tells.
//
// The platform limits charges by a second count of its own: a charge over it is
// refused with the code THROTTLED.
func (c *Client) Charge(ctx context.Context, shop platform.Shop, charges []platform.Charge) ([]platform.ChargeAnswer, error) {
	if len(charges) > platform.MaxCharges {
		return nil, fmt.Errorf("make %d charges at once: at most %d", len(charges), platform.MaxCharges)
	}
	if len(charges) == 0 {
		return nil, nil
	}
	var vars variables
	for i := range charges {
		vars.add("contract", i, gid.Of(typeContract, charges[i].Contract))
		vars.add("charge", i, chargeInput(&charges[i]))
	}
	encoded, err := vars.object()
	if err != nil {
		return nil, err
	}
	data := make(map[string]*admin.ChargeFields, len(charges))
	errs, err := c.session(shop).ask(ctx, c.charges[len(charges)], encoded, &data)
	if err != nil {
		return nil, fmt.Errorf("make %d charges: %w", len(charges), err)
	}
	answers := make([]platform.ChargeAnswer, len(charges))
	for i := range charges {
		alias := "charge" + strconv.Itoa(i)
		answers[i], err = chargeAnswer(charges[i].Contract, alias, data[alias], errs)
		if err != nil {
			return nil, fmt.Errorf("charge for cycle %d of contract %d: %w", charges[i].Index, charges[i].Contract, err)
		}
	}
	return answers, nil
}

func chargeInput(c *platform.Charge) admin.SubscriptionBillingAttemptInput {
	return admin.SubscriptionBillingAttemptInput{
		IdempotencyKey: c.Key,
		// Without it the platform takes the cycle that it thinks is current.
		BillingCycleSelector: &admin.SubscriptionBillingCycleSelector{Index: c.Index},
	}
}

// chargeAnswer returns what became of one charge. It fails with
// platform.ErrUnknown unless the answer says for certain.
func chargeAnswer(contract int64, alias string, f *admin.ChargeFields, errs []graphError) (platform.ChargeAnswer, error) {
	if f != nil && f.SubscriptionBillingAttempt != nil {
		a, err := newAttempt(f.SubscriptionBillingAttempt, contract)
		if err != nil {
			return platform.ChargeAnswer{}, err
		}
		return platform.ChargeAnswer{Attempt: &a}, nil
	}
	if f != nil {
		if r, ok := refused(f.UserErrors); ok {
			return platform.ChargeAnswer{Refused: r}, nil
		}
	}
	for _, e := range errs {
		if e.Path.root != alias {
			continue
		}
		if r, ok := e.refusal(); ok {
			return platform.ChargeAnswer{Refused: r}, nil
		}
		return platform.ChargeAnswer{}, unknown(e.err())
	}
	return platform.ChargeAnswer{}, errNoPayload()
}
