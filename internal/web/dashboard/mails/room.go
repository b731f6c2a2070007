// Package mails is the pages of the dashboard on which a merchant writes the e-mails of a store in
// place of the product's own.
package mails

import (
	"context"
	"embed"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// Templates keeps what merchants have written.
type Templates interface {
	Live(ctx context.Context, of shop.ID) ([]mailtemplate.Template, error)
	History(ctx context.Context, of shop.ID, k mailtemplate.Key) ([]mailtemplate.Template, error)
	Publish(ctx context.Context, of shop.ID, d mailtemplate.Draft, by activity.Actor) error
}

// Value is what templates may name, with an example; without one it has no value in a kind.
type Value struct{ Name, Example string }

// Preview is how an e-mail would be read.
type Preview struct {
	notify.Letter

	Dark     string   // its HTML as a dark screen shows it
	Sheets   []string // the style sheets of both
	Problems []mailtemplate.Problem
}

// Letters writes e-mails to look at.
type Letters interface {
	// Preview returns an e-mail by a template to a made-up customer or, with a contract, to its
	// customer. With a problem that is no warning it is the product's.
	Preview(ctx context.Context, of shop.Shop, k mailtemplate.Key, f mailtemplate.Fields, about contract.Contract) (Preview, error)
	// Product returns what the product writes in each part that a template can replace.
	Product(ctx context.Context, of shop.Shop, k mailtemplate.Key) (mailtemplate.Fields, error)
	Values(ctx context.Context, of shop.Shop, k mailtemplate.Key) ([]Value, error)
}

// Options are what the pages need.
type Options struct {
	Templates Templates
	Letters   Letters
	Languages []string // of the catalogue
	Switches  interface {
		ChangeSettings(ctx context.Context, domain string, by activity.Actor, fn func(*shop.Settings) error) (shop.Settings, error)
	}
	Contracts interface {
		Sheet(ctx context.Context, of shop.ID, id contract.ID, past int) (support.Sheet, error)
	}
	Addresses interface {
		Suppressions(ctx context.Context, of shop.ID, limit int) ([]notify.Suppression, error)
		MessageList(ctx context.Context, of shop.ID, f notify.Filter, limit int) ([]notify.Message, error)
	}
	Sender interface {
		Resend(ctx context.Context, of shop.ID, id notify.MessageID, by activity.Actor) (notify.Message, error)
		Lift(ctx context.Context, of shop.ID, hash string, by activity.Actor) error
		SendTest(ctx context.Context, of shop.ID, to string, l notify.Letter, by activity.Actor) error
	}
}

type room struct{ Options }

// path is that of the list, and what the paths of templates begin with.
const path = "/mails"

//go:embed pages/*.html
var pages embed.FS

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages: pages,
		Styles: ".letters{display:grid;gap:var(--s-4);grid-template-columns:minmax(0,1fr)}.letters .sheet{height:46rem;overflow:auto;border:var(--line);border-radius:var(--r-3)}.letters iframe{display:block;width:100%;height:80rem;border:0;background:#fff}" +
			".letters .phone{width:390px;max-width:100%}.letters .dark iframe{background:#171411}.letters pre{white-space:pre-wrap;overflow-wrap:anywhere}.letters details>*+*{margin-top:var(--s-3)}" +
			".mails .c form{margin-top:var(--s-2)}textarea#f-body{min-height:16rem}.letter-cols{display:grid;grid-template-columns:minmax(0,1fr);gap:var(--s-4);align-items:start}@media (min-width:75rem){.letter-cols{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}",
		Said: map[string]string{
			"mail-on":        "The e-mail is sent from now on.",
			"mail-off":       "The e-mail is not sent any more.",
			"mail-published": "The e-mail was published. Customers get it from now on.",
			"mail-reset":     "The e-mail is the product’s again. Your versions stay in its history.",
			"mail-lifted":    "E-mails are sent to the address again.",
			"mail-resent":    "The e-mail is sent again, as it is now.",
		},
		Menu: []dashboard.Entry{{Section: dashboard.Settings, Name: "E-mail texts", Path: path, Need: staff.ReadStore}},
		Routes: []dashboard.Route{
			{Pattern: "GET /mails", Need: staff.ReadStore, Show: m.list},
			{Pattern: "GET /sent-mails", Need: staff.ReadStore, Show: m.sent},
			{Pattern: "POST /sent-mails/{mail}/resend", Need: staff.ManageContracts, Show: m.resend},
			{Pattern: "GET /suppressed", Need: staff.ReadStore, Show: m.suppressed},
			{Pattern: "GET /suppressed/{hash}", Need: staff.ManageStore, Show: m.askLift},
			{Pattern: "POST /suppressed/{hash}", Need: staff.ManageStore, Show: m.lift},
			{Pattern: "POST /mails/{kind}/switch", Need: staff.ManageStore, Show: m.turn},
			{Pattern: "GET /mails/{kind}/{language}", Need: staff.ReadStore, Show: m.edit},
			{Pattern: "POST /mails/{kind}/{language}", Need: staff.ManageStore, Show: m.save},
			{Pattern: "GET /mails/{kind}/{language}/history", Need: staff.ReadStore, Show: m.history},
			{Pattern: "GET /mails/{kind}/{language}/reset", Need: staff.ManageStore, Show: m.askReset},
			{Pattern: "POST /mails/{kind}/{language}/reset", Need: staff.ManageStore, Show: m.reset},
		},
	}
}
