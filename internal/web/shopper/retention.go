package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

func (o Options) retention(api *web.API) {
	keep := o.operation("createRetentionActivity", http.MethodPost, "/customer-retention-activities", "Retention", "Note what a shopper did about leaving",
		"Keeps what the shopper was offered, took or said when they thought of cancelling. It applies nothing: a discount that is named here is not given. "+
			"retentionAction is free text; the service's own words are KEPT, SKIPPED, PAUSED, DISCOUNT_APPLIED, PRODUCT_SWAPPED, FREQUENCY_CHANGED, QUANTITY_CHANGED, RESCHEDULED, CONTACTED_SUPPORT, CANCEL_SCHEDULED and CANCELLED. "+
			"Of each contract the newest 100 are kept.")
	keep.Body, keep.Errors = retentionBody{}, append(keep.Errors, http.StatusRequestEntityTooLarge)
	web.Register(api, keep, o.keepRetention)
}

// retentionBody is a retention activity as it is sent. What the service fills in
// itself may be sent too and does not count.
type retentionBody struct {
	Shop       string    `json:"shop,omitempty" doc:"Must be the store at which the shopper is." example:"demo.myshopify.com"`
	ContractID web.AnyID `json:"contractId" doc:"The contract: number or graph id."`
	Action     string    `json:"retentionAction" minLength:"1" maxLength:"100" doc:"What the shopper did." example:"KEPT"`
	Reason     *string   `json:"cancellationReason,omitempty" nullable:"true" maxLength:"500" doc:"Why the shopper thought of cancelling." example:"Too much coffee"`
	Discount   *string   `json:"discountApplied,omitempty" nullable:"true" maxLength:"255" doc:"The discount that was offered and taken." example:"20% x 3"`
	Info       *string   `json:"additionalInfo,omitempty" nullable:"true" maxLength:"10000" doc:"Anything else, such as JSON text." example:"{\"flowVersion\":3}"`
}

// retentionActivity is a retention activity as it is kept.
type retentionActivity struct {
	ID         int64        `json:"id" minimum:"1" doc:"The service's number." example:"501"`
	Shop       string       `json:"shop" doc:"The store's domain." example:"demo.myshopify.com"`
	ContractID int64        `json:"contractId" doc:"Number of the contract." example:"9001"`
	At         *web.Instant `json:"activityOn" nullable:"false" format:"date-time" doc:"When it was reported, in UTC." example:"2026-01-31T08:00:00Z"`
	Action     string       `json:"retentionAction" doc:"What the shopper did." example:"KEPT"`
	Reason     *string      `json:"cancellationReason" doc:"Why the shopper thought of cancelling; null when nothing was said." example:"Too much coffee"`
	Discount   *string      `json:"discountApplied" doc:"The discount that was offered and taken; null when there was none." example:"20% x 3"`
	Info       *string      `json:"additionalInfo" doc:"Anything else; null when there is nothing." example:"{\"flowVersion\":3}"`
}

type retentionIn struct {
	web.JSONBody
}

type retentionOut struct{ Body retentionActivity }

func (o Options) keepRetention(ctx context.Context, in *retentionIn) (*retentionOut, error) {
	caller := web.CallerOf(ctx)
	var body retentionBody
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if err := sameStore(body.Shop, caller); err != nil {
		return nil, err
	}
	of, err := required(body.ContractID, record.ContractTypename, "contractId")
	if err != nil {
		return nil, err
	}
	kept, err := o.Retention.Record(ctx, caller.Shop.ID, retention.Command{
		Line: o.Line, Contract: contract.ID(of), Actor: caller.Actor,
		Details: retention.Details{Action: body.Action, Reason: text(body.Reason), Discount: text(body.Discount), Info: text(body.Info)},
	})
	if err != nil {
		return nil, err
	}
	return &retentionOut{retentionActivity{
		ID: int64(kept.ID), Shop: caller.Shop.Domain, ContractID: int64(kept.Contract), At: web.At(kept.At), Action: kept.Action,
		Reason: web.Some(kept.Reason), Discount: web.Some(kept.Discount), Info: web.Some(kept.Info),
	}}, nil
}
