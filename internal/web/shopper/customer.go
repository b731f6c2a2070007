package shopper

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

const customerTag = "Customer and store"

var theirContracts = web.List{Default: contract.MaxPage, Max: contract.MaxPage, Fields: contract.SortFields}

func (o Options) customer(api *web.API) {
	get := func(id, path, summary, description string) web.Operation {
		return o.operation(id, http.MethodGet, path, customerTag, summary, description)
	}
	web.Register(api, get("listPaymentMethods", "/subscription-contract-details/"+platformName+"/customer/payment-methods", "Payment methods",
		"What the platform has of the customer to charge, those included that were revoked. The fields of a line of a contract are there too, and have no value."), o.paymentMethods)

	web.Register(api, get("getShopInfo", "/shop-infos-by-current-login", "The store", "The store at which the shopper is: its calendar, and what its settings allow."), o.shopInfo)

	web.Register(api, get("getLoggedInCustomer", "/logged-in-customer", "Who is signed in", "The platform's number of the customer, alone."), o.loggedIn)

	rows := get("listCustomerContracts", "/subscription-customers-detail/valid/{id}", "The shopper's contracts",
		"The shopper's contracts as rows, oldest first. A page holds all of them unless a size is given: at most 2000. Another customer's are answered 404.")
	rows.List, rows.Errors = &theirContracts, []int{http.StatusNotFound}
	web.Register(api, rows, o.customerRows)
}

// platformName is the platform as paths of the interface name it.
const platformName = "shopify"

type paymentsOut struct{ Body record.PaymentConnection }

func (o Options) paymentMethods(ctx context.Context, _ *struct{}) (*paymentsOut, error) {
	methods, err := o.Portal.PaymentMethods(ctx, o.who(ctx))
	if err != nil {
		return nil, err
	}
	return &paymentsOut{record.NewPaymentConnection(methods)}, nil
}

// shopInfo is what a page may know about the store.
type shopInfo struct {
	Shop                 string `json:"shop" doc:"The store's domain." example:"demo.myshopify.com"`
	ShopID               int64  `json:"shopId" doc:"The platform's number of the store." example:"60001"`
	TimeZone             string `json:"ianaTimeZone" doc:"The store's time zone." example:"America/Toronto"`
	OrderHour            int32  `json:"localOrderHour" minimum:"0" maximum:"23" doc:"Hour of the store's day at which orders are charged." example:"8"`
	OrderMinute          int32  `json:"localOrderMinute" minimum:"0" maximum:"59" doc:"And the minute." example:"0"`
	PasswordEnabled      bool   `json:"passwordEnabled" doc:"Whether the store asks visitors for a password. Always false: who asks is inside." example:"false"`
	LocalDelivery        bool   `json:"allowLocalDelivery" doc:"Whether a contract may be delivered by the store itself. Always true: the platform decides." example:"true"`
	LocalPickup          bool   `json:"allowLocalPickup" doc:"Whether a contract may be picked up. Always true: the platform decides." example:"true"`
	Shipping             bool   `json:"allowShipping" doc:"Whether a contract may be shipped. Always true." example:"true"`
	ChangeFromNext       bool   `json:"enableChangeFromNextBillingDate" doc:"Whether another interval counts from the next order. Always true." example:"true"`
	UseStorefrontAPI     bool   `json:"useStorefrontAPI" doc:"Whether the pages ask the platform for products. Always false." example:"false"`
	ChangeNextOnAttempt  bool   `json:"changeNextOrderDateOnBillingAttempt" doc:"Whether an order that is charged early moves those that follow. Always false: they keep their dates." example:"false"`
	RegenerateOnManual   bool   `json:"regenerateScheduleOnManualAttempt" doc:"Whether dates are counted again from an order that is charged by hand. Always false." example:"false"`
	DeliveryPartner      bool   `json:"deliveryPartnerEnabled" doc:"Whether a partner's application chooses delivery dates. Always false." example:"false"`
	ReviewsPartner       bool   `json:"reviewsPartnerEnabled" doc:"Whether a partner's application shows reviews. Always false." example:"false"`
	LoyaltyIntegrated    bool   `json:"serviceLoyaltyIntegrated" doc:"Whether the service keeps points for the store's customers. Always true." example:"true"`
	BundleIntegrated     bool   `json:"serviceBundleIntegrated" doc:"Whether the service knows the store's boxes. Always true." example:"true"`
	BoxVersion           string `json:"buildBoxVersion" enum:"V1,V2,V2_IFRAME" doc:"The page on which boxes are filled. Always V2." example:"V2"`
	PortalMode           string `json:"customerPortalMode" enum:"IFRAME,NO_IFRAME,V3,V3_IFRAME" doc:"How the portal is shown. Always NO_IFRAME: on pages of its own." example:"NO_IFRAME"`
	ImmediateOrders      bool   `json:"enableImmediatePlaceOrder" doc:"Whether an order may be charged before its day." example:"true"`
	FreezeUntilMinCycles bool   `json:"freezeUntilMinCycles" doc:"Whether subscribers too are held to the orders that they committed to; members always are." example:"false"`
}

type shopInfoOut struct{ Body shopInfo }

func (o Options) shopInfo(ctx context.Context, _ *struct{}) (*shopInfoOut, error) {
	s := web.CallerOf(ctx).Shop
	return &shopInfoOut{shopInfo{
		Shop: s.Domain, ShopID: s.PlatformID, TimeZone: s.TimeZone, OrderHour: int32(s.OrderHour), OrderMinute: int32(s.OrderMinute),
		LocalDelivery: true, LocalPickup: true, Shipping: true, ChangeFromNext: true, LoyaltyIntegrated: true, BundleIntegrated: true,
		BoxVersion: "V2", PortalMode: "NO_IFRAME", ImmediateOrders: s.Settings.ImmediateOrders, FreezeUntilMinCycles: s.Settings.FreezeUntilMinCycles,
	}}, nil
}

type loggedInOut struct {
	Body int64 `doc:"The platform's number of the customer." example:"7001"`
}

func (o Options) loggedIn(ctx context.Context, _ *struct{}) (*loggedInOut, error) {
	return &loggedInOut{web.CallerOf(ctx).Actor.Customer}, nil
}

type customerRowsQuery struct {
	web.Paging
	Customer string `path:"id" format:"id" example:"7001" doc:"The shopper: number or graph id, percent-encoded."`
}

func (o Options) customerRows(ctx context.Context, in *customerRowsQuery) (*contractPage, error) {
	caller := web.CallerOf(ctx)
	p, err := in.Request(theirContracts)
	if err != nil {
		return nil, err
	}
	customer, err := web.ParseID("Customer", "id", in.Customer)
	if err != nil {
		return nil, err
	}
	if customer != caller.Actor.Customer {
		return nil, fault.New(fault.NotFound, "customer %d is not the one who is signed in", customer).Entity("customer").Code("customerNotFound").Field("id")
	}
	return o.rows(ctx, p, customer)
}
