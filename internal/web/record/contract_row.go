package record

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// ContractRow is a contract in a search result. Every field of the interface is
// there; an unknown one is null.
type ContractRow struct {
	ID                             int64          `json:"id" doc:"Number of the contract." example:"9001"`
	Shop                           string         `json:"shop" doc:"The store's domain." example:"demo.myshopify.com"`
	SubscriptionContractID         int64          `json:"subscriptionContractId" doc:"The same as id: the platform's number." example:"9001"`
	GraphSubscriptionContractID    string         `json:"graphSubscriptionContractId" doc:"Graph id of the contract." example:"gid://shopify/SubscriptionContract/9001"`
	OriginalContractID             *int64         `json:"originalContractId" doc:"The contract that this one was split from, or that it restarts; null when there is none." example:"9000"`
	ImportedID                     *string        `json:"importedId" doc:"Id in the system that the contract was imported from; null when it was not imported." example:"sub_81"`
	Status                         string         `json:"status" doc:"How the contract stands: active, paused, cancelled, expired or failed." example:"active"`
	OriginType                     string         `json:"originType" enum:"STORE_FRONT,IMPORTED,SPLIT_ATTEMPT_BILLING,SPLIT_CONTRACT" doc:"How the contract began. STORE_FRONT: bought, or made by an operation. IMPORTED: from another system. SPLIT_ATTEMPT_BILLING: split off another one for one order. SPLIT_CONTRACT: split off another one for good." example:"STORE_FRONT"`
	SubscriptionType               string         `json:"subscriptionType" enum:"REGULAR_SUBSCRIPTION,BUILD_A_BOX_CLASSIC,BUILD_A_BOX_SINGLE_PRODUCT,BUNDLING_CLASSIC,BUNDLING_MIX_AND_MATCH,SECTIONED_BUNDLE,VOLUME_DISCOUNT" doc:"What kind of subscription it is: a regular one, or a box of one of the store's bundles, which its selling plans tell. SECTIONED_BUNDLE: its categories are ruled. BUILD_A_BOX_SINGLE_PRODUCT: filled by the customer, at one price. BUNDLING_CLASSIC: as it is, at one price. VOLUME_DISCOUNT: cheaper by the piece. BUILD_A_BOX_CLASSIC: its size is ruled. BUNDLING_MIX_AND_MATCH: any mix." example:"REGULAR_SUBSCRIPTION"`
	SubscriptionTypeIdentifier     *string        `json:"subscriptionTypeIdentifier" doc:"Number of the bundle, for the other types; null for a regular subscription." example:"12"`
	CustomerID                     *int64         `json:"customerId" doc:"The platform's number of the customer; null when there is none." example:"7001"`
	GraphCustomerID                *string        `json:"graphCustomerId" doc:"Graph id of the customer; null when there is none." example:"gid://shopify/Customer/7001"`
	CustomerName                   *string        `json:"customerName" doc:"Name of the customer, as shown; null when not known." example:"Ada Khan"`
	CustomerFirstName              *string        `json:"customerFirstName" doc:"First name of the customer; null when not known." example:"Ada"`
	CustomerLastName               *string        `json:"customerLastName" doc:"Last name of the customer; null when not known." example:"Khan"`
	CustomerEmail                  *string        `json:"customerEmail" doc:"E-mail address of the customer; null when not known." example:"ada@example.com"`
	CustomerTag                    *string        `json:"customerTag" doc:"Tags that the customer has because this contract is active: those of its plan groups, separated by commas; null when there are none. All tags of a customer are shown by GET /subscription-customers/{customerId}." example:"subscriber"`
	Phone                          *string        `json:"phone" doc:"Telephone number of the customer; null when not known." example:"+16135550101"`
	OrderID                        *int64         `json:"orderId" doc:"Number of the order with which the contract began; null when it began without one." example:"5001"`
	GraphOrderID                   *string        `json:"graphOrderId" doc:"Graph id of that order; null when there is none." example:"gid://shopify/Order/5001"`
	OrderName                      *string        `json:"orderName" doc:"Name of that order, as the store writes it; null when there is none." example:"#1001"`
	BillingPolicyInterval          string         `json:"billingPolicyInterval" doc:"Unit of time between two charges: day, week, month or year." example:"month"`
	BillingPolicyIntervalCount     int32          `json:"billingPolicyIntervalCount" doc:"How many billingPolicyInterval lie between two charges." example:"1"`
	DeliveryPolicyInterval         string         `json:"deliveryPolicyInterval" doc:"Unit of time between two deliveries: day, week, month or year." example:"month"`
	DeliveryPolicyIntervalCount    int32          `json:"deliveryPolicyIntervalCount" doc:"How many deliveryPolicyInterval lie between two deliveries. Less than the billing's for a prepaid contract." example:"1"`
	MinCycles                      *int32         `json:"minCycles" doc:"Orders that the customer committed to; null: none." example:"3"`
	MaxCycles                      *int32         `json:"maxCycles" doc:"Orders after which the contract ends; null: no end." example:"12"`
	TotalSuccessfulOrders          int32          `json:"totalSuccessfulOrders" doc:"Renewal orders that were charged so far." example:"4"`
	LastSuccessfulOrder            *string        `json:"lastSuccessfulOrder" doc:"The last renewal order, as JSON text with orderId, orderName, billingDate, orderDate (the same instant) and orderAmount (the amount charged, in currencyCode); null before the first one." example:"{\"orderId\":5004,\"orderName\":\"#1004\",\"billingDate\":\"2026-01-31T08:00:00Z\",\"orderDate\":\"2026-01-31T08:00:00Z\",\"orderAmount\":24.5}"`
	UpcomingEmailBufferDays        *int32         `json:"upcomingEmailBufferDays" doc:"Days, of 24 hours, before an order at which its customer is first reminded." example:"3"`
	UpcomingEmailTaskURL           *string        `json:"upcomingEmailTaskUrl" doc:"Always null: no task of its own announces it."`
	PauseDurationCycle             *int32         `json:"pauseDurationCycle" doc:"Orders that the pause leaves out, when it was given in orders; null otherwise." example:"2"`
	PendingCancellationCycle       *int32         `json:"pendingCancellationCycle" doc:"The last cycle that is charged before the contract is cancelled; null when no cancellation waits." example:"4"`
	CurrencyCode                   string         `json:"currencyCode" doc:"Currency of the contract: ISO 4217." example:"USD"`
	OrderAmount                    float64        `json:"orderAmount" doc:"Quantity times unit price over all lines, before discounts and delivery, in the contract's currency." example:"24.5"`
	OrderAmountUSD                 *float64       `json:"orderAmountUSD" doc:"orderAmount in US dollars. Amounts are not converted: null when the contract has another currency." example:"24.5"`
	OrderAmountShopCurrency        *float64       `json:"orderAmountShopCurrency" doc:"orderAmount in the store's currency. Amounts are not converted: null when the contract has another currency." example:"24.5"`
	OrderAmountContractCurrency    float64        `json:"orderAmountContractCurrency" doc:"The same as orderAmount." example:"24.5"`
	ContractAmount                 float64        `json:"contractAmount" doc:"The same as orderAmount." example:"24.5"`
	ContractAmountUSD              *float64       `json:"contractAmountUSD" doc:"The same as orderAmountUSD." example:"24.5"`
	TotalPrice                     float64        `json:"totalPrice" doc:"The same as orderAmount." example:"24.5"`
	LifetimeValue                  float64        `json:"lifetimeValue" doc:"Sum of all renewal orders so far, in the contract's currency, as they were charged, with taxes and delivery. An order that is refunded or cancelled at the platform later stays in it: the platform tells the service of neither." example:"98"`
	LifetimeValueUSD               *float64       `json:"lifetimeValueUSD" doc:"lifetimeValue in US dollars. Amounts are not converted: null when the contract has another currency." example:"98"`
	NextBillingDate                *web.Instant   `json:"nextBillingDate" format:"date-time" doc:"When the next order is charged, in UTC; null when none is to come." example:"2026-01-31T08:00:00Z"`
	NextPaidBillingDate            *web.Instant   `json:"nextPaidBillingDate" format:"date-time" doc:"When the next payment is due: the same as nextBillingDate and, in a pause that ends automatically, the first one after it. Deliveries of a prepaid contract come in between." example:"2026-01-31T08:00:00Z"`
	CreatedAt                      *web.Instant   `json:"createdAt" format:"date-time" doc:"When the contract was made, in UTC." example:"2026-01-31T08:00:00Z"`
	UpdatedAt                      *web.Instant   `json:"updatedAt" format:"date-time" doc:"When it was changed last, in UTC." example:"2026-01-31T08:00:00Z"`
	StartsAt                       *web.Instant   `json:"startsAt" format:"date-time" doc:"When the contract began, in UTC: when it was made." example:"2026-01-31T08:00:00Z"`
	EndsAt                         *web.Instant   `json:"endsAt" format:"date-time" doc:"When the contract ends, as far as is known: the day of a cancellation that waits, or of the last of maxCycles orders; for an expired contract when it expired; null when there is no end." example:"2026-12-31T14:00:00Z"`
	ActivatedOn                    *web.Instant   `json:"activatedOn" format:"date-time" doc:"When it became active last, in UTC; null when it never was." example:"2026-01-31T08:00:00Z"`
	PausedOn                       *web.Instant   `json:"pausedOn" format:"date-time" doc:"When it was paused, in UTC; null once it is active again." example:"2026-01-31T08:00:00Z"`
	CancelledOn                    *web.Instant   `json:"cancelledOn" format:"date-time" doc:"When it was cancelled, in UTC; null when it was not." example:"2026-01-31T08:00:00Z"`
	PauseTillDate                  *web.Instant   `json:"pauseTillDate" format:"date-time" doc:"When the pause ends automatically; null when it has no end date." example:"2026-12-31T05:00:00Z"`
	PendingCancellationDate        *web.Instant   `json:"pendingCancellationDate" format:"date-time" doc:"When the contract will be cancelled, while the cancellation waits: for deliveries that are paid for, or for orders that the customer committed to. Null otherwise." example:"2026-12-31T14:00:00Z"`
	BillingDateAfterTrial          *web.Instant   `json:"billingDateAfterTrial" format:"date-time" doc:"When the first order after a free trial is due; null when the contract began without one." example:"2026-01-31T08:00:00Z"`
	TrialEndDate                   *web.Instant   `json:"trialEndDate" format:"date-time" doc:"When the free trial ends with which the contract began; null when there was none." example:"2026-01-31T08:00:00Z"`
	QueueUpdatedAt                 *web.Instant   `json:"queueUpdatedAt" format:"date-time" doc:"When the contract's upcoming attempts were made or changed last, in UTC: by its beginning, an order, a skip, another date or interval, a pause or its end. Null when that was before the service noted it." example:"2026-01-31T08:00:00Z"`
	Dunning                        bool           `json:"dunning" doc:"Whether an order of the contract could not be charged and has not been given up." example:"false"`
	DunningState                   *rowDunning    `json:"dunningState" doc:"The order that could not be charged and has not been given up; null when there is none."`
	AutoCharge                     bool           `json:"autoCharge" doc:"Whether orders are charged on their day without anybody asking." example:"true"`
	StopUpComingOrderEmail         bool           `json:"stopUpComingOrderEmail" doc:"Whether no e-mail is sent before orders. Always false: the customer switches it off for all contracts." example:"false"`
	PausedFromActive               bool           `json:"pausedFromActive" doc:"Whether the contract is paused: only active ones can be." example:"false"`
	SkipPaymentCreateUnpaidOrder   bool           `json:"skipPaymentCreateUnpaidOrder" doc:"Whether orders are made without charging. Always false." example:"false"`
	AllowDeliveryPriceOverride     bool           `json:"allowDeliveryPriceOverride" doc:"Whether what delivery costs was set on the contract, and so stays when its orders go to another address." example:"false"`
	AllowDeliveryAddressOverride   bool           `json:"allowDeliveryAddressOverride" doc:"Whether orders may go to another address than the contract's. Always false." example:"false"`
	DisableFixEmptyQueue           bool           `json:"disableFixEmptyQueue" doc:"Whether missing upcoming attempts stay missing. Always false: they are made again." example:"false"`
	EmailBouncedOrFailed           bool           `json:"emailBouncedOrFailed" doc:"Whether an e-mail to the customer's address came back or was reported as spam, so that no more are sent." example:"false"`
	UpdatingQueue                  bool           `json:"updatingQueue" doc:"Whether the upcoming attempts are being made. Always false: they are made at once." example:"false"`
	SubscriptionCreatedEmailSent   bool           `json:"subscriptionCreatedEmailSent" doc:"Whether the customer got an e-mail about the new contract." example:"false"`
	SubscriptionCreatedEmailStatus string         `json:"subscriptionCreatedEmailSentStatus" enum:"SENT,UNSENT,FAILED,EMAIL_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_PAUSED_STATUS" doc:"What became of the e-mail about the new contract. UNSENT: it is on its way, or none was due because the contract was made elsewhere." example:"UNSENT"`
	SubscriptionCreatedSmsStatus   string         `json:"subscriptionCreatedSmsSentStatus" enum:"SENT,UNSENT,FAILED,SMS_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_PAUSED_STATUS,PHONE_NUMBER_EMPTY" doc:"What became of the SMS about the new contract: PHONE_NUMBER_EMPTY when the customer has not agreed to SMS, or has ended them." example:"UNSENT"`
	PauseReason                    *string        `json:"pauseReason" doc:"Why the contract was paused; null when nothing was said." example:"Away"`
	PauseFeedback                  *string        `json:"pauseFeedback" doc:"What the customer said about the pause; null when nothing was said." example:"Back in spring"`
	CancellationFeedback           *string        `json:"cancellationFeedback" doc:"Why the contract was cancelled or will be; null when no reason was given." example:"Too much coffee"`
	CancellationNote               *string        `json:"cancellationNote" doc:"Further words about the cancellation; null when there are none." example:"Back in autumn"`
	OrderNote                      *string        `json:"orderNote" doc:"Note that every order carries; null when there is none." example:"No plastic, please"`
	OrderNoteAttributes            *string        `json:"orderNoteAttributes" doc:"Keys and values that every order carries, as JSON text; null when there are none." example:"[{\"key\":\"gift\",\"value\":\"yes\"}]"`
	DeletedVariantIDs              *string        `json:"deletedVariantIds" doc:"Numbers of the variants that lines had and the store has no more, with commas between; null when there are none. A line whose variant is gone is still ordered at its price." example:"4001"`
	BillingCountryCode             *string        `json:"billingCountryCode" doc:"Country of the payment method: ISO 3166-1, two letters; null when not known." example:"CA"`
	DeliveryCountryCode            *string        `json:"deliveryCountryCode" doc:"Country that orders go to: ISO 3166-1, two letters; null when not known." example:"CA"`
	ContractDetailsText            string         `json:"contractDetailsJSON" doc:"The lines, as JSON text: what contractDetailsJson holds." example:"[{\"lineId\":\"gid://shopify/SubscriptionLine/12\",\"title\":\"House Blend Coffee\",\"quantity\":2,\"currentPrice\":12.25}]"`
	ContractDetails                []contractLine `json:"contractDetailsJson" nullable:"false" doc:"The lines. The one-time products of upcoming orders follow them, marked _one_time_product."`
}

// rowDunning is the dunning state of a row's unpaid order.
type rowDunning struct {
	BillingAttemptID int64        `json:"billingAttemptId" doc:"Number of the billing attempt." example:"9"`
	Cycle            int32        `json:"cycle" doc:"The billing cycle." example:"3"`
	State            string       `json:"state" enum:"OPEN,HELD,ENDING" doc:"OPEN: it is tried again, or waits for the customer. HELD: it waits for the store's staff. ENDING: the contract is being paused or cancelled." example:"OPEN"`
	Class            string       `json:"class" enum:"FUNDS,ISSUER,TRANSIENT,AUTH,CARD,FRAUD,STOCK,ADDRESS,MERCHANT,GONE" doc:"What the last decline says about trying again." example:"FUNDS"`
	ErrorCode        string       `json:"errorCode" doc:"The platform's code of the last decline." example:"INSUFFICIENT_FUNDS"`
	Since            *web.Instant `json:"since" nullable:"false" format:"date-time" doc:"When the order was declined first, in UTC." example:"2026-01-31T08:00:00Z"`
	Tries            int32        `json:"tries" doc:"How often the order was charged so far." example:"2"`
	NextRetryAt      *web.Instant `json:"nextRetryAt" format:"date-time" doc:"When it is charged again automatically, in UTC; null when it is not." example:"2026-02-04T08:12:00Z"`
	EndsAt           *web.Instant `json:"endsAt" format:"date-time" doc:"When finalAction is taken, in UTC, if nothing happens before; null while a retry is planned." example:"2026-02-14T08:12:00Z"`
	FinalAction      string       `json:"finalAction" enum:"PAUSE,SKIP,CANCEL" doc:"What is done when no retry is left: the contract is paused, the order left out, or the contract cancelled." example:"PAUSE"`
}

func newRowDunning(d *contract.Dunning) *rowDunning {
	if d == nil {
		return nil
	}
	return &rowDunning{
		BillingAttemptID: d.Attempt, Cycle: int32(d.Cycle), State: string(d.State), Class: string(d.Class), ErrorCode: d.Code, Since: web.At(d.Since),
		Tries: int32(d.Tries), NextRetryAt: web.At(d.RetryAt), EndsAt: web.At(d.EndAt), FinalAction: string(d.Action),
	}
}

// contractLine is a line of a contract in a row.
type contractLine struct {
	LineID          string  `json:"lineId" doc:"Graph id of the line." example:"gid://shopify/SubscriptionLine/12"`
	ProductID       *string `json:"productId" doc:"Graph id of the product; null when it is gone." example:"gid://shopify/Product/3001"`
	VariantID       *string `json:"variantId" doc:"Graph id of the variant; null when it is gone." example:"gid://shopify/ProductVariant/4001"`
	Title           string  `json:"title" doc:"Title of the product." example:"House Blend Coffee"`
	ProductTitle    string  `json:"productTitle" doc:"The same as title." example:"House Blend Coffee"`
	VariantTitle    *string `json:"variantTitle" doc:"Title of the variant; null when the product has only one." example:"250 g"`
	SKU             *string `json:"sku" doc:"Stock keeping unit of the variant; null when it has none." example:"COFFEE-250"`
	Quantity        int32   `json:"quantity" doc:"Pieces in every order." example:"2"`
	CurrentPrice    float64 `json:"currentPrice" doc:"Price of one, before discounts, in the contract's currency." example:"12.25"`
	SellingPlanID   *string `json:"sellingPlanId" doc:"Graph id of the selling plan; null when the line has none." example:"gid://shopify/SellingPlan/6003"`
	SellingPlanName *string `json:"sellingPlanName" doc:"Name of the selling plan; null when the line has none." example:"Every month"`
	OneTime         bool    `json:"_one_time_product,omitempty" doc:"Whether the line is a product of one upcoming order only. Absent otherwise." example:"true"`
}

// lastOrder is the JSON text of lastSuccessfulOrder.
type lastOrder struct {
	OrderID     *int64       `json:"orderId"`
	OrderName   string       `json:"orderName"`
	BillingDate *web.Instant `json:"billingDate"`
	OrderDate   *web.Instant `json:"orderDate"`
	OrderAmount float64      `json:"orderAmount"`
}

const emailUnsent = "UNSENT"

func newContractRow(s shop.Shop, c contract.Contract, created notify.Results, once []billing.OneOff, bundles []bundle.Settings, offers map[int64]plan.Offer) (ContractRow, error) {
	amount := c.Amount()
	lines := make([]contractLine, len(c.Lines))
	for i, l := range c.Lines {
		if l.SellingPlanName == "" {
			l.SellingPlanName = offers[l.SellingPlanID].Name
		}
		lines[i] = newContractLine(l)
	}
	for _, o := range once {
		l := o.Line()
		l.ID = o.LineID()
		line := newContractLine(l)
		line.OneTime = true
		lines = append(lines, line)
	}
	cal, err := s.Calendar()
	if err != nil {
		return ContractRow{}, err
	}
	row := ContractRow{
		ID: int64(c.ID), Shop: s.Domain, SubscriptionContractID: int64(c.ID), GraphSubscriptionContractID: gid.Of("SubscriptionContract", int64(c.ID)),
		OriginalContractID: web.Some(int64(c.SplitFrom)), ImportedID: web.Some(c.ImportedID), Status: strings.ToLower(string(c.Status)), OriginType: string(c.Origin), SubscriptionType: string(bundle.Regular),
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
		NextBillingDate: web.At(c.NextBillingDate), NextPaidBillingDate: web.At(billing.Later(c.NextBillingDate, c.AfterPause(cal))), CreatedAt: web.At(c.CreatedAt), StartsAt: web.At(c.CreatedAt), UpdatedAt: web.At(c.UpdatedAt),
		ActivatedOn: web.At(c.ActivatedAt), PausedOn: web.At(c.PausedAt), CancelledOn: web.At(c.CancelledAt),
		AutoCharge: c.AutoCharge, AllowDeliveryPriceOverride: c.DeliverySet, PausedFromActive: c.Status == contract.Paused,
		SubscriptionCreatedEmailSent: created.Mail.Status == notify.Sent, SubscriptionCreatedEmailStatus: createdStatus(created.Mail), SubscriptionCreatedSmsStatus: smsStatus(notify.SubscriptionCreated, created.SMS),
		OrderNote: web.Some(c.Note), CancellationFeedback: web.Some(c.CancellationFeedback), CancellationNote: web.Some(c.CancellationNote), BillingCountryCode: web.Some(c.BillingCountry), DeliveryCountryCode: web.Some(c.DeliveryCountry),
		ContractDetails: lines, Dunning: c.Dunning != nil, DunningState: newRowDunning(c.Dunning),
	}
	if b, ok := bundle.Of(bundles, c); ok {
		row.SubscriptionType, row.SubscriptionTypeIdentifier = string(b.Type()), new(strconv.FormatInt(int64(b.ID), 10))
	}
	row.CustomerTag, row.DeletedVariantIDs = customerTags(c, offers), goneVariants(c)
	row.waits(c)
	row.UpcomingEmailBufferDays = new(int32(c.ReminderDays()[0]))
	row.EndsAt, row.QueueUpdatedAt = web.At(c.End(cal)), web.At(c.QueueUpdatedAt)
	return row, row.texts(c)
}

// createdStatus returns what became of the e-mail about a new contract, in the interface's words,
// which are others for a paused contract.
func createdStatus(is notify.Result) string {
	if is.Status == notify.Suppressed && is.Reason == notify.ContractPaused {
		return "CONTRACT_PAUSED_STATUS"
	}
	if status := mailStatus(is); status != "CONTRACT_CANCELLED" && status != "STOP_FROM_CONTRACT" {
		return status
	}
	return emailUnsent
}

// goneVariants returns the variants that lines had; nil when the store has them all.
func goneVariants(c contract.Contract) *string {
	var gone []string
	for _, l := range c.Lines {
		if l.FormerVariantID != 0 {
			gone = append(gone, strconv.FormatInt(l.FormerVariantID, 10))
		}
	}
	return web.Some(strings.Join(gone, ","))
}

// customerTags returns the tags that the customer has because the contract runs on
// options of our groups; nil when there are none.
func customerTags(c contract.Contract, offers map[int64]plan.Offer) *string {
	var tags []string
	for _, l := range c.Lines {
		for _, tag := range offers[l.SellingPlanID].CustomerTags() {
			if c.Status == contract.Active && !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
	}
	return web.Some(strings.Join(tags, ","))
}

// waits fills what the contract waits for.
func (row *ContractRow) waits(c contract.Contract) {
	if p := c.Pause; p != nil {
		row.PauseTillDate, row.PauseDurationCycle = web.At(p.Until), web.Some(int32(p.Cycles))
		row.PauseReason, row.PauseFeedback = web.Some(p.Reason), web.Some(p.Feedback)
	}
	if e := c.Ending; e != nil {
		row.PendingCancellationDate, row.PendingCancellationCycle = web.At(e.At), new(int32(e.Cycle))
	}
	if t := c.Trial; t != nil {
		row.TrialEndDate, row.BillingDateAfterTrial = web.At(t.EndsAt), web.At(t.ChargeAt)
	}
}

// texts fills the fields that the interface carries as JSON text.
func (row *ContractRow) texts(c contract.Contract) error {
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
		order, err := jsonText(lastOrder{
			OrderID: web.Some(c.LastOrderID), OrderName: c.LastOrder, BillingDate: web.At(c.LastOrderAt), OrderDate: web.At(c.LastOrderAt),
			OrderAmount: c.LastOrderAmount.Float(),
		})
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

func newContractLine(l contract.LineItem) contractLine {
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
