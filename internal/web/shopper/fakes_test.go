package shopper

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// act is an action that was asked of the portal.
type act struct {
	Do   string
	Ref  any
	What any
}

func (f *fakes) act(who portal.Caller, do string, ref, what any) (billing.Record, error) {
	if who.Line != shop.Memberships || who.Actor != ada() {
		return billing.Record{}, fault.New(fault.Internal, "asked by %+v", who)
	}
	return f.did(who.Shop.ID, act{do, ref, what})
}

func (f *fakes) change(who portal.Caller, do string, ref, what any) (contract.Detail, error) {
	_, err := f.act(who, do, ref, what)
	return contract.Detail{Contract: theContract()}, err
}

func (f *fakes) Skip(_ context.Context, who portal.Caller, ref portal.OrderRef) (billing.Record, error) {
	return f.act(who, "skip", ref, nil)
}

func (f *fakes) SkipNext(_ context.Context, who portal.Caller, ref portal.ContractRef) (billing.Record, error) {
	return f.act(who, "skip next", ref, nil)
}

func (f *fakes) Unskip(_ context.Context, who portal.Caller, ref portal.OrderRef) (billing.Record, error) {
	return f.act(who, "unskip", ref, nil)
}

func (f *fakes) DeclineSwap(_ context.Context, who portal.Caller, ref portal.OrderRef) (billing.Record, error) {
	return f.act(who, "keep", ref, nil)
}

func (f *fakes) EditOrder(_ context.Context, who portal.Caller, ref portal.OrderRef, want portal.OrderEdit) (billing.Record, error) {
	return f.act(who, "edit", ref, want)
}

// move is where an order is moved to.
type move struct {
	Date   time.Time
	Future bool
}

func (f *fakes) Reschedule(_ context.Context, who portal.Caller, ref portal.OrderRef, date time.Time, future bool) (billing.Record, error) {
	return f.act(who, "reschedule", ref, move{date, future})
}

func (f *fakes) OrderNow(_ context.Context, who portal.Caller, ref portal.OrderRef) error {
	_, err := f.act(who, "order now", ref, nil)
	return err
}

func (f *fakes) RetryPayment(_ context.Context, who portal.Caller, ref portal.OrderRef) error {
	_, err := f.act(who, "retry", ref, nil)
	return err
}

func (f *fakes) AddOneTime(_ context.Context, who portal.Caller, p portal.OneTime) error {
	_, err := f.act(who, "add once", p, nil)
	return err
}

func (f *fakes) UpdateOneTime(_ context.Context, who portal.Caller, p portal.OneTime) (billing.OneOffRecord, error) {
	_, err := f.act(who, "update once", p, nil)
	return billing.OneOffRecord{Attempt: p.Attempt, OneOff: billing.OneOff{ID: 1001, Contract: p.ID, Variant: variant(), Quantity: p.Quantity}}, err
}

func (f *fakes) RemoveOneTime(_ context.Context, who portal.Caller, p portal.OneTime) error {
	_, err := f.act(who, "remove once", p, nil)
	return err
}

func (f *fakes) OneOffsOf(context.Context, shop.ID, billing.OneOffQuestion, page.Request) ([]billing.OneOffRecord, int, error) {
	return []billing.OneOffRecord{{Attempt: 9, OneOff: billing.OneOff{ID: 1001, Contract: 9001, Variant: variant(), Quantity: 2}}}, 1, nil
}

func (f *fakes) SuppressedAddresses(context.Context, shop.ID, []string) (map[string]bool, error) {
	return nil, nil
}

func (f *fakes) CreatedMails(context.Context, shop.ID, []contract.ID) (map[contract.ID]notify.Results, error) {
	return nil, nil
}

func (f *fakes) WaitingOneOffs(context.Context, shop.ID, []contract.ID) ([]billing.OneOff, error) {
	return nil, nil
}

func (f *fakes) Pause(_ context.Context, who portal.Caller, ref portal.ContractRef, w portal.PauseParams) (contract.Detail, error) {
	return f.change(who, "pause", ref, w)
}

func (f *fakes) Resume(_ context.Context, who portal.Caller, ref portal.ContractRef, from time.Time) (contract.Detail, error) {
	return f.change(who, "resume", ref, from)
}

func (f *fakes) Cancel(_ context.Context, who portal.Caller, ref portal.ContractRef, feedback string) (contract.Detail, error) {
	return f.change(who, "cancel", ref, feedback)
}

func (f *fakes) Restart(_ context.Context, who portal.Caller, ref portal.ContractRef, first time.Time, _ string) (contract.Detail, error) {
	return f.change(who, "restart", ref, first)
}

func (f *fakes) ChangeLine(_ context.Context, who portal.Caller, ref portal.ContractRef, w portal.LineEdit) (contract.Detail, error) {
	return f.change(who, "change line", ref, w)
}

func (f *fakes) AddProduct(_ context.Context, who portal.Caller, ref portal.ContractRef, w portal.NewProduct) (contract.Detail, error) {
	return f.change(who, "add", ref, w)
}

func (f *fakes) Box(_ context.Context, who portal.Caller, id contract.ID) (portal.Box, error) {
	v, err := f.Contract(context.Background(), who, id)
	p := portal.Product{Variant: variant(), Unit: money.Amount{Minor: 1125, Currency: "USD"}}
	rules := bundle.Rules{Enabled: true, MinProducts: 3, MaxProducts: 12, MinValue: money.Amount{Minor: 2500, Currency: "USD"}, AllowModifications: true, CutoffDays: 2, MaxSwaps: 3}
	return portal.Box{View: v, Bundle: bundle.Settings{Rules: rules}, Held: []portal.BoxProduct{{Product: p, Quantity: 2}}}, err
}

func (f *fakes) FillBox(_ context.Context, who portal.Caller, ref portal.ContractRef, want []contractedit.BoxItem) (contract.Detail, error) {
	return f.change(who, "fill box", ref, want)
}

func (f *fakes) RemoveProduct(_ context.Context, who portal.Caller, ref portal.ContractRef, line string) (portal.Removal, error) {
	d, err := f.change(who, "remove", ref, line)
	return portal.Removal{Detail: d}, err
}

func (f *fakes) Frequencies(context.Context, portal.Caller, contract.ID) ([]portal.Frequency, error) {
	monthly := plan.Frequency{Interval: cadence.Month, Count: 1}
	return []portal.Frequency{{Option: plan.Option{ID: 6101, Name: "Monthly", Billing: monthly, Delivery: monthly}, Current: true, Price: money.Amount{Minor: 2250, Currency: "USD"}}}, nil
}

func (f *fakes) Products(_ context.Context, _ portal.Caller, _ contract.ID, q portal.ProductQuery) (portal.ProductList, error) {
	list, err := f.OneTimeProducts(context.Background(), portal.Caller{}, 0, q)
	list.More = q == portal.ProductQuery{Line: "1", Text: "decaf", Page: 1}
	return list, err
}

func (f *fakes) OneTimeProducts(context.Context, portal.Caller, contract.ID, portal.ProductQuery) (portal.ProductList, error) {
	decaf := platform.Variant{ID: 4002, ProductTitle: "Decaf Coffee", Title: "250 g", Available: true}
	return portal.ProductList{Products: []portal.Product{{Variant: decaf, Unit: money.Amount{Minor: 1150, Currency: "USD"}}}}, nil
}

func (f *fakes) SetFrequency(_ context.Context, who portal.Caller, ref portal.ContractRef, sellingPlan int64) (contract.Detail, error) {
	return f.change(who, "frequency", ref, sellingPlan)
}

func (f *fakes) SetDelivery(_ context.Context, who portal.Caller, ref portal.ContractRef, want func(contract.DeliveryMethod) contract.DeliveryMethod, _ *money.Amount) (contract.Detail, error) {
	return f.change(who, "address", ref, want(contract.DeliveryMethod{}).Address.City)
}

func (f *fakes) DraftDelivery(ctx context.Context, who portal.Caller, id contract.ID, want func(contract.DeliveryMethod) contract.DeliveryMethod) (portal.Delivered, error) {
	v, d, err := f.Detail(ctx, who, id)
	to := contractedit.Delivery{Method: want(d.Method), Price: money.Amount{Minor: 1200, Currency: d.Currency}}
	return portal.Delivered{View: v, From: contractedit.Delivery{Method: d.Method, Price: d.DeliveryPrice}, To: to, Next: to.Price}, err
}

func (f *fakes) SetPaymentMethod(_ context.Context, who portal.Caller, ref portal.ContractRef, id string) (contract.Detail, error) {
	return f.change(who, "payment", ref, id)
}

func (f *fakes) SendPaymentUpdate(_ context.Context, who portal.Caller, ref portal.ContractRef) error {
	_, err := f.act(who, "payment link", ref, nil)
	return err
}

func (f *fakes) ApplyDiscount(_ context.Context, who portal.Caller, ref portal.ContractRef, code string) (contract.Detail, error) {
	return f.change(who, "discount", ref, code)
}

func (f *fakes) RemoveDiscount(_ context.Context, who portal.Caller, ref portal.ContractRef, id string) (contract.Detail, error) {
	return f.change(who, "no discount", ref, id)
}

func (f *fakes) PaymentMethods(_ context.Context, who portal.Caller) ([]contract.PaymentMethod, error) {
	_, err := f.act(who, "payment methods", nil, nil)
	return []contract.PaymentMethod{
		{ID: "gid://shopify/CustomerPaymentMethod/ab", Instrument: contract.Instrument{Kind: "CustomerCreditCard", Brand: "visa", LastDigits: "4242", Masked: "•••• 4242", ExpiryMonth: 12, ExpiryYear: 2030, Name: "Ada Khan"}},
		{ID: "gid://shopify/CustomerPaymentMethod/cd", Revoked: true, Instrument: contract.Instrument{RevokedAt: noon(), RevokedWhy: "MANUALLY_REVOKED"}},
	}, err
}

func (f *fakes) Contract(_ context.Context, _ portal.Caller, id contract.ID) (portal.View, error) {
	if id != 9001 {
		return portal.View{}, fault.New(fault.NotFound, "subscription contract %d does not exist", id).Code("contractNotFound")
	}
	v := portal.View{State: portal.State{Shop: demo(), Contract: theContract(), Orders: []billing.Attempt{theRecord().Attempt}, Now: noon()}, Settings: portal.Settings{CutoffDays: 2, Off: []portal.Toggle{portal.AllowPause}}}
	var err error
	v.Can, err = v.Settings.ForContract(v.State)
	return v, err
}

func (f *fakes) Detail(ctx context.Context, who portal.Caller, id contract.ID) (portal.View, contract.Detail, error) {
	v, err := f.Contract(ctx, who, id)
	return v, contract.Detail{Contract: v.State.Contract}, err
}

func (f *fakes) Settings(context.Context, shop.ID) (portal.Settings, error) {
	return portal.Settings{Off: []portal.Toggle{portal.AllowPause}, SkipMax: 2, Support: portal.Support{Email: "help@demo.example"}, Version: 3}, nil
}

func (f *fakes) Preferences(context.Context, portal.Caller) (portal.Preferences, error) {
	return portal.Preferences{Customer: 7001, Language: "de", Off: slices.Clone(notify.OptionalKinds[:1]), Version: 2}, nil
}

func (f *fakes) Consent(context.Context, shop.ID, int64) (optin.Consent, error) {
	return optin.Consent{Phone: "+16135550101", GivenAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), EndedAt: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}, nil
}

func (f *fakes) Set(_ context.Context, of shop.ID, w optin.Wish) (optin.Consent, error) {
	_, err := f.did(of, w)
	return optin.Consent{}, err
}

func (f *fakes) SetPreferences(_ context.Context, who portal.Caller, want portal.Preferences) (portal.Preferences, error) {
	_, err := f.act(who, "preferences", nil, want)
	return want, err
}

// asked is a link that was asked for.
type askedLink struct{ Email string }

func (f *fakes) RequestLink(_ context.Context, of shop.ID, email, _ string) error {
	_, err := f.did(of, askedLink{email})
	return err
}

func (f *fakes) Member(context.Context, shop.Shop, loyalty.CustomerRef, loyalty.RewardStatus) (loyalty.Member, error) {
	return theMember(), f.err
}

func (f *fakes) Enrol(_ context.Context, of shop.ID, cmd loyalty.EnrolCommand) (loyalty.Member, error) {
	_, err := f.did(of, cmd)
	return theMember(), err
}

func (f *fakes) Redeem(_ context.Context, of shop.ID, cmd loyalty.RedeemCommand) (loyalty.Member, error) {
	_, err := f.did(of, cmd)
	return theMember(), err
}

func theMember() loyalty.Member {
	return loyalty.Member{
		Account: loyalty.Account{Person: loyalty.Person{Customer: 7001}, Status: loyalty.Active, ReferralCode: "k3j9x2", Sums: loyalty.Sums{Available: 1840 * loyalty.One}},
		Tier:    &loyalty.Tier{ID: 1, Name: "Oak"}, Rewards: []loyalty.Reward{{ID: 31, Description: "5 off", Points: 500 * loyalty.One, Code: "LOYAL-K3J9", State: loyalty.Issued}},
	}
}
