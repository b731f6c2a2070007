// Package portal is what subscribers may do with their own contracts: the merchant's
// settings, the rules, and one method for each action. Pages and the JSON interface call
// it. How a change is carried out is left to amend and billing.
package portal

import (
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Action is something that a subscriber can do.
type Action string

// The actions on one order.
const (
	Skip         Action = "SKIP"
	Unskip       Action = "UNSKIP"
	Reschedule   Action = "RESCHEDULE"
	OrderNow     Action = "ORDER_NOW"
	EditNote     Action = "EDIT_ORDER_NOTE"
	AddOneTime   Action = "ADD_ONE_TIME_PRODUCT"
	EditOneTime  Action = "EDIT_ONE_TIME_PRODUCT" // another quantity, or none
	DeclineSwap  Action = "DECLINE_SWAP"          // keep what a rule of the merchant's would replace in it
	RetryPayment Action = "RETRY_PAYMENT"         // of an order that was declined
)

// The actions on a contract.
const (
	Swap              Action = "SWAP"
	ChangeQuantity    Action = "CHANGE_QUANTITY"
	AddProduct        Action = "ADD_PRODUCT"
	RemoveProduct     Action = "REMOVE_PRODUCT"
	ChangeFrequency   Action = "CHANGE_FREQUENCY"
	Pause             Action = "PAUSE"
	Resume            Action = "RESUME"
	Cancel            Action = "CANCEL"
	Keep              Action = "KEEP" // withdraw a cancellation that is scheduled
	Restart           Action = "RESTART"
	EditAddress       Action = "EDIT_ADDRESS"
	EditPaymentMethod Action = "EDIT_PAYMENT_METHOD"
	EditDiscount      Action = "EDIT_DISCOUNT"
)

// Caller is who acts: a subscriber, or a user of the dashboard as the subscriber.
type Caller struct {
	Shop  shop.Shop
	Line  shop.Line      // only contracts of it are found; empty: of both
	Actor activity.Actor // Customer is the subscriber; see login.Principal.Actor
}

// ContractRef names a contract and the version of it that the caller has seen: its fingerprint then.
// A contract that has changed since is a Conflict; Version 0 is not compared.
type ContractRef struct {
	ID      contract.ID
	Version int64
}
