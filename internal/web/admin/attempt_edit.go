package admin

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// attemptEdit is what of a billing attempt record a caller may change, with what
// tells which record it is.
type attemptEdit struct {
	ID                      int64   `json:"id" minimum:"1" doc:"Number of the attempt to be changed." example:"9"`
	Shop                    string  `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	BillingDate             *string `json:"billingDate,omitempty" doc:"The order is charged on that day, at the store's order time." example:"2026-12-31"`
	Status                  *string `json:"status,omitempty" doc:"QUEUED to SKIPPED and back." example:"SKIPPED"`
	OrderNote               *string `json:"orderNote,omitempty" nullable:"true" maxLength:"5000" doc:"null or an empty text clears it." example:"No plastic, please"`
	RetryingNeeded          *bool   `json:"retryingNeeded,omitempty" doc:"A mark of the caller's, which the service does not act on, while no charge of the attempt was declined. Afterwards it belongs to the service and is refused when it differs."`
	ApplyUsageCharge        *bool   `json:"applyUsageCharge,omitempty" doc:"A mark of the caller's; the service does not act on it."`
	UpgradeDowngradeBilling *bool   `json:"upgradeDowngradeBilling,omitempty" doc:"A mark of the caller's; the service does not act on it."`
}

type editIn struct {
	web.JSONBody
}

// editAttempt changes an attempt. The body is laid over the record as it is: what
// differs then is what the caller wants changed.
func (h attemptHandlers) editAttempt(ctx context.Context, in *editIn) (*record.AttemptOut, error) {
	caller := web.CallerOf(ctx)
	wanted, err := in.wanted(caller)
	if err != nil {
		return nil, err
	}
	known, err := h.book.Attempt(ctx, caller.Shop.ID, h.line, billing.AttemptID(wanted.id))
	if err != nil {
		return nil, err
	}
	is, become := record.NewBillingAttempt(caller.Shop.Domain, known), record.NewBillingAttempt(caller.Shop.Domain, known)
	if err := in.Into(&become); err != nil {
		return nil, err
	}
	if err := is.OnlyDiffers(become, "billingDate", "status", "orderNote", "retryingNeeded", "applyUsageCharge", "upgradeDowngradeBilling"); err != nil {
		return nil, err
	}
	cmd := command.Edit{
		Line: h.line, Attempt: known.ID, Actor: caller.Actor, Note: changed(text(is.OrderNote), text(become.OrderNote)),
		RetryingNeeded:          changed(*is.RetryingNeeded, yes(become.RetryingNeeded)),
		ApplyUsageCharge:        changed(*is.ApplyUsageCharge, yes(become.ApplyUsageCharge)),
		UpgradeDowngradeBilling: changed(*is.UpgradeDowngradeBilling, yes(become.UpgradeDowngradeBilling)),
	}
	if wanted.status != "" {
		cmd.Status = changed(known.Status, wanted.status)
	}
	if !wanted.date.IsZero() && !wanted.date.Equal(clock.Trim(known.BillingDate)) {
		cmd.BillingDate = &wanted.date
	}
	r, err := h.billing.Edit(ctx, caller.Shop.ID, cmd)
	return record.NewAttemptOut(caller, r, err)
}

// wish is what can be said of a body before the record is read. Zero values are
// absent.
type wish struct {
	id     int64
	status billing.Status
	date   time.Time
}

func (in *editIn) wanted(caller web.Caller) (wish, error) {
	var nulls struct { // tells null from absent
		BillingDate, Status nullable
	}
	var body attemptEdit
	for _, v := range []any{&body, &nulls} {
		if err := in.Into(v); err != nil {
			return wish{}, err
		}
	}
	if body.ID < 1 {
		return wish{}, fault.New(fault.Invalid, "field 'id' is required: the number of the billing attempt").Code("bodyField").Field("id")
	}
	if err := ownShop(body.Shop, caller, "shop"); err != nil {
		return wish{}, err
	}
	for field, given := range map[string]nullable{"billingDate": nulls.BillingDate, "status": nulls.Status} {
		if given.null {
			return wish{}, fault.New(fault.Invalid, "field '%s' cannot be empty", field).Code("bodyField").Field(field)
		}
	}
	if err := web.CheckText("field 'orderNote'", "orderNote", text(body.OrderNote)); err != nil {
		return wish{}, err
	}
	if err := billing.CheckNote(text(body.OrderNote)); err != nil {
		return wish{}, err
	}
	w := wish{id: body.ID}
	if body.Status != nil {
		status, err := billing.ParseStatus(*body.Status)
		if err != nil {
			return wish{}, err
		}
		w.status = status
	}
	if body.BillingDate != nil {
		var err error
		if w.date, err = caller.OrderDate("billingDate", *body.BillingDate); err != nil {
			return wish{}, err
		}
	}
	return w, in.Into(&record.BillingAttempt{}) // what else is sent back can be read
}

// nullable notes that a field was given as null.
type nullable struct{ null bool }

// UnmarshalJSON notes it.
func (n *nullable) UnmarshalJSON(text []byte) error {
	n.null = string(text) == "null"
	return nil
}

// changed returns the new value, or nil when it is the old one.
func changed[T comparable](is, become T) *T {
	if is == become {
		return nil
	}
	return &become
}
