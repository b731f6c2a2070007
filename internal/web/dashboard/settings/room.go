// Package settings is the pages of the dashboard on which a merchant sets how the store is
// charged, and answers for its customers' data.
package settings

import (
	"context"
	"embed"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

//go:embed pages/*.html
var pages embed.FS

// Charging shows what will be charged, and has it charged.
type Charging interface {
	Preview(ctx context.Context, of shop.ID) (confirm.Preview, error)
	Confirm(ctx context.Context, of shop.ID, seen confirm.Fingerprint, by activity.Actor) (bool, error)
}

// Syncs knows how far the first sync of a store has come, and what its uninstallation leads to.
type Syncs interface {
	Departure(ctx context.Context, of shop.ID) (intake.Departure, error)
	Progress(ctx context.Context, of shop.ID) (progress intake.Sync, known bool, err error)
}

// Privacy knows the requests for personal data.
type Privacy interface {
	List(ctx context.Context, of shop.ID) ([]privacy.Request, error)
	Download(ctx context.Context, of shop.ID, id privacy.ID, by activity.Actor) (privacy.Archive, error)
}

// Changes stores settings.
type Changes interface {
	// ChangeSettings has fn change a store's settings, checks and stores them with an entry.
	ChangeSettings(ctx context.Context, domain string, by activity.Actor, fn func(*shop.Settings) error) (shop.Settings, error)
}

// Failures knows the declined charges of a store.
type Failures interface {
	// CasesSince returns the cases that were opened since an instant, at most some thousands of
	// the newest.
	CasesSince(ctx context.Context, of shop.ID, since time.Time) ([]dunning.Case, error)
}

// Options are what the pages need.
type Options struct {
	Changes  Changes
	Failures Failures
	Charging Charging
	Syncs    Syncs
	Privacy  Privacy
	Clock    clock.Clock
}

type room struct{ Options }

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages,
		Said:  map[string]string{"charging": "Orders are charged from now on.", "settings": "The settings were saved."},
		Menu: []dashboard.Entry{
			{Section: dashboard.Settings, Name: "General", Path: "/settings", Need: staff.ReadStore},
			{Section: dashboard.Settings, Name: "Billing and dunning", Path: "/settings/payments", Need: staff.ReadStore},
			{Section: dashboard.Settings, Name: "E-mails", Path: "/settings/mail", Need: staff.ReadStore},
			{Section: dashboard.Settings, Name: "Charging", Path: "/charging", Need: staff.ReadStore},
			{Section: dashboard.Settings, Name: "Personal data", Path: "/personal-data", Need: staff.ManageStore},
		},
		Routes: []dashboard.Route{
			{Pattern: "GET /settings", Need: staff.ReadStore, Show: m.general},
			{Pattern: "POST /settings", Need: staff.ManageStore, Show: m.saveGeneral},
			{Pattern: "GET /settings/payments", Need: staff.ReadStore, Show: m.payments},
			{Pattern: "POST /settings/payments", Need: staff.ManageStore, Show: m.savePayments},
			{Pattern: "GET /settings/mail", Need: staff.ReadStore, Show: m.mail},
			{Pattern: "POST /settings/mail", Need: staff.ManageStore, Show: m.saveMail},
			{Pattern: "GET /charging", Need: staff.ReadStore, Show: m.charging},
			{Pattern: "POST /charging", Need: confirmCharging, Show: m.confirmCharges},
			{Pattern: "GET /personal-data", Need: staff.ManageStore, Show: m.personal},
			{Pattern: "POST /personal-data/{request}", Need: staff.ManageStore, Show: m.download},
		},
	}
}
