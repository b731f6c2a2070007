package login

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/secret"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// BySupport is a user of the dashboard who looks at the portal as the customer.
const BySupport Via = "SUPPORT"

// SupportLife is how long a support session lasts, used or not. Its link works for supportLinkLife.
const (
	SupportLife     = 30 * time.Minute
	supportLinkLife = 5 * time.Minute
)

// supportNote is the additional information of an entry about a support session.
type supportNote struct {
	Reason  string `json:"reason"`
	Minutes int    `json:"minutes"`
}

// OpenAs makes a link that opens the portal as the customer of a contract, for a user of the
// dashboard. It works once, within five minutes; the session ends after SupportLife. The entry in
// the activity log is about the contract.
func (s *Service) OpenAs(ctx context.Context, of shop.ID, c contract.ID, customer int64, by activity.Actor) (made Credential, err error) {
	if by.By == "" {
		return made, fault.New(fault.Internal, "a support session without a user")
	}
	if s.PublicURL == "" {
		return made, noPublicURL()
	}
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		found, err := CustomerRef{Customer: customer}.find(ctx, tx)
		if err != nil {
			return err
		}
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		value, hash := secret.New()
		l := Link{Hash: hash, Customer: found.Customer.ID, Contract: found.Contract, OpenedBy: by.By, CreatedAt: now, ExpiresAt: now.Add(supportLinkLife)}
		made = Credential{l.Customer, s.address(store, "/l/"+value), l.ExpiresAt}
		if err := tx.AddLink(ctx, l); err != nil {
			return err
		}
		return tx.Record(ctx, activity.Entry{
			EntityID: int64(c), EntityType: activity.EntitySubscriptionContractDetails, Event: activity.InformationalEvent, Status: activity.Info, Actor: by, At: now,
			Info: activity.Details(supportNote{"the portal was opened as the customer", int(SupportLife / time.Minute)}),
		})
	})
	return made, err
}

func noPublicURL() error {
	return fault.New(fault.FailedPrecondition, "the service has no public address that a link could lead to").Code("publicUrlMissing")
}

// session returns what a link begins: the customer's session, or one of support.
func (l Link) session(hash Hash, now time.Time) Session {
	n := Session{Hash: hash, Customer: l.Customer, Via: ByLink, OpenedBy: l.OpenedBy, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(sessionLife)}
	if l.OpenedBy != "" {
		n.Via, n.ExpiresAt = BySupport, now.Add(SupportLife)
	}
	return n
}
