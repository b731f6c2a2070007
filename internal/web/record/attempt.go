// Package record is the shapes that several audiences answer with: what a billing
// attempt, a contract or a one-time product looks like on the wire. Which operations
// there are, and who may call them, is left to the audiences.
package record

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/web"
)

// BillingAttempt is the billing attempt record. Every field of the interface is
// there; an unknown one is null.
type BillingAttempt struct {
	ID                             int64            `json:"id" example:"9" doc:"The service's number of the attempt."`
	Shop                           string           `json:"shop" example:"demo.myshopify.com" doc:"The store's domain."`
	BillingAttemptID               *string          `json:"billingAttemptId" doc:"The platform's graph id of the charge; null before there is one." example:"gid://shopify/SubscriptionBillingAttempt/8001"`
	Status                         string           `json:"status" enum:"SUCCESS,FAILURE,REQUESTING,PROGRESS,QUEUED,SKIPPED,SOCIAL_CONNECTION_NULL,CONTRACT_CANCELLED,CONTRACT_ENDED,CONTRACT_PAUSED,AUTO_CHARGE_DISABLED,SKIPPED_DUNNING_MGMT,SECURITY_CHALLENGE,SHOPIFY_EXCEPTION" doc:"How far the attempt is."`
	BillingDate                    *web.Instant     `json:"billingDate" format:"date-time" doc:"When the order is due." example:"2026-01-31T08:00:00Z"`
	AttemptTime                    *web.Instant     `json:"attemptTime" format:"date-time" doc:"When it was charged last; null before the first charge." example:"2026-01-31T08:00:00Z"`
	ContractID                     int64            `json:"contractId" doc:"Number of the contract." example:"9001"`
	AttemptCount                   int32            `json:"attemptCount" doc:"How often the cycle was charged so far, the last charge included." example:"1"`
	ProgressAttemptCount           int32            `json:"progressAttemptCount" doc:"How often the platform was asked for the end of the last charge and had none yet." example:"0"`
	GraphOrderID                   *string          `json:"graphOrderId" doc:"Graph id of the order; set when billing succeeded." example:"gid://shopify/Order/5004"`
	OrderID                        *int64           `json:"orderId" doc:"Number of the order; set when billing succeeded." example:"5004"`
	OrderName                      *string          `json:"orderName" example:"#1004" doc:"Set when billing succeeded."`
	OrderAmount                    *float64         `json:"orderAmount" doc:"What was charged, in the contract's currency; before that, what the order would come to now, without taxes: its lines as product swap rules change them and its one-time products, at the prices of its cycle, less the discounts that still apply then, and the delivery. Of an order that is left out, what it would have come to when that was decided." example:"24.5"`
	OrderAmountUSD                 *float64         `json:"orderAmountUSD" doc:"The same in US dollars. Amounts are not converted: null when the contract has another currency." example:"24.5"`
	TransactionRate                *float64         `json:"transactionRate" doc:"What one unit of the contract's currency is in US dollars: 1 when it is USD, else not known." example:"1"`
	RetryingNeeded                 *bool            `json:"retryingNeeded" nullable:"false" doc:"Whether the declined order is charged again automatically: true for a FAILURE attempt with a retry to come. While no charge of the attempt was declined, a mark of the caller's, which the service does not act on."`
	ApplyUsageCharge               *bool            `json:"applyUsageCharge" nullable:"false" doc:"A mark of the caller's; the service does not act on it."`
	UpgradeDowngradeBilling        *bool            `json:"upgradeDowngradeBilling" nullable:"false" doc:"A mark of the caller's; the service does not act on it."`
	RecurringChargeID              *int64           `json:"recurringChargeId" doc:"Always null: the service raises no charges on merchants."`
	BillingAttemptResponseMessage  *string          `json:"billingAttemptResponseMessage" doc:"What the platform, or the service, said of the attempt, as JSON text with error_code and error_message, each null when there is none; null when nothing was said." example:"{\"error_code\":\"CARD_EXPIRED\",\"error_message\":\"The card has expired.\"}"`
	OrderNote                      *string          `json:"orderNote" maxLength:"5000" doc:"Of this order only." example:"No plastic, please"`
	VariantList                    []AttemptVariant `json:"variantList" nullable:"false" doc:"What was ordered or left out; before that, what would be ordered now, after product swap rules."`
	TransactionFailedEmailStatus   string           `json:"transactionFailedEmailSentStatus" enum:"SENT,UNSENT,FAILED,EMAIL_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_CANCELLED" doc:"What became of the last e-mail about a failed charge. UNSENT: none was due, or it is on its way." example:"UNSENT"`
	UpcomingOrderEmailStatus       string           `json:"upcomingOrderEmailSentStatus" enum:"SENT,UNSENT,FAILED,EMAIL_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_CANCELLED,STOP_FROM_CONTRACT,CONTRACT_PAUSED" doc:"What became of the last e-mail before the order. UNSENT: it is not due yet, or it was taken back because the order changed." example:"UNSENT"`
	SecurityChallengeSentStatus    string           `json:"securityChallengeSentStatus" enum:"SENT,UNSENT,FAILED,EMAIL_SETTINGS_DISABLED,CONTRACT_CANCELLED" doc:"What became of the last e-mail that asks the customer to confirm the payment. UNSENT: none was due, or it is on its way." example:"UNSENT"`
	TransactionFailedSmsSentStatus string           `json:"transactionFailedSmsSentStatus" enum:"SENT,UNSENT,FAILED,SMS_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_CANCELLED,PHONE_NUMBER_EMPTY" doc:"What became of the last SMS about a failed charge: PHONE_NUMBER_EMPTY when the customer has not agreed to SMS, or has ended them." example:"UNSENT"`
	UpcomingOrderSmsSentStatus     string           `json:"upcomingOrderSmsSentStatus" enum:"SENT,UNSENT,FAILED,SMS_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_CANCELLED,PHONE_NUMBER_EMPTY,STOP_FROM_CONTRACT,CONTRACT_PAUSED" doc:"What became of the last SMS before the order: PHONE_NUMBER_EMPTY when the customer has not agreed to SMS, STOP_FROM_CONTRACT when the customer has ended them." example:"UNSENT"`
	UsageChargeStatus              *string          `json:"usageChargeStatus" doc:"SUCCESS, FAILED or TO_BE_TRIED. Always null: the service raises no charges on merchants."`
}

// AttemptVariant is what an attempt orders.
type AttemptVariant struct {
	VariantID     int64   `json:"variantId" doc:"Number of the variant; 0 when it is gone." example:"4001"`
	Quantity      int32   `json:"quantity" minimum:"0" doc:"Pieces." example:"2"`
	Title         string  `json:"title" doc:"Of the variant or, when it has none, of the product." example:"250 g"`
	Image         *string `json:"image" doc:"Address of the variant's image." example:"https://cdn.shopify.com/s/files/house-blend.jpg"`
	ProductTitle  string  `json:"productTitle" doc:"Title of the product." example:"House Blend Coffee"`
	ProductID     *string `json:"productId" doc:"Graph id." example:"gid://shopify/Product/3001"`
	SellingPlanID *string `json:"sellingPlanId" doc:"Graph id." example:"gid://shopify/SellingPlan/6003"`
}

// NewBillingAttempt writes an attempt of the store with the domain.
func NewBillingAttempt(domain string, r billing.Record) BillingAttempt {
	amount := r.Cost()
	a := BillingAttempt{
		ID: int64(r.ID), Shop: domain, BillingAttemptID: web.Some(r.PlatformID), Status: string(r.Status),
		BillingDate: web.At(r.BillingDate), AttemptTime: web.At(r.AttemptedAt), ContractID: int64(r.Contract),
		AttemptCount: int32(r.Try), ProgressAttemptCount: int32(r.Polls),
		GraphOrderID: graphID("Order", r.OrderID), OrderID: web.Some(r.OrderID), OrderName: web.Some(r.OrderName),
		OrderAmount: new(amount.Float()), OrderAmountUSD: in("USD", amount), TransactionRate: rateInUSD(amount.Currency),
		RetryingNeeded: new(r.RetryingNeeded()), ApplyUsageCharge: new(r.Flags.ApplyUsageCharge), UpgradeDowngradeBilling: new(r.Flags.UpgradeDowngradeBilling),
		BillingAttemptResponseMessage: responseOf(r), OrderNote: web.Some(r.Note), VariantList: []AttemptVariant{},
		TransactionFailedEmailStatus: mailStatus(r.Mails[notify.TransactionFailed]), UpcomingOrderEmailStatus: mailStatus(r.Mails[notify.UpcomingOrder]),
		SecurityChallengeSentStatus:    mailStatus(r.Mails[notify.SecurityChallenge]),
		TransactionFailedSmsSentStatus: smsStatus(notify.TransactionFailed, r.SMS[notify.TransactionFailed]), UpcomingOrderSmsSentStatus: smsStatus(notify.UpcomingOrder, r.SMS[notify.UpcomingOrder]),
	}
	for _, l := range r.LinesOf() {
		a.VariantList = append(a.VariantList, NewAttemptVariant(l))
	}
	return a
}

// mailStatus returns what became of an e-mail, in
// the interface's words.
func mailStatus(is notify.Result) string {
	switch is.Status {
	case notify.Sent:
		return "SENT"
	case notify.Failed:
		return "FAILED"
	case notify.Suppressed:
		return cmp.Or(notSent[is.Reason], emailUnsent)
	case notify.Queued, notify.Sending:
	}
	return emailUnsent
}

// notSent is the interface's word for why a message was not sent; it has none for other reasons.
var notSent = map[string]string{
	notify.Disabled: "EMAIL_SETTINGS_DISABLED", notify.Refused: "STOP_FROM_CONTRACT", notify.ContractCancelled: "CONTRACT_CANCELLED", notify.ContractPaused: "CONTRACT_PAUSED",
	notify.NoPayment: "CUSTOMER_PAYMENT_EMPTY", notify.Bounced: "FAILED", notify.Complained: "FAILED",
}

// NewAttemptVariant writes a line as what an attempt orders.
func NewAttemptVariant(l contract.LineItem) AttemptVariant {
	v := AttemptVariant{
		VariantID: l.VariantID, Quantity: int32(l.Quantity), Title: l.VariantTitle, Image: web.Some(l.Image), ProductTitle: l.Title,
		ProductID: graphID("Product", l.ProductID), SellingPlanID: graphID("SellingPlan", l.SellingPlanID),
	}
	if v.Title == "" {
		v.Title = l.Title
	}
	return v
}

// response is the JSON text of billingAttemptResponseMessage.
type response struct {
	Code    *string `json:"error_code"`
	Message *string `json:"error_message"`
}

// responseOf returns what the platform, or the service, said of the attempt; nil when
// nothing was said.
func responseOf(r billing.Record) *string {
	if r.ErrorCode == "" && r.ErrorMessage == "" {
		return nil
	}
	text, _ := jsonText(response{web.Some(r.ErrorCode), web.Some(r.ErrorMessage)}) // texts can always be written
	return &text
}

// rateInUSD returns what one unit of a currency is in US dollars, as far as that
// is known without asking anybody.
func rateInUSD(c money.Currency) *float64 {
	if c != "USD" {
		return nil
	}
	return new(1.0)
}

// OnlyDiffers refuses a record that is sent back in which another field differs than
// those that may, by their names on the wire.
func (a BillingAttempt) OnlyDiffers(become BillingAttempt, may ...string) error {
	before, after := reflect.ValueOf(a), reflect.ValueOf(become)
	for i := range before.NumField() {
		name, _, _ := strings.Cut(before.Type().Field(i).Tag.Get("json"), ",")
		if slices.Contains(may, name) || reflect.DeepEqual(before.Field(i).Interface(), after.Field(i).Interface()) {
			continue
		}
		return fault.New(fault.Invalid, "field '%s' belongs to the service and cannot be changed", name).
			Entity("subscriptionBillingAttempt").Code("fieldReadOnly").Field(name)
	}
	return nil
}
