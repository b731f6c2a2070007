package webhook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Type says what a message tells of.
type Type string

// The types that the interface names, about charges that somebody asked for at
// once, and the type of messages that try an endpoint.
const (
	ImmediateSuccess Type = "SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS"
	ImmediateFailure Type = "SUBSCRIPTION_BILLING_ATTEMPTS_FAILURE"
	Test             Type = "webhook.test"
)

// The types about members of the loyalty programme.
const (
	SignUp        Type = members + "sign-up"
	Earned        Type = members + "earned"
	Redeemed      Type = members + "redeemed"
	CreditsEarned Type = members + "credits-earned"

	TierAchieved   Type = members + "vip-tier-achieved"
	Birthday       Type = members + "birthday-trigger"
	ReferralReward Type = members + "referral-reward"
	ReferredReward Type = members + "referred-reward" // no programme gives the friend anything yet
)

const members = "loyalty."

// topic is what happened, said of either line.
type topic string

const (
	created         topic = "created"
	updated         topic = "updated"
	activated       topic = "activated"
	paused          topic = "paused"
	cancelled       topic = "cancelled"
	expired         topic = "expired"
	dateChanged     topic = "next-order-date-changed"
	intervalChanged topic = "billing-interval-changed"
	billingSuccess  topic = "billing-success"
	billingFailure  topic = "billing-failure"
	billingSkipped  topic = "billing-skipped"
	upcomingOrder   topic = "upcoming-order-notification"
)

var topics = []topic{
	created, updated, activated, paused, cancelled, expired, dateChanged, intervalChanged, billingSuccess, billingFailure, billingSkipped, upcomingOrder,
}

// prefixes begin the types of each line.
var prefixes = map[shop.Line]string{shop.Subscriptions: "subscription.", shop.Memberships: "membership."}

func (t topic) of(l shop.Line) Type { return Type(prefixes[l] + string(t)) }

// Types lists every type that an endpoint can subscribe to.
var Types = func() []Type {
	list := []Type{ImmediateSuccess, ImmediateFailure}
	for _, l := range []shop.Line{shop.Subscriptions, shop.Memberships} {
		for _, t := range topics {
			list = append(list, t.of(l))
		}
	}
	return append(list, SignUp, Earned, Redeemed, CreditsEarned, TierAchieved, Birthday, ReferralReward, ReferredReward)
}()

// ParseTypes reads the types that an endpoint subscribes to, each once.
func ParseTypes(texts []string) ([]Type, error) {
	wrong := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity(entity).Code("webhookType").Field("types")
	}
	var list []Type
	for _, t := range texts {
		switch {
		case slices.Contains(list, Type(t)):
		case slices.Contains(Types, Type(t)):
			list = append(list, Type(t))
		default:
			return nil, wrong("%q is not a type: %s", t, listed())
		}
	}
	if len(list) == 0 {
		return nil, wrong("name at least one type: %s", listed())
	}
	return list, nil
}

func listed() string {
	words := make([]string, len(Types))
	for i, t := range Types {
		words[i] = string(t)
	}
	return "there are " + strings.Join(words, ", ")
}

// ofContract holds what entries about contracts tell of when they say that
// something was done. What has no topic of its own is an update.
var ofContract = map[activity.EventType]topic{
	activity.ContractCreated: created, activity.ContractActivated: activated, activity.ContractPaused: paused, activity.ContractCancelled: cancelled,
	activity.NextBillingDateChange: dateChanged, activity.BillingIntervalChange: intervalChanged,

	activity.SubscriptionContractUpdated: updated, activity.NextBillingTimeChange: updated, activity.DeliveryIntervalChange: updated,
	activity.ProductAdd: updated, activity.ProductRemove: updated, activity.ProductReplace: updated, activity.ProductQuantityChange: updated,
	activity.ProductPriceChange: updated, activity.ProductPricingPolicyChange: updated, activity.ProductSellingPlanChange: updated, activity.ProductDeletedSync: updated,
	activity.PriceChangeSync: updated, activity.PricingPolicyOverride: updated, activity.PricingPolicyRemoved: updated,
	activity.BABProductAdd: updated, activity.BABProductRemove: updated, activity.BABQuantityChange: updated, activity.BABDiscountAdjustment: updated,
	activity.DeliveryMethodUpdated: updated, activity.SystemUpdatedDeliveryPrice: updated, activity.ManualDeliveryPriceUpdated: updated, activity.DeliveryPriceOverrideChanged: updated,
	activity.ShippingAddressChange: updated, activity.ShippingAddressChangeSync: updated, activity.DiscountApplied: updated, activity.DiscountRemoved: updated,
	activity.AutomaticDiscountUpdate: updated, activity.SwitchPaymentMethods: updated, activity.PaymentMethodUpdated: updated, activity.SplitContract: updated, activity.AnchorDayRemoved: updated,
}

// ofAttempt holds the events of entries about attempts that may tell of
// something.
var ofAttempt = []activity.EventType{
	activity.BillingAttemptTriggered, activity.BillingAttemptSkipped, activity.DunningSkipped, activity.DunningAttemptSkipped, activity.NextBillingDateChange,
}

// Publishes reports whether an entry may tell of something, by what it says alone.
func Publishes(e activity.Entry) bool {
	switch e.EntityType {
	case activity.EntitySubscriptionContractDetails:
		return e.Status == activity.Success && ofContract[e.Event] != ""
	case activity.EntitySubscriptionBillingAttempt:
		return slices.Contains(ofAttempt, e.Event)
	}
	return false
}

// Subject is what an entry is about, as it stands when the entry is written.
type Subject struct {
	Line     shop.Line
	Contract contract.ID

	Status billing.Status // of the attempt; empty when the entry is about a contract
	Manual bool           // a person asked for the attempt's charge
}

// TypesOf returns the types that an entry tells of. Those that are about the contract
// come last.
func TypesOf(e activity.Entry, about Subject) []Type {
	if !Publishes(e) {
		return nil
	}
	if e.EntityType == activity.EntitySubscriptionBillingAttempt {
		return ofCharge(e, about)
	}
	t := ofContract[e.Event]
	if e.Event == activity.SubscriptionContractUpdated && reached(e) == contract.Expired {
		t = expired
	}
	return []Type{t.of(about.Line)}
}

// reached returns the status of which an entry tells, if it tells of one.
func reached(e activity.Entry) contract.Status {
	var said struct {
		To contract.Status `json:"to"`
	}
	if json.Unmarshal([]byte(e.Info), &said) != nil {
		return "" // what else an entry says has other forms
	}
	return said.To
}

// ofCharge is Of for entries about attempts. A charge that a person asked for has
// failed too when it was not made: the platform skipped it, or it came too early
// and waits again for its date.
func ofCharge(e activity.Entry, about Subject) []Type {
	var list []Type
	switch e.Event {
	case activity.BillingAttemptTriggered:
		switch {
		case e.Status == activity.Success:
			list = append(list, billingSuccess.of(about.Line))
			if about.Manual {
				list = append(list, ImmediateSuccess)
			}
		case e.Status == activity.Failure && about.Status == billing.Queued:
			list = append(list, ImmediateFailure)
		case e.Status == activity.Failure:
			list = append(list, billingFailure.of(about.Line))
			if about.Manual {
				list = append(list, ImmediateFailure)
			}
		}
	case activity.BillingAttemptSkipped:
		list = append(list, billingSkipped.of(about.Line))
		if about.Manual && e.Status == activity.Skipped {
			list = append(list, ImmediateFailure)
		}
	case activity.DunningSkipped, activity.DunningAttemptSkipped:
		if about.Status == billing.SkippedDunning {
			list = append(list, billingSkipped.of(about.Line))
		}
	case activity.NextBillingDateChange:
		list = append(list, dateChanged.of(about.Line))
	}
	return list
}

// aboutAttempt holds the topics whose data is an attempt's record.
var aboutAttempt = []topic{billingSuccess, billingFailure, billingSkipped, upcomingOrder}

// AboutMember reports whether the data of a type is what happened to a member of the
// loyalty programme.
func (t Type) AboutMember() bool { return strings.HasPrefix(string(t), members) }

// AboutContract reports whether the data of a type is the contract object;
// otherwise, save for what is about members, it is an attempt's record.
func (t Type) AboutContract() bool {
	_, word, _ := strings.Cut(string(t), ".")
	return slices.Contains(topics, topic(word)) && !slices.Contains(aboutAttempt, topic(word))
}
