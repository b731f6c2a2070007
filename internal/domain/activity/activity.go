// Package activity is the audit trail: what happened to which entity, by whose
// hand. Every change writes its entry in the commit that makes the change, so
// the trail is also the event log.
package activity

import (
	"encoding/json"
	"fmt"
	"time"
)

// Source says where a change came from.
type Source string

// The event sources of the interface.
const (
	CustomerPortal               Source = "CUSTOMER_PORTAL"
	MerchantPortal               Source = "MERCHANT_PORTAL"
	MerchantExternalAPI          Source = "MERCHANT_EXTERNAL_API"
	ShopifyEvent                 Source = "SHOPIFY_EVENT"
	ShopifyFlow                  Source = "SHOPIFY_FLOW"
	SystemEvent                  Source = "SYSTEM_EVENT"
	MerchantPortalBulkAutomation Source = "MERCHANT_PORTAL_BULK_AUTOMATION"
)

// Sources lists every event source, in the order of the interface.
var Sources = []Source{
	CustomerPortal, MerchantPortal, MerchantExternalAPI, ShopifyEvent, ShopifyFlow, SystemEvent, MerchantPortalBulkAutomation,
}

// Status says how it ended.
type Status string

// The entry statuses of the interface.
const (
	Success        Status = "SUCCESS"
	Failure        Status = "FAILURE"
	Info           Status = "INFO"
	Skipped        Status = "SKIPPED"
	PartialFailure Status = "PARTIAL_FAILURE"
)

// Statuses lists every entry status, in the order of the interface.
var Statuses = []Status{Success, Failure, Info, Skipped, PartialFailure}

// Actor is who caused a change, and from where. The zero Actor is no actor;
// System is the service itself.
type Actor struct {
	Source   Source
	By       string // empty for automated events
	ClientIP string // empty for automated events
	// Request is the id of the interface's request that acts, as the API log has it; empty:
	// none of those that the API log keeps.
	Request string `json:",omitempty"`
	// Customer is the subscriber who acts and who may see only their own records; 0 when
	// the actor acts for the store. Entries do not store it.
	Customer int64 `json:",omitempty"`
	// Job is the bulk job that acts; 0: none. Entries do not store it.
	Job int64 `json:",omitempty"`
	// CancelSession is the customer's way through the flow of cancelling that the change is
	// part of; 0: none. Entries do not store it.
	CancelSession int64 `json:",omitempty"`
}

// Subscriber reports whether the actor is a subscriber, or acts as one: what holds for
// subscribers holds for a user of the dashboard who has opened the portal as the customer.
func (a Actor) Subscriber() bool { return a.Source == CustomerPortal || a.Customer != 0 }

// System is the service acting automatically.
var System = Actor{Source: SystemEvent}

// Operator is the operator of the service. Entries of people are not automated events.
var Operator = Actor{Source: MerchantPortal, By: "operator"}

// Platform is the commerce platform acting through a webhook.
var Platform = Actor{Source: ShopifyEvent}

// Entry is one line of the trail. Entries are never altered, save that what customers said
// is erased with them.
type Entry struct {
	ID         int64 // given by the store
	EntityID   int64
	EntityType EntityType
	Event      EventType
	Status     Status
	Actor      Actor
	At         time.Time
	Info       string // JSON text, may be empty
}

// Details returns v as the JSON text of an entry. It panics when v cannot be
// written as JSON, which is a bug at the caller.
func Details(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("activity details: %v", err))
	}
	return string(text)
}

// ConnectionGone returns the entry of finding that a store's token opens it no more.
func ConnectionGone(store int64, now time.Time) Entry {
	type note struct {
		Reason string `json:"reason"`
	}
	return Entry{
		EntityID: store, EntityType: EntityShopInfo, Event: Updated, Status: Info, Actor: Platform, At: now,
		Info: Details(note{Reason: "the platform no longer knows the token: the connection is gone and nothing is charged"}),
	}
}
