package staff

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// letter is an e-mail to a user.
type letter struct {
	to    string
	url   string
	hash  Hash // of the secret in the link
	until time.Time
	role  Role // that the reader is invited to; empty: the link resets the password
	by    activity.Actor
}

// send leaves an e-mail in a transaction.
func (s *Service) send(ctx context.Context, tx ShopTx, of shop.ID, l letter) error {
	store, err := tx.Shop(ctx)
	if err != nil {
		return err
	}
	words := notify.Staff{Shop: store.Domain, URL: l.url, Until: l.until.UTC(), Role: string(l.role), By: l.by.By}
	content, err := words.Content()
	if err != nil {
		return err
	}
	m, err := notify.New(notify.Message{
		Kind: notify.StaffLink, To: l.to, FromName: "Perennial", Content: content, Actor: l.by, DedupeKey: string(notify.StaffLink) + ":" + hex.EncodeToString(l.hash[:]),
	}, s.Clock.Now())
	if err != nil {
		return err
	}
	return notify.Queue(ctx, tx, of, m)
}
