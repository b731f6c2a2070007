package notify

import (
	"maps"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Kind says what an e-mail is for. It is stored and sent along, and does not
// change.
type Kind = shop.MailKind

// The kinds of e-mail.
const (
	SubscriptionCreated Kind = "subscription_created"
	UpcomingOrder       Kind = "upcoming_order"
	TransactionSuccess  Kind = shop.PaymentMail
	TransactionFailed   Kind = "transaction_failed"
	SecurityChallenge   Kind = "security_challenge"
	ExpiringCard        Kind = "expiring_card"
	OutOfStock          Kind = "out_of_stock"
	SuspensionWarning   Kind = "suspension_warning"
	Suspension          Kind = "suspension"
	Paused              Kind = "paused"
	Resumed             Kind = "resumed"
	Canceled            Kind = "canceled"
	OrderSkipped        Kind = "order_skipped"
	NextDate            Kind = "next_date"
	Frequency           Kind = "frequency"
	Address             Kind = "address"
	ProductAdded        Kind = "product_added"
	ProductRemoved      Kind = "product_removed"
	ProductReplaced     Kind = "product_replaced"
	PriceUpdated        Kind = "price_updated"
	ManagementLink      Kind = "management_link"
	PointsEarned        Kind = shop.PointsMail
	PointsExpiring      Kind = "points_expiring"
	TierReached         Kind = "tier_reached"
	RewardIssued        Kind = "reward_issued"
	Birthday            Kind = shop.BirthdayMail
	StoreNews           Kind = "store_news" // what a merchant writes to many customers
	StaffLink           Kind = "staff_link"

	Test           Kind = "test"            // an e-mail of any kind, to the user of the dashboard who looks at it
	MerchantNotice Kind = "merchant_notice" // to the owner of the store
	FailureDigest  Kind = "failure_digest"  // to the owner: the declined charges of a period
)

// trait is what the pipeline must know of a kind.
type trait struct {
	event  activity.EventType // of the entry that says how sending ended
	secret bool               // the text contains a credential: it is deleted once the message is final
	staff  bool               // it goes to users of the dashboard, so no store can disable it
	owner  bool               // it goes to the owner of the store
	group  grouping           // what it is reported with
}

// grouping is which messages to a person are reported in one letter.
type grouping int

const (
	alone     grouping = iota
	ofChanges          // changes of one contract
	ofOrders           // orders of all contracts
)

var traits = map[Kind]trait{
	SubscriptionCreated: {event: activity.SendSubscriptionCreatedEmail},
	UpcomingOrder:       {event: activity.SendUpcomingOrderEmail, group: ofOrders},
	TransactionSuccess:  {event: activity.SendTransactionSuccessEmail},
	TransactionFailed:   {event: activity.SendTransactionFailedEmail},
	SecurityChallenge:   {event: activity.SendSecurityChallengeEmail},
	ExpiringCard:        {event: activity.SendExpiringCreditCardEmail},
	OutOfStock:          {event: activity.SendOutOfStockEmail},
	SuspensionWarning:   {event: activity.SendSuspensionWarningEmail},
	Suspension:          {event: activity.SendSuspensionEmail},
	Paused:              {event: activity.SendSubscriptionPausedEmail, group: ofChanges},
	Resumed:             {event: activity.SendSubscriptionResumedEmail, group: ofChanges},
	Canceled:            {event: activity.SendSubscriptionCanceledEmail},
	OrderSkipped:        {event: activity.SendOrderSkippedEmail, group: ofChanges},
	NextDate:            {event: activity.SendNextOrderDateUpdatedEmail, group: ofChanges},
	Frequency:           {event: activity.SendOrderFrequencyUpdatedEmail, group: ofChanges},
	Address:             {event: activity.SendShippingAddressUpdatedEmail, group: ofChanges},
	ProductAdded:        {event: activity.SendSubscriptionProductAddedEmail, group: ofChanges},
	ProductRemoved:      {event: activity.SendSubscriptionProductRemovedEmail, group: ofChanges},
	ProductReplaced:     {event: activity.SendSubscriptionProductReplacedEmail, group: ofChanges},
	PriceUpdated:        {event: activity.SendProductPriceUpdatedEmail, group: ofChanges},
	MerchantNotice:      {event: activity.InformationalEvent, owner: true},
	FailureDigest:       {event: activity.Email, owner: true},
	PointsEarned:        {event: activity.InformationalEvent},
	PointsExpiring:      {event: activity.InformationalEvent},
	TierReached:         {event: activity.InformationalEvent},
	RewardIssued:        {event: activity.InformationalEvent},
	Birthday:            {event: activity.InformationalEvent},
	StoreNews:           {event: activity.BulkEmail},
	ManagementLink:      {event: activity.SendSubscriptionManagementLink, secret: true},
	StaffLink:           {event: activity.Email, secret: true, staff: true},
	Test:                {event: activity.Email, staff: true},
}

// OptionalKinds lists the kinds that subscribers can refuse. All others are sent to them whatever they
// have set.
var OptionalKinds = []Kind{
	UpcomingOrder, TransactionSuccess, OutOfStock, Paused, Resumed, OrderSkipped, NextDate, Frequency, Address, ProductAdded, ProductRemoved, ProductReplaced,
	PointsEarned, PointsExpiring, TierReached, RewardIssued, Birthday, StoreNews,
}

// MemberKinds lists the kinds that only members of a loyalty programme get.
var MemberKinds = []Kind{PointsEarned, PointsExpiring, TierReached, RewardIssued, Birthday}

// Required reports whether subscribers get messages of a kind whatever they have set.
func Required(k Kind) bool { return !slices.Contains(OptionalKinds, k) }

// CustomerKinds lists the kinds that subscribers get, by name.
func CustomerKinds() []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return traits[k].owner })
}

// Kinds lists the kinds that a store can disable, by name.
func Kinds() []Kind {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(traits)), func(k Kind) bool { return traits[k].staff })
}

// Unsent lists the kinds that a store does not send, by name.
func Unsent(s shop.Settings) []Kind { return slices.DeleteFunc(Kinds(), s.Sends) }

// CheckKinds says whether all of a list, in a field of a request, are kinds of e-mail.
func CheckKinds(field string, list []Kind) error {
	for _, k := range list {
		if !slices.Contains(Kinds(), k) {
			names := make([]string, 0, len(traits))
			for _, k := range Kinds() {
				names = append(names, string(k))
			}
			return fault.New(fault.Invalid, "%q is not a kind of e-mail: use %s", k, strings.Join(names, ", ")).Entity("shop").Code("mailKind").Field(field)
		}
	}
	return nil
}
