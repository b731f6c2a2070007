package shopper

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Portal carries out what shoppers want, on their own contracts. Failures are faults.
type Portal interface {
	OrderActions
	OneTimeActions
	StatusActions
	LineActions
	ProductLists
	TermActions
	PaymentActions

	Contract(ctx context.Context, who portal.Caller, id contract.ID) (portal.View, error)
	Detail(ctx context.Context, who portal.Caller, id contract.ID) (portal.View, contract.Detail, error)
	Settings(ctx context.Context, of shop.ID) (portal.Settings, error)
	Preferences(ctx context.Context, who portal.Caller) (portal.Preferences, error)
	SetPreferences(ctx context.Context, who portal.Caller, want portal.Preferences) (portal.Preferences, error)
}

// OrderActions change orders.
type OrderActions interface {
	Skip(ctx context.Context, who portal.Caller, ref portal.OrderRef) (billing.Record, error)
	SkipNext(ctx context.Context, who portal.Caller, ref portal.ContractRef) (billing.Record, error)
	Unskip(ctx context.Context, who portal.Caller, ref portal.OrderRef) (billing.Record, error)
	DeclineSwap(ctx context.Context, who portal.Caller, ref portal.OrderRef) (billing.Record, error)
	EditOrder(ctx context.Context, who portal.Caller, ref portal.OrderRef, want portal.OrderEdit) (billing.Record, error)
	Reschedule(ctx context.Context, who portal.Caller, ref portal.OrderRef, date time.Time, future bool) (billing.Record, error)
	OrderNow(ctx context.Context, who portal.Caller, ref portal.OrderRef) error
	RetryPayment(ctx context.Context, who portal.Caller, ref portal.OrderRef) error
}

// OneTimeActions change the one-time products of orders.
type OneTimeActions interface {
	AddOneTime(ctx context.Context, who portal.Caller, p portal.OneTime) error
	UpdateOneTime(ctx context.Context, who portal.Caller, p portal.OneTime) (billing.OneOffRecord, error)
	RemoveOneTime(ctx context.Context, who portal.Caller, p portal.OneTime) error
}

// StatusActions pause, resume, end and restart contracts.
type StatusActions interface {
	Pause(ctx context.Context, who portal.Caller, ref portal.ContractRef, w portal.PauseParams) (contract.Detail, error)
	Resume(ctx context.Context, who portal.Caller, ref portal.ContractRef, from time.Time) (contract.Detail, error)
	Cancel(ctx context.Context, who portal.Caller, ref portal.ContractRef, feedback string) (contract.Detail, error)
	Restart(ctx context.Context, who portal.Caller, ref portal.ContractRef, first time.Time, requestKey string) (contract.Detail, error)
}

// LineActions change what every order has in it.
type LineActions interface {
	ChangeLine(ctx context.Context, who portal.Caller, ref portal.ContractRef, w portal.LineEdit) (contract.Detail, error)
	AddProduct(ctx context.Context, who portal.Caller, ref portal.ContractRef, w portal.NewProduct) (contract.Detail, error)
	Box(ctx context.Context, who portal.Caller, id contract.ID) (portal.Box, error)
	FillBox(ctx context.Context, who portal.Caller, ref portal.ContractRef, want []contractedit.BoxItem) (contract.Detail, error)
	RemoveProduct(ctx context.Context, who portal.Caller, ref portal.ContractRef, line string) (portal.Removal, error)
}

// ProductLists lists what may be chosen.
type ProductLists interface {
	Products(ctx context.Context, who portal.Caller, id contract.ID, q portal.ProductQuery) (portal.ProductList, error)
	OneTimeProducts(ctx context.Context, who portal.Caller, id contract.ID, q portal.ProductQuery) (portal.ProductList, error)
}

// TermActions change how often and where orders are delivered.
type TermActions interface {
	Frequencies(ctx context.Context, who portal.Caller, id contract.ID) ([]portal.Frequency, error)
	SetFrequency(ctx context.Context, who portal.Caller, ref portal.ContractRef, sellingPlan int64) (contract.Detail, error)
	SetDelivery(ctx context.Context, who portal.Caller, ref portal.ContractRef, want func(contract.DeliveryMethod) contract.DeliveryMethod, agreed *money.Amount) (contract.Detail, error)
	DraftDelivery(ctx context.Context, who portal.Caller, id contract.ID, want func(contract.DeliveryMethod) contract.DeliveryMethod) (portal.Delivered, error)
}

// PaymentActions change what is charged, and for how much.
type PaymentActions interface {
	PaymentMethods(ctx context.Context, who portal.Caller) ([]contract.PaymentMethod, error)
	SetPaymentMethod(ctx context.Context, who portal.Caller, ref portal.ContractRef, id string) (contract.Detail, error)
	SendPaymentUpdate(ctx context.Context, who portal.Caller, ref portal.ContractRef) error
	ApplyDiscount(ctx context.Context, who portal.Caller, ref portal.ContractRef, code string) (contract.Detail, error)
	RemoveDiscount(ctx context.Context, who portal.Caller, ref portal.ContractRef, id string) (contract.Detail, error)
}
