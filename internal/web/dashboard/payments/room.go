// Package payments is the pages of orders whose payment was declined: what became of them, which
// are open, and what a person can do about each.
package payments

import (
	"context"
	"embed"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Cases knows the orders that are unpaid and not given up.
type Cases interface {
	// CaseCounts returns how many there are, by the class of the last decline.
	CaseCounts(ctx context.Context, of shop.ID) (map[dunning.Class]int, error)
	// OpenCases returns at most limit of those of classes, or of any when none is named, by the
	// ids of their contracts, which follow one.
	OpenCases(ctx context.Context, of shop.ID, classes []dunning.Class, after contract.ID, limit int) ([]billing.Record, error)
	// Attempt returns an order of the line, or NotFound.
	Attempt(ctx context.Context, of shop.ID, line shop.Line, id billing.AttemptID) (billing.Record, error)
}

// Figures knows what became of declined orders.
type Figures interface {
	Scope(ctx context.Context, of shop.Shop) (analytics.Scope, error)
	Recovery(ctx context.Context, of shop.ID, p analytics.Period, f analytics.Filter) (analytics.Recovery, error)
}

// Orders charges declined orders again, or does not.
type Orders interface {
	Trigger(ctx context.Context, of shop.ID, cmd command.Trigger) error
	StopRetries(ctx context.Context, of shop.ID, cmd command.Declined) (billing.Record, error)
	GiveUp(ctx context.Context, of shop.ID, cmd command.Declined) (billing.Record, error)
}

// Statuses pauses contracts.
type Statuses interface {
	SetStatus(ctx context.Context, of shop.ID, cmd amend.Command, w lifecycle.StatusChange) (contract.Detail, error)
}

// Links has the platform send customers the link to their payment method.
type Links interface {
	SendPaymentUpdate(ctx context.Context, of shop.ID, cmd amend.Command) error
}

// Options are what the pages need.
type Options struct {
	Cases    Cases
	Figures  Figures
	Orders   Orders
	Statuses Statuses
	Links    Links
	Clock    clock.Clock
}

type room struct{ Options }

// path is that of the list of open cases.
const path = "/failed-payments"

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages,
		Menu:  []dashboard.Entry{{Section: dashboard.Subscriptions, Name: "Failed payments", Path: path, Need: staff.ReadStore}},
		Routes: []dashboard.Route{
			{Pattern: "GET " + path, Need: staff.ReadStore, Show: m.list},
			{Pattern: "GET " + path + "/{attempt}", Need: staff.ManageContracts, Show: m.choose},
			{Pattern: "GET " + path + "/{attempt}/{action}", Need: staff.ManageContracts, Show: m.ask},
			{Pattern: "POST " + path + "/{attempt}/{action}", Need: staff.ManageContracts, Show: m.act},
		},
		Said: map[string]string{
			"payment-retried": "The order is being charged again. The result shows here within a minute.",
			"payment-left":    "The order is no longer charged by plan. The customer can still change the payment method.",
			"payment-skipped": "The order was skipped. The contract goes on with the next one.",
			"payment-paused":  "The contract was paused, and its unpaid order is not charged.",
			"payment-linked":  "The platform sends the customer an e-mail with a link to change the payment method.",
		},
	}
}

// now is the present instant.
func (m *room) now() time.Time { return m.Clock.Now() }
