// Package cancelling is the screens on which a customer cancels a subscription: the question why,
// at most one offer, the confirmation, and what came of it.
package cancelling

import (
	"context"
	"embed"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Sessions takes customers through the store's flow. What is another customer's is NotFound.
type Sessions interface {
	Shown(ctx context.Context, of shop.ID, cmd session.Command) (session.View, error)
	Start(ctx context.Context, of shop.ID, cmd session.Command) (session.View, error)
	Session(ctx context.Context, of shop.ID, cmd session.Named) (session.View, error)
	Answer(ctx context.Context, of shop.ID, cmd session.Answer) (session.View, error)
	Accept(ctx context.Context, of shop.ID, cmd session.Acceptance) (session.View, error)
	Decline(ctx context.Context, of shop.ID, cmd session.Named) (session.View, error)
	Keep(ctx context.Context, of shop.ID, cmd session.Named) (session.View, error)
	Confirm(ctx context.Context, of shop.ID, cmd session.Named) (session.View, error)
	Comment(ctx context.Context, of shop.ID, cmd session.Answer) (session.View, error)
}

// Options are what the room needs.
type Options struct{ Sessions Sessions }

//go:embed pages/*.html
var pages embed.FS

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{
			{Pattern: "GET /s/{contract}/cancel", Show: r.show},
			{Pattern: "POST /s/{contract}/cancel/reason", Show: r.answer},
			{Pattern: "POST /s/{contract}/cancel/decline", Show: r.decline},
			{Pattern: "POST /s/{contract}/cancel/accept", Show: r.accept},
			{Pattern: "POST /s/{contract}/cancel/keep", Show: r.keep},
			{Pattern: "POST /s/{contract}/cancel/confirm", Show: r.confirm},
			{Pattern: "GET /s/{contract}/cancelled", Show: r.ended},
			{Pattern: "POST /s/{contract}/cancelled", Show: r.comment},
		},
		Pages: pages,
		Said: map[string]string{
			"cancel-kept": "done.kept", "cancel-comment": "cancel.done.thanks",
			"cancel-SKIP": "cancel.accepted.skip", "cancel-PAUSE": "cancel.accepted.pause", "cancel-DISCOUNT": "cancel.accepted.discount", "cancel-SWAP": "cancel.accepted.swap",
			"cancel-FREQUENCY": "cancel.accepted.frequency", "cancel-QUANTITY": "cancel.accepted.quantity", "cancel-RESCHEDULE": "cancel.accepted.reschedule",
			"cancel-SAMPLE": "cancel.accepted.sample", "cancel-SUPPORT": "cancel.accepted.support", "cancel-PAYMENT_LINK": "cancel.accepted.link",
		},
	}
}

type room struct{ Options }

// command names the contract of a path, for the customer who is there.
func command(r *http.Request, v portal.Visit) (session.Command, error) {
	id, err := portal.ContractOf(r)
	return session.Command{Contract: id, Actor: v.Actor(r)}, err
}
