package admin

import (
	"encoding/json"
	"strings"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// contractRow is a contract in a search result. Every field of the interface is
// there; one of which nothing is known is null.
type contractRow struct {
	ID                             int64          `json:"id"`
	Shop                           string         `json:"shop"`
	SubscriptionContractID         int64          `json:"subscriptionContractId"`
	GraphSubscriptionContractID    string         `json:"graphSubscriptionContractId"`
	OriginalContractID             *int64         `json:"originalContractId"`
	ImportedID                     *string        `json:"importedId"`
	Status                         string         `json:"status" doc:"active, paused, cancelled, expired or failed."`
	OriginType                     string         `json:"originType" enum:"STORE_FRONT,IMPORTED,SPLIT_ATTEMPT_BILLING,SPLIT_CONTRACT"`
	SubscriptionType               string         `json:"subscriptionType" enum:"REGULAR_SUBSCRIPTION,BUILD_A_BOX_CLASSIC,BUILD_A_BOX_SINGLE_PRODUCT,BUNDLING_CLASSIC,BUNDLING_MIX_AND_MATCH,SECTIONED_BUNDLE,VOLUME_DISCOUNT"`
	SubscriptionTypeIdentifier     *string        `json:"subscriptionTypeIdentifier"`
	CustomerID                     *int64         `json:"customerId"`
	GraphCustomerID                *string        `json:"graphCustomerId"`
	CustomerName                   *string        `json:"customerName"`
	CustomerFirstName              *string        `json:"customerFirstName"`
	CustomerLastName               *string        `json:"customerLastName"`
	CustomerEmail                  *string        `json:"customerEmail"`
	CustomerTag                    *string        `json:"customerTag"`
	Phone                          *string        `json:"phone"`
	OrderID                        *int64         `json:"orderId"`
	GraphOrderID                   *string        `json:"graphOrderId"`
	OrderName                      *string        `json:"orderName"`
	BillingPolicyInterval          string         `json:"billingPolicyInterval" doc:"day, week, month or year."`
	BillingPolicyIntervalCount     int32          `json:"billingPolicyIntervalCount"`
	DeliveryPolicyInterval         string         `json:"deliveryPolicyInterval" doc:"day, week, month or year."`
	DeliveryPolicyIntervalCount    int32          `json:"deliveryPolicyIntervalCount"`
	MinCycles                      *int32         `json:"minCycles"`
	MaxCycles                      *int32         `json:"maxCycles"`
	TotalSuccessfulOrders          int32          `json:"totalSuccessfulOrders"`
	LastSuccessfulOrder            *string        `json:"lastSuccessfulOrder" doc:"JSON text."`
	UpcomingEmailBufferDays        *int32         `json:"upcomingEmailBufferDays"`
	UpcomingEmailTaskURL           *string        `json:"upcomingEmailTaskUrl"`
	PauseDurationCycle             *int32         `json:"pauseDurationCycle"`
	PendingCancellationCycle       *int32         `json:"pendingCancellationCycle"`
	CurrencyCode                   string         `json:"currencyCode"`
	OrderAmount                    float64        `json:"orderAmount"`
	OrderAmountUSD                 *float64       `json:"orderAmountUSD"`
	OrderAmountShopCurrency        *float64       `json:"orderAmountShopCurrency"`
	OrderAmountContractCurrency    float64        `json:"orderAmountContractCurrency"`
	ContractAmount                 float64        `json:"contractAmount"`
	ContractAmountUSD              *float64       `json:"contractAmountUSD"`
	TotalPrice                     float64        `json:"totalPrice"`
	LifetimeValue                  float64        `json:"lifetimeValue"`
	LifetimeValueUSD               *float64       `json:"lifetimeValueUSD"`
	NextBillingDate                *web.Instant   `json:"nextBillingDate" format:"date-time"`
	NextPaidBillingDate            *web.Instant   `json:"nextPaidBillingDate" format:"date-time"`
	CreatedAt                      *web.Instant   `json:"createdAt" format:"date-time"`
	UpdatedAt                      *web.Instant   `json:"updatedAt" format:"date-time"`
	StartsAt                       *web.Instant   `json:"startsAt" format:"date-time"`
	EndsAt                         *web.Instant   `json:"endsAt" format:"date-time"`
	ActivatedOn                    *web.Instant   `json:"activatedOn" format:"date-time"`
	PausedOn                       *web.Instant   `json:"pausedOn" format:"date-time"`
	CancelledOn                    *web.Instant   `json:"cancelledOn" format:"date-time"`
	PauseTillDate                  *web.Instant   `json:"pauseTillDate" format:"date-time"`
	PendingCancellationDate        *web.Instant   `json:"pendingCancellationDate" format:"date-time"`
	BillingDateAfterTrial          *web.Instant   `json:"billingDateAfterTrial" format:"date-time"`
	TrialEndDate                   *web.Instant   `json:"trialEndDate" format:"date-time"`
	QueueUpdatedAt                 *web.Instant   `json:"queueUpdatedAt" format:"date-time"`
	Dunning                        *bool          `json:"dunning"`
	AutoCharge                     bool           `json:"autoCharge"`
	StopUpComingOrderEmail         bool           `json:"stopUpComingOrderEmail"`
	PausedFromActive               bool           `json:"pausedFromActive"`
	SkipPaymentCreateUnpaidOrder   bool           `json:"skipPaymentCreateUnpaidOrder"`
	AllowDeliveryPriceOverride     bool           `json:"allowDeliveryPriceOverride"`
	AllowDeliveryAddressOverride   bool           `json:"allowDeliveryAddressOverride"`
	DisableFixEmptyQueue           bool           `json:"disableFixEmptyQueue"`
	EmailBouncedOrFailed           bool           `json:"emailBouncedOrFailed"`
	UpdatingQueue                  bool           `json:"updatingQueue"`
	SubscriptionCreatedEmailSent   bool           `json:"subscriptionCreatedEmailSent"`
	SubscriptionCreatedEmailStatus string         `json:"subscriptionCreatedEmailSentStatus" enum:"SENT,UNSENT,FAILED,EMAIL_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_PAUSED_STATUS"`
	SubscriptionCreatedSmsStatus   string         `json:"subscriptionCreatedSmsSentStatus" enum:"SENT,UNSENT,FAILED,SMS_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_PAUSED_STATUS,PHONE_NUMBER_EMPTY"`
	PauseReason                    *string        `json:"pauseReason"`
	PauseFeedback                  *string        `json:"pauseFeedback"`
	CancellationFeedback           *string        `json:"cancellationFeedback"`
	CancellationNote               *string        `json:"cancellationNote"`
	OrderNote                      *string        `json:"orderNote"`
	OrderNoteAttributes            *string        `json:"orderNoteAttributes" doc:"JSON text: a list of key and value."`
	DeletedVariantIDs              *string        `json:"deletedVariantIds"`
	BillingCountryCode             *string        `json:"billingCountryCode"`
	DeliveryCountryCode            *string        `json:"deliveryCountryCode"`
	ContractDetailsText            string         `json:"contractDetailsJSON" doc:"JSON text: the lines."`
	ContractDetails                []contractLine `json:"contractDetailsJson" nullable:"false" doc:"The lines."`
}

// contractLine is a line of a contract in a row.
type contractLine struct {
	LineID          string  `json:"lineId"`
	ProductID       *string `json:"productId" doc:"Graph id."`
	VariantID       *string `json:"variantId" doc:"Graph id."`
	Title           string  `json:"title"`
	ProductTitle    string  `json:"productTitle"`
	VariantTitle    *string `json:"variantTitle"`
	SKU             *string `json:"sku"`
	Quantity        int32   `json:"quantity"`
	CurrentPrice    float64 `json:"currentPrice"`
	SellingPlanID   *string `json:"sellingPlanId" doc:"Graph id."`
	SellingPlanName *string `json:"sellingPlanName"`
}

// lastOrder is the JSON text of lastSuccessfulOrder.
type lastOrder struct {
	OrderID     *int64       `json:"orderId"`
	OrderName   string       `json:"orderName"`
	BillingDate *web.Instant `json:"billingDate"`
}

const (
	emailUnsent = "UNSENT"

	regularSubscription = "REGULAR_SUBSCRIPTION"
)

func newContractRow(s shop.Shop, c contract.Contract) (contractRow, error) {
	amount := c.Amount()
	lines := make([]contractLine, len(c.Lines))
	for i, l := range c.Lines {
		lines[i] = newContractLine(l)
	}
	row := contractRow{
		ID: int64(c.ID), Shop: s.Domain, SubscriptionContractID: int64(c.ID), GraphSubscriptionContractID: gid.Of("SubscriptionContract", int64(c.ID)),
		OriginalContractID: web.Some(int64(c.SplitFrom)), ImportedID: web.Some(c.ImportedID), Status: strings.ToLower(string(c.Status)), OriginType: string(c.Origin), SubscriptionType: regularSubscription,
		CustomerID: web.Some(c.Customer.ID), GraphCustomerID: graphID("Customer", c.Customer.ID),
		CustomerName: web.Some(c.Customer.Name), CustomerFirstName: web.Some(c.Customer.FirstName), CustomerLastName: web.Some(c.Customer.LastName),
		CustomerEmail: web.Some(c.Customer.Email), Phone: web.Some(c.Customer.Phone),
		OrderID: web.Some(c.OriginOrderID), GraphOrderID: graphID("Order", c.OriginOrderID), OrderName: web.Some(c.OriginOrderName),
		BillingPolicyInterval: strings.ToLower(c.Billing.Interval.String()), BillingPolicyIntervalCount: int32(c.Billing.Count),
		DeliveryPolicyInterval: strings.ToLower(c.Delivery.Interval.String()), DeliveryPolicyIntervalCount: int32(c.Delivery.Count),
		MinCycles: web.Some(int32(c.MinCycles)), MaxCycles: web.Some(int32(c.MaxCycles)), TotalSuccessfulOrders: int32(c.Orders),
		CurrencyCode: string(c.Currency), OrderAmount: amount.Float(), OrderAmountUSD: in("USD", amount), OrderAmountShopCurrency: in(s.Currency, amount),
		OrderAmountContractCurrency: amount.Float(), ContractAmount: amount.Float(), ContractAmountUSD: in("USD", amount), TotalPrice: amount.Float(),
		LifetimeValue: c.Lifetime.Float(), LifetimeValueUSD: in("USD", c.Lifetime),
		NextBillingDate: web.At(c.NextBillingDate), NextPaidBillingDate: web.At(c.NextBillingDate), CreatedAt: web.At(c.CreatedAt), UpdatedAt: web.At(c.UpdatedAt),
		ActivatedOn: web.At(c.ActivatedAt), PausedOn: web.At(c.PausedAt), CancelledOn: web.At(c.CancelledAt),
		AutoCharge: c.AutoCharge, PausedFromActive: c.Status == contract.Paused,
		SubscriptionCreatedEmailStatus: emailUnsent, SubscriptionCreatedSmsStatus: emailUnsent,
		OrderNote: web.Some(c.Note), CancellationFeedback: web.Some(c.CancellationFeedback), CancellationNote: web.Some(c.CancellationNote), BillingCountryCode: web.Some(c.BillingCountry), DeliveryCountryCode: web.Some(c.DeliveryCountry),
		ContractDetails: lines,
	}
	return row, row.texts(c)
}

// texts fills the fields that the interface carries as JSON text.
func (row *contractRow) texts(c contract.Contract) error {
	details, err := jsonText(row.ContractDetails)
	if err != nil {
		return err
	}
	row.ContractDetailsText = details
	if len(c.Attributes) > 0 {
		attributes, err := jsonText(c.Attributes)
		if err != nil {
			return err
		}
		row.OrderNoteAttributes = &attributes
	}
	if c.LastOrder != "" || c.LastOrderID != 0 {
		order, err := jsonText(lastOrder{OrderID: web.Some(c.LastOrderID), OrderName: c.LastOrder, BillingDate: web.At(c.LastOrderAt)})
		if err != nil {
			return err
		}
		row.LastSuccessfulOrder = &order
	}
	return nil
}

// jsonText writes v as it is written outside a text, without the escapes that
// only HTML needs.
func jsonText(v any) (string, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func newContractLine(l contract.Line) contractLine {
	return contractLine{
		LineID: l.ID, ProductID: graphID("Product", l.ProductID), VariantID: graphID("ProductVariant", l.VariantID),
		Title: l.Title, ProductTitle: l.Title, VariantTitle: web.Some(l.VariantTitle), SKU: web.Some(l.SKU), Quantity: int32(l.Quantity),
		CurrentPrice: l.Price.Float(), SellingPlanID: graphID("SellingPlan", l.SellingPlanID), SellingPlanName: web.Some(l.SellingPlanName),
	}
}

// graphID returns an object's graph id, or nil when there is no object.
func graphID(objectType string, id int64) *string {
	if id == 0 {
		return nil
	}
	return new(gid.Of(objectType, id))
}

// in returns an amount that is of the currency. We convert nothing: an amount of
// another currency is unknown in this one.
func in(c money.Currency, a money.Amount) *float64 {
	if a.Currency != c {
		return nil
	}
	return new(a.Float())
}
