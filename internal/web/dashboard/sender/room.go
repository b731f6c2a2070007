// Package sender is the page of the dashboard about the sender of e-mails: the name and the address that
// they come from, and the DNS records by which receivers trust them.
package sender

import (
	"context"
	"embed"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/maildns"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// Account is how the installation sends e-mails.
type Account struct {
	From         string   // the sender's address
	DKIMSelector string   // empty: it is not known
	Missing      []string // settings without which no e-mail is sent
}

// Options are what the page needs.
type Options struct {
	Account  Account
	Resolver maildns.Resolver
	Letters  interface {
		// Sender returns the name that e-mails to customers come from, and the address that replies go
		// to; empty: the sender's.
		Sender(ctx context.Context, of shop.Shop) (name, replyTo string, err error)
	}
	Sender interface {
		SendTest(ctx context.Context, of shop.ID, to string, l notify.Letter, by activity.Actor) error
	}
	Clock clock.Clock
}

type room struct{ Options }

// path is that of the page, and what the path of its test begins with.
const path = "/sender"

//go:embed pages/*.html
var pages embed.FS

// New returns the room.
func New(o Options) dashboard.Room {
	m := &room{o}
	return dashboard.Room{
		Pages:  pages,
		Styles: ".records code{overflow-wrap:anywhere}.records td.d{grid-column:1/-1}",
		Said:   map[string]string{"sender-tested": "A test is on its way to you. Look in the spam folder, too."},
		Routes: []dashboard.Route{
			{Pattern: "GET /sender", Need: staff.ReadStore, Show: m.show},
			{Pattern: "POST /sender/test", Need: staff.ManageStore, Show: m.try},
		},
	}
}
