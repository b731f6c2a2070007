package portal

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Unsubscription names e-mails of a kind to a customer.
type Unsubscription struct {
	Customer int64 // the platform's number
	Kind     notify.Kind
}

// macSize is how many bytes of the code a token has.
const macSize = 16

// UnsubscribeToken returns the secret with which a customer ends e-mails without signing in. It does
// nothing else, and does not expire: an old e-mail can be ended, too.
func (s *Service) UnsubscribeToken(of shop.ID, u Unsubscription) string {
	text := fmt.Sprintf("%d.%s", u.Customer, u.Kind)
	return base64.RawURLEncoding.EncodeToString(append(s.mac(of, text), text...))
}

func (s *Service) mac(of shop.ID, text string) []byte {
	h := hmac.New(sha256.New, s.UnsubscribeKey)
	fmt.Fprintf(h, "%d.%s", of, text)
	return h.Sum(nil)[:macSize]
}

// Unsubscription returns what a token of a store ends, or NotFound.
func (s *Service) Unsubscription(of shop.ID, token string) (Unsubscription, error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil && len(raw) > macSize {
		code, text := raw[:macSize], string(raw[macSize:])
		customer, kind, _ := strings.Cut(text, ".")
		n, err := strconv.ParseInt(customer, 10, 64)
		if err == nil && hmac.Equal(code, s.mac(of, text)) && slices.Contains(notify.OptionalKinds, notify.Kind(kind)) {
			return Unsubscription{n, notify.Kind(kind)}, nil
		}
	}
	return Unsubscription{}, fault.New(fault.NotFound, "this link ends no e-mails of this store").Entity("customerPreferences").Code("unsubscribeUnknown")
}

// Unsubscribe ends the e-mails that a token names, or has them sent again. It may be repeated.
func (s *Service) Unsubscribe(ctx context.Context, of shop.ID, token string, again bool) (Unsubscription, error) {
	u, err := s.Unsubscription(of, token)
	if err != nil {
		return u, err
	}
	return u, s.Store.Update(ctx, of, func(tx Tx) error {
		p, err := tx.PortalPreferences(ctx, u.Customer)
		if err != nil {
			return err
		}
		if slices.Contains(p.Off, u.Kind) != again {
			return nil
		}
		if again {
			p.Off = slices.DeleteFunc(p.Off, func(k notify.Kind) bool { return k == u.Kind })
		} else {
			p.Off = append(p.Off, u.Kind)
			slices.Sort(p.Off)
		}
		p.UpdatedAt = s.Clock.Now()
		return tx.PutPortalPreferences(ctx, &p)
	})
}
