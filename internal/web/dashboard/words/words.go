// Package words says in plain English what entries of the activity log tell.
package words

import (
	"encoding/json"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// Line is an entry as a page shows it.
type Line struct {
	Icon string
	Tone dashboard.Tone
	Text string // a sentence without its full stop: "The contract was paused"
	By   string // who, and through what: "ana@staff.example, dashboard"
	Why  string // the reason that the entry gives; empty: none
	Info string // the additional information, indented JSON; empty: none
}

// family is what an event is about.
type family struct {
	icon string
	tone dashboard.Tone
}

var (
	orders    = family{"loop", dashboard.Info}
	skipped   = family{"skip", dashboard.Neutral}
	dates     = family{"cal", dashboard.Neutral}
	products  = family{"box", dashboard.Neutral}
	prices    = family{"star", dashboard.Neutral}
	life      = family{"pause", dashboard.Neutral}
	started   = family{"plus", dashboard.Info}
	ended     = family{"x", dashboard.Neutral}
	mails     = family{"mail", dashboard.Info}
	payments  = family{"card", dashboard.Warning}
	places    = family{"home", dashboard.Neutral}
	plans     = family{"plan", dashboard.Neutral}
	partners  = family{"key", dashboard.Info}
	settings  = family{"gear", dashboard.Neutral}
	integrate = family{"hook", dashboard.Neutral}
)

// phrase is what an event is called.
type phrase struct {
	family

	text string
}

// phrases are the events that have words of their own. All others are named by their type.
var phrases = map[activity.EventType]phrase{
	activity.NextBillingDateChange: {dates, "The date of an order was changed"}, activity.NextBillingTimeChange: {dates, "The time of an order was changed"},
	activity.BillingIntervalChange: {dates, "The frequency was changed"}, activity.DeliveryIntervalChange: {dates, "The delivery frequency was changed"},
	activity.AnchorDayRemoved: {dates, "The anchor day was removed"}, activity.RescheduleFulfillment: {dates, "A delivery was moved"},
	activity.BillingAttemptTriggered: {orders, "An order was charged"}, activity.ImmediateRetryTriggered: {orders, "A declined order was charged again"},
	activity.BillingAttemptSkipped: {skipped, "An order was skipped"}, activity.BillingCycleProductsSkipped: {skipped, "Products of an order were left out"},
	activity.UpcomingOrderUpdated: {orders, "An upcoming order was changed"}, activity.BillingAttemptUpdated: {orders, "An order was changed"},
	activity.BillingAttemptRefreshed: {orders, "An order was read again"}, activity.BillingAttemptNotification: {orders, "An order's result arrived"},
	activity.UpdateQueuedAttempts: {dates, "The upcoming orders were planned again"}, activity.DuplicateBillingAttemptDetected: {payments, "A second charge of an order was found"},
	activity.ImmediateOrderRateLimitBlocked: {orders, "An immediate order was refused: too many were placed"},
	activity.ProductAdd:                     {products, "A product was added"}, activity.ProductRemove: {products, "A product was removed"},
	activity.ProductReplace: {family{"swap", dashboard.Neutral}, "A product was replaced"}, activity.ProductQuantityChange: {products, "A quantity was changed"},
	activity.ProductPriceChange: {prices, "A price was changed"}, activity.ProductPricingPolicyChange: {prices, "The prices by cycle were changed"},
	activity.ProductSellingPlanChange: {plans, "The selling plan of a product was changed"}, activity.ProductDeletedSync: {products, "A product no longer exists"},
	activity.OneTimePurchaseProductAdded: {products, "A one-time product was added"}, activity.OneTimePurchaseProductRemoved: {products, "A one-time product was removed"},
	activity.OneTimePurchaseProductUpdate: {products, "A one-time product was changed"},
	activity.BABProductAdd:                {products, "A product was added to the box"}, activity.BABProductRemove: {products, "A product was taken out of the box"},
	activity.BABQuantityChange: {products, "A quantity in the box was changed"}, activity.BABDiscountAdjustment: {prices, "The discount of the box was adjusted"},
	activity.SwapAutomationTriggered: {family{"swap", dashboard.Neutral}, "A swap rule changed an order"},
	activity.ContractCreated:         {started, "The contract was created"}, activity.InitialContractInfo: {started, "The contract was read for the first time"},
	activity.SplitContract: {started, "The contract was split"}, activity.ContractPaused: {life, "The contract was paused"},
	activity.ContractActivated: {family{"play", dashboard.Good}, "The contract was activated"}, activity.ContractActivationDeferred: {life, "The pause was extended"},
	activity.AutoResumeScheduled: {life, "The end of the pause was set"}, activity.ContractCancelled: {ended, "The contract was cancelled"},
	activity.SubscriptionContractUpdated:          {settings, "The contract was changed"},
	activity.PrepaidDeferredCancellationScheduled: {ended, "The contract ends when what was paid is delivered"},
	activity.PrepaidDeferredCancellationExecuted:  {ended, "The contract ended: what was paid was delivered"},
	activity.PrepaidDeferredCancellationCleared:   {life, "The contract no longer ends"},
	activity.DeliveryMethodUpdated:                {places, "The delivery method was changed"}, activity.SystemUpdatedDeliveryPrice: {prices, "The delivery price was updated"},
	activity.ManualDeliveryPriceUpdated: {prices, "The delivery price was set"}, activity.DeliveryPriceOverrideChanged: {prices, "Who sets the delivery price was changed"},
	activity.ShippingAddressChange: {places, "The address was changed"}, activity.ShippingAddressChangeSync: {places, "The address was taken over from the customer"},
	activity.DiscountApplied: {prices, "A discount was applied"}, activity.DiscountRemoved: {prices, "A discount was removed"},
	activity.AutomaticDiscountUpdate: {prices, "The automatic discount was updated"}, activity.PriceChangeSync: {prices, "A price was taken over from the product"},
	activity.StoreCreditDiscountApplied: {prices, "Store credit was used"}, activity.UpdateStoreCredit: {prices, "Store credit was changed"},
	activity.DunningCancelled: {payments, "The contract was cancelled: its order could not be paid"}, activity.DunningPaused: {payments, "The contract was paused: its order could not be paid"},
	activity.DunningSkipped: {payments, "An order was given up: it could not be paid"}, activity.DunningAttemptSkipped: {payments, "A retry was left out"},
	activity.SwitchPaymentMethods: {payments, "The payment method was switched"}, activity.PaymentMethodUpdated: {family{"card", dashboard.Good}, "The payment method was updated"},
	activity.SubscriptionGroupPlanCreate: {plans, "A plan group was created"}, activity.SubscriptionGroupPlanUpdate: {plans, "A plan group was changed"},
	activity.SubscriptionGroupPlanDelete: {plans, "A plan group was deleted"},
	activity.PartnerConnectionRequested:  {partners, "An application asked for access"}, activity.PartnerConnectionApproved: {partners, "An application's access was approved"},
	activity.PartnerConnectionRejected: {partners, "An application's access was refused"}, activity.PartnerConnected: {partners, "An application was connected"},
	activity.PartnerDisconnected: {partners, "An application was disconnected"},
	activity.Webhook:             {integrate, "A webhook was handled"}, activity.OrderTagsAdded: {orders, "Tags were put on an order"}, activity.TagsUpdated: {settings, "Tags were changed"},
	activity.OrderAttributesSynced:           {orders, "Attributes were put on an order"},
	activity.StartedBulkAutomationProcessing: {family{"more", dashboard.Info}, "An action on many contracts was started"},
	activity.InformationalEvent:              {family{"info", dashboard.Info}, "A notice"},
	activity.StopUpcomingOrderEmailUpdated:   {mails, "The reminder of upcoming orders was switched"},
	activity.SendSubscriptionManagementLink:  {mails, "A sign-in link was sent"}, activity.BulkEmail: {mails, "E-mails were sent"}, activity.Email: {mails, "An e-mail was sent"},
}

// named are events whose type many kinds share: what was created, updated or deleted
// is the entity.
var named = map[activity.EntityType]struct {
	family

	name string
}{
	activity.EntityShopInfo: {settings, "The store's settings"}, activity.EntitySubscriptionGroupPlan: {plans, "A plan group"}, activity.EntityShippingProfile: {places, "A delivery profile"},
	activity.EntityCancellationManagement: {ended, "A cancellation"}, activity.EntityDunningManagement: {payments, "The dunning settings"},
	activity.EntityProductSwap: {family{"swap", dashboard.Neutral}, "A swap rule"}, activity.EntityEmailTemplate: {mails, "An e-mail template"},
	activity.EntitySubscriptionBundling: {products, "A box"}, activity.EntityCustomerPortalSettings: {family{"portal", dashboard.Neutral}, "The portal's settings"},
	activity.EntityBulkAutomation: {family{"more", dashboard.Info}, "An action on many contracts"}, activity.EntityPartnerConnection: {partners, "An application's connection"},
	activity.EntitySubscriptionContractDetails: {settings, "The contract"}, activity.EntitySubscriptionBillingAttempt: {orders, "An order"},
}

// sources are what changes came through.
var sources = map[activity.Source]string{
	activity.CustomerPortal: "portal", activity.MerchantPortal: "dashboard", activity.MerchantExternalAPI: "API", activity.ShopifyEvent: "store platform",
	activity.ShopifyFlow: "automation", activity.SystemEvent: "automatic", activity.MerchantPortalBulkAutomation: "action on many contracts",
}

// Source names what a change came through.
func Source(s activity.Source) string { return sources[s] }

// Of returns an entry as a page shows it.
func Of(e activity.Entry) Line {
	fields := fieldsOf(e.Info)
	p := phraseOf(e)
	if moved, is := phraseOfMove(e, fields); is {
		p = moved
	}
	l := Line{Icon: p.icon, Tone: p.tone, Text: p.text, By: sources[e.Actor.Source]}
	switch e.Status {
	case activity.Failure:
		l.Tone, l.Text = dashboard.Bad, "Failed: "+lower(l.Text)
	case activity.PartialFailure:
		l.Tone, l.Text = dashboard.Warning, "Failed in part: "+lower(l.Text)
	case activity.Skipped:
		l.Tone, l.Text = dashboard.Neutral, "Not done: "+lower(l.Text)
	}
	if e.Actor.By != "" {
		l.By = e.Actor.By + ", " + l.By
	}
	l.Why, l.Info = read(e.Info, fields)
	return l
}

// Name returns an event's type as people read it: "NEXT_BILLING_DATE_CHANGE" is "Next billing
// date change".
func Name(code string) string {
	text := strings.ToLower(strings.ReplaceAll(code, "_", " "))
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func phraseOf(e activity.Entry) phrase {
	if p, known := phrases[e.Event]; known {
		return p
	}
	verb := map[activity.EventType]string{activity.Created: "was created", activity.Updated: "was changed", activity.Deleted: "was deleted"}[e.Event]
	if n, known := named[e.EntityType]; known && verb != "" {
		if strings.HasSuffix(n.name, "settings") {
			verb = strings.Replace(verb, "was", "were", 1)
		}
		return phrase{n.family, n.name + " " + verb}
	}
	if kind, found := strings.CutPrefix(string(e.Event), "SEND_"); found {
		return phrase{mails, "E-mail: " + lower(Name(strings.TrimSuffix(kind, "_EMAIL")))}
	}
	return phrase{family{"info", dashboard.Neutral}, Name(string(e.Event))}
}

func lower(text string) string { return strings.ToLower(text[:1]) + text[1:] }

// moves are what entries tell about the move of a contract between two services.
var moves = map[moving.Way]phrase{
	moving.Leaving: {family{"ext", dashboard.Info}, "The contract leaves for another service"},
	moving.Kept:    {family{"loop", dashboard.Warning}, "The contract stays here: it could not be moved"},
	moving.Arrived: {family{"down", dashboard.Good}, "The contract has come from another service"},
}

// phraseOfMove returns what an entry about a move is called.
func phraseOfMove(e activity.Entry, fields map[string]any) (phrase, bool) {
	switch moved, _ := fields["moved"].(string); {
	case e.Event == activity.InformationalEvent && moved != "":
		p, known := moves[moving.Way(moved)]
		return p, known
	case e.Event == activity.InformationalEvent && fields["move"] != nil && fields["direction"] != nil:
		return phrase{family{"swap", dashboard.Info}, "A move of contracts"}, true
	case e.Event == activity.ContractCreated && fields["movedContractId"] != nil:
		return phrase{started, "The contract was created by a move, not charged yet"}, true
	}
	return phrase{}, false
}

// reasons are the fields of additional information that say why, the first that is there.
var reasons = []string{"reason", "cancellationNote", "cancellationFeedback", "pauseReason"}

func fieldsOf(info string) map[string]any {
	var fields map[string]any
	if json.Unmarshal([]byte(info), &fields) != nil { // it is no object
		return nil
	}
	return fields
}

// read returns the reason that additional information gives, and all of it, indented.
func read(info string, fields map[string]any) (why, all string) {
	if fields == nil {
		return "", info
	}
	for _, name := range reasons {
		if why, _ = fields[name].(string); why != "" {
			break
		}
	}
	text, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return why, info
	}
	return why, string(text)
}
