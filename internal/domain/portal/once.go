package portal

import (
	"context"
	"net/url"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Answers keeps what requests were answered: see web.Answers.
type Answers interface {
	Claim(ctx context.Context, of shop.ID, c idempotency.Claim) (idempotency.Record, error)
	Keep(ctx context.Context, of shop.ID, c idempotency.Claim, a idempotency.Answer) error
	Release(ctx context.Context, of shop.ID, c idempotency.Claim) error
}

// Form is a form that a caller has sent, maybe again.
type Form struct {
	ID     string // made when the form was shown; 1 to 255 visible characters
	Action string // where it was sent to
	Values url.Values
}

// Once carries out a form that may be sent again. To one that was carried out within 24 hours it
// returns the first result, which is a text such as the address of the page that follows. A form
// that fails may be sent again. Name is what tells the requests from others of the shop, for
// create.RestartParams.
func (s *Service) Once(ctx context.Context, who Caller, f Form, do func(ctx context.Context, name string) (string, error)) (string, error) {
	key, err := idempotency.ParseKey(f.ID)
	if err != nil {
		return "", err
	}
	claim := idempotency.Request{Customer: who.Actor.Customer, Line: who.Line, Method: "FORM", Path: f.Action, Body: []byte(f.Values.Encode()), Key: key}.Claim(s.Clock.Now())
	known, err := s.Answers.Claim(ctx, who.Shop.ID, claim)
	if err != nil {
		return "", err
	}
	switch known.Check(claim) {
	case idempotency.Answered:
		return string(known.Answer.Body), nil
	case idempotency.Running:
		return "", fault.New(fault.Conflict, "this is being carried out already").Code("idempotencyKeyInUse").Field("request_id")
	case idempotency.Reused:
		return "", fault.New(fault.Conflict, "this page was sent before with other values: open it again").Code("idempotencyKeyReused").Field("request_id")
	}
	result, err := do(ctx, claim.RequestID())
	settling := context.WithoutCancel(ctx)
	if err != nil {
		if failed := s.Answers.Release(settling, who.Shop.ID, claim); failed != nil {
			return "", failed
		}
		return "", err
	}
	return result, s.Answers.Keep(settling, who.Shop.ID, claim, idempotency.Answer{Status: 200, Body: []byte(result)})
}
