package partner

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const (
	// atOnce is how many connections are worked together.
	atOnce = 20
	// tellLease is how long a call belongs to whoever took it up.
	tellLease = time.Minute
)

// waits are the waits after a call failed: for the first time, the second, and so
// on. After the last one it is given up; the merchant can have it sent again.
func waits() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour, 24 * time.Hour}
}

// decisionCall tells an application how a merchant decided. The code is there
// when a token can be fetched with it; nonce is another name of it.
type decisionCall struct {
	Connection ConnectionID   `json:"connection_id"`
	Shop       string         `json:"shop"`
	Status     State          `json:"status"`
	Scopes     []access.Scope `json:"scopes"`
	State      string         `json:"state,omitempty"`
	Code       string         `json:"code,omitempty"`
	Nonce      string         `json:"nonce,omitempty"`
	ExpiresAt  *time.Time     `json:"expires_at,omitempty"`
}

// telling is a call that was taken up.
type telling struct {
	Connection
	domain string
	code   string
}

func (t telling) body() []byte {
	call := decisionCall{Connection: t.ID, Shop: t.domain, Status: t.State, Scopes: t.Scopes, State: t.ClientState}
	if t.code != "" {
		until := t.CodeUntil.UTC()
		call.Code, call.Nonce, call.ExpiresAt = t.code, t.code, &until
	}
	return encode(call)
}

// Work tells applications what they are owed and ends what nobody decided, until
// nothing is due. Before a call is made its code and the next try are committed,
// so that a process that dies leaves nothing untold.
func (s *Service) Work(ctx context.Context, of shop.ID) error {
	for ctx.Err() == nil {
		taken, worked, err := s.take(ctx, of)
		if err != nil {
			return fmt.Errorf("take up what applications are owed: %w", err)
		}
		if worked == 0 {
			return nil
		}
		for _, t := range taken {
			if err := s.tell(ctx, t); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (s *Service) take(ctx context.Context, of shop.ID) (taken []telling, worked int, err error) {
	now := s.Clock.Now()
	err = s.Store.Update(ctx, of, func(tx Tx) error {
		taken = nil
		if err := tx.LockKeys(ctx); err != nil {
			return err
		}
		due, err := tx.DueConnections(ctx, now, atOnce)
		if worked = len(due); err != nil || worked == 0 {
			return err
		}
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		for _, c := range due {
			if err := expire(ctx, tx, &c, now); err != nil {
				return err
			}
			if c.CallAt.IsZero() || now.Before(c.CallAt) {
				continue
			}
			t := telling{domain: store.Domain}
			c.CallAt = now.Add(tellLease)
			if c.State == Connected && c.Token == 0 && c.Notification != CallRejected {
				t.code = access.NewSecret("prc_")
				c.Code, c.CodeUntil = access.HashOf(t.code), now.Add(CodeLife)
			}
			if err := tx.PutConnection(ctx, &c); err != nil {
				return err
			}
			t.Connection = c
			taken = append(taken, t)
		}
		return nil
	})
	return taken, worked, err
}

// tell makes one call and notes how it ended.
func (s *Service) tell(ctx context.Context, t telling) error {
	failed := s.call(ctx, t)
	if ctx.Err() != nil {
		return ctx.Err() // the lease ends by itself
	}
	if failed != nil {
		s.Log.WarnContext(ctx, "an application could not be told", "app", t.App, "connection", t.ID, "call", t.Notification, "tries", t.Tries+1, "error", failed)
	}
	_, err := s.change(ctx, t.Shop, func(tx Tx) (Connection, error) {
		c, err := tx.Connection(ctx, t.ID)
		if err != nil || c.CallID != t.CallID || c.CallAt.IsZero() {
			return c, err // something newer is owed, or nothing any more
		}
		if c.quiet(); failed != nil {
			if c.Failure = failed.Error(); c.Tries < len(waits()) {
				c.CallAt = s.Clock.Now().Add(waits()[c.Tries])
			}
			c.Tries++
		}
		return c, tx.PutConnection(ctx, &c)
	})
	return err
}

func (s *Service) call(ctx context.Context, t telling) error {
	a, err := s.Store.App(ctx, t.App)
	if err != nil {
		return err
	}
	if a.Status != Live {
		return fault.New(fault.FailedPrecondition, "the application is suspended")
	}
	_, err = s.Caller.Post(ctx, a, string(t.Notification), Message{ID: t.CallID, At: s.Clock.Now(), Body: t.body()})
	return err
}
