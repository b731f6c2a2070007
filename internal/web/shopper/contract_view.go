package shopper

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// contractView is a contract with what can be done with it.
type contractView struct {
	Contract    record.ContractObject `json:"contract" doc:"The contract."`
	Version     int64                 `json:"version" minimum:"1" doc:"Version of what a shopper sees of the contract: it changes with its status, products, prices, dates, discounts and payment. Send it with a change." example:"12"`
	Permissions []permission          `json:"permissions" nullable:"false" doc:"What the shopper may do with the contract now."`
	Orders      []orderView           `json:"orders" nullable:"false" doc:"Orders to come, and one that was declined, soonest first: what the shopper may do with each."`
	Frozen      bool                  `json:"frozen" doc:"Whether the shopper is held to a number of orders." example:"false"`
	EndsOn      *web.Instant          `json:"pendingCancellationDate" format:"date-time" doc:"When the contract will be cancelled; null when no cancellation waits." example:"2026-12-31T14:00:00Z"`
}

// permission is whether an action may be done now.
type permission struct {
	Action  portal.Action `json:"action" enum:"SKIP,UNSKIP,RESCHEDULE,ORDER_NOW,EDIT_ORDER_NOTE,ADD_ONE_TIME_PRODUCT,EDIT_ONE_TIME_PRODUCT,DECLINE_SWAP,RETRY_PAYMENT,SWAP,CHANGE_QUANTITY,ADD_PRODUCT,REMOVE_PRODUCT,CHANGE_FREQUENCY,PAUSE,RESUME,CANCEL,KEEP,RESTART,EDIT_ADDRESS,EDIT_PAYMENT_METHOD,EDIT_DISCOUNT" doc:"What." example:"SKIP"`
	Allowed bool          `json:"allowed" doc:"Whether it may be done now." example:"true"`
	Key     *string       `json:"errorKey" doc:"Why not, as the operation would answer; null when it may be done." example:"contractFrozen"`
	Reason  *string       `json:"reason" doc:"The same in words; null when it may be done." example:"2 of 3 orders are completed"`
}

// orderView is an order with what can be done with it.
type orderView struct {
	ID          int64        `json:"id" minimum:"1" doc:"The billing attempt." example:"9"`
	Status      string       `json:"status" doc:"Its status." example:"QUEUED"`
	BillingDate *web.Instant `json:"billingDate" format:"date-time" doc:"When it is due." example:"2026-01-31T08:00:00Z"`
	ClosesAt    *web.Instant `json:"changesCloseAt" format:"date-time" doc:"When it can no longer be changed; null when the store has no cut-off." example:"2026-01-29T08:00:00Z"`
	Permissions []permission `json:"permissions" nullable:"false" doc:"What the shopper may do with it now."`
}

type contractViewOut struct{ Body contractView }

func (o Options) getContract(ctx context.Context, in *readContract) (*contractViewOut, error) {
	ref, err := Versioned{}.ref("contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	v, d, err := o.Portal.Detail(ctx, o.who(ctx), ref.ID)
	if err != nil {
		return nil, err
	}
	c := v.State.Contract
	body := contractView{
		Contract: record.NewContractObject(d), Version: c.Fingerprint(), Permissions: permissions(v.Can), Orders: []orderView{}, Frozen: c.InCommitment(v.Shop.Settings),
	}
	if c.Ending != nil {
		body.EndsOn = web.At(c.Ending.At)
	}
	cal, err := v.Shop.Calendar()
	if err != nil {
		return nil, err
	}
	for _, a := range v.Coming() {
		can, err := v.Order(a)
		if err != nil {
			return nil, err
		}
		order := orderView{ID: int64(a.ID), Status: string(a.Status), BillingDate: web.At(a.BillingDate), Permissions: permissions(can)}
		if v.Settings.CutoffDays > 0 {
			order.ClosesAt = web.At(v.Settings.ClosesAt(a.BillingDate, cal))
		}
		body.Orders = append(body.Orders, order)
	}
	return &contractViewOut{body}, nil
}

// permissions writes permissions in the order of the actions. What is switched off is left out.
func permissions(can portal.Permissions) []permission {
	list := []permission{}
	for _, a := range portal.Actions() {
		if !can.Offers(a) {
			continue
		}
		p := permission{Action: a, Allowed: can.Allows(a)}
		if refusal := can[a]; refusal != nil {
			p.Key, p.Reason = web.Some(refusal.ErrorKey), web.Some(refusal.Message)
		}
		list = append(list, p)
	}
	return slices.Clip(list)
}
