package admin

import (
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
)

// billingAttempt is the billing attempt record. Every field of the interface is
// there; one of which nothing is known is null.
type billingAttempt struct {
	ID                             int64            `json:"id"`
	Shop                           string           `json:"shop"`
	BillingAttemptID               *string          `json:"billingAttemptId" doc:"The platform's graph id."`
	Status                         string           `json:"status" enum:"SUCCESS,FAILURE,REQUESTING,PROGRESS,QUEUED,SKIPPED,SOCIAL_CONNECTION_NULL,CONTRACT_CANCELLED,CONTRACT_ENDED,CONTRACT_PAUSED,AUTO_CHARGE_DISABLED,SKIPPED_DUNNING_MGMT,SECURITY_CHALLENGE,SHOPIFY_EXCEPTION"`
	BillingDate                    *web.Instant     `json:"billingDate" format:"date-time"`
	AttemptTime                    *web.Instant     `json:"attemptTime" format:"date-time"`
	ContractID                     int64            `json:"contractId"`
	AttemptCount                   int32            `json:"attemptCount"`
	ProgressAttemptCount           int32            `json:"progressAttemptCount"`
	GraphOrderID                   *string          `json:"graphOrderId"`
	OrderID                        *int64           `json:"orderId"`
	OrderName                      *string          `json:"orderName"`
	OrderAmount                    *float64         `json:"orderAmount" doc:"What was charged; before that, what would be charged now."`
	OrderAmountUSD                 *float64         `json:"orderAmountUSD"`
	TransactionRate                *float64         `json:"transactionRate"`
	RetryingNeeded                 *bool            `json:"retryingNeeded" nullable:"false"`
	ApplyUsageCharge               *bool            `json:"applyUsageCharge" nullable:"false"`
	UpgradeDowngradeBilling        *bool            `json:"upgradeDowngradeBilling" nullable:"false"`
	RecurringChargeID              *int64           `json:"recurringChargeId"`
	BillingAttemptResponseMessage  *string          `json:"billingAttemptResponseMessage"`
	OrderNote                      *string          `json:"orderNote" doc:"Of this order only."`
	VariantList                    []attemptVariant `json:"variantList" nullable:"false"`
	TransactionFailedEmailStatus   string           `json:"transactionFailedEmailSentStatus" enum:"SENT,UNSENT,FAILED,EMAIL_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_CANCELLED"`
	UpcomingOrderEmailStatus       string           `json:"upcomingOrderEmailSentStatus" enum:"SENT,UNSENT,FAILED,EMAIL_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_CANCELLED,STOP_FROM_CONTRACT,CONTRACT_PAUSED"`
	SecurityChallengeSentStatus    string           `json:"securityChallengeSentStatus" enum:"SENT,UNSENT,FAILED,EMAIL_SETTINGS_DISABLED,CONTRACT_CANCELLED"`
	TransactionFailedSmsSentStatus string           `json:"transactionFailedSmsSentStatus" enum:"SENT,UNSENT,FAILED,SMS_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_CANCELLED,PHONE_NUMBER_EMPTY"`
	UpcomingOrderSmsSentStatus     string           `json:"upcomingOrderSmsSentStatus" enum:"SENT,UNSENT,FAILED,SMS_SETTINGS_DISABLED,CUSTOMER_PAYMENT_EMPTY,CONTRACT_CANCELLED,PHONE_NUMBER_EMPTY,STOP_FROM_CONTRACT,CONTRACT_PAUSED"`
	UsageChargeStatus              *string          `json:"usageChargeStatus" doc:"SUCCESS, FAILED or TO_BE_TRIED."`
}

// attemptVariant is what an attempt orders.
type attemptVariant struct {
	VariantID     int64   `json:"variantId"`
	Quantity      int32   `json:"quantity"`
	Title         string  `json:"title"`
	Image         *string `json:"image"`
	ProductTitle  string  `json:"productTitle"`
	ProductID     *string `json:"productId" doc:"Graph id."`
	SellingPlanID *string `json:"sellingPlanId" doc:"Graph id."`
}

func newBillingAttempt(domain string, r billing.Record) billingAttempt {
	amount := r.Amount
	if r.Status != billing.Success {
		amount = contract.Contract{Currency: r.Of.Currency, Lines: r.LinesOf()}.Amount()
	}
	a := billingAttempt{
		ID: int64(r.ID), Shop: domain, BillingAttemptID: web.Some(r.PlatformID), Status: string(r.Status),
		BillingDate: web.At(r.BillingDate), AttemptTime: web.At(r.AttemptedAt), ContractID: int64(r.Contract),
		AttemptCount: int32(r.Try), ProgressAttemptCount: int32(r.Polls),
		GraphOrderID: graphID("Order", r.OrderID), OrderID: web.Some(r.OrderID), OrderName: web.Some(r.OrderName),
		OrderAmount: new(amount.Float()), OrderAmountUSD: in("USD", amount),
		RetryingNeeded: new(r.Flags.RetryingNeeded), ApplyUsageCharge: new(r.Flags.ApplyUsageCharge), UpgradeDowngradeBilling: new(r.Flags.UpgradeDowngradeBilling),
		BillingAttemptResponseMessage: web.Some(responseOf(r)), OrderNote: web.Some(r.Note), VariantList: []attemptVariant{},
		TransactionFailedEmailStatus: emailUnsent, UpcomingOrderEmailStatus: emailUnsent, SecurityChallengeSentStatus: emailUnsent,
		TransactionFailedSmsSentStatus: emailUnsent, UpcomingOrderSmsSentStatus: emailUnsent,
	}
	for _, l := range r.LinesOf() {
		a.VariantList = append(a.VariantList, newAttemptVariant(l))
	}
	return a
}

func newAttemptVariant(l contract.Line) attemptVariant {
	v := attemptVariant{
		VariantID: l.VariantID, Quantity: int32(l.Quantity), Title: l.VariantTitle, Image: web.Some(l.Image), ProductTitle: l.Title,
		ProductID: graphID("Product", l.ProductID), SellingPlanID: graphID("SellingPlan", l.SellingPlanID),
	}
	if v.Title == "" {
		v.Title = l.Title
	}
	return v
}

// responseOf returns what the platform, or the service, said of the attempt.
func responseOf(r billing.Record) string {
	if r.ErrorCode != "" && r.ErrorMessage != "" {
		return r.ErrorCode + ": " + r.ErrorMessage
	}
	return r.ErrorCode + r.ErrorMessage
}
