package sandbox

import (
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web"
)

// clockView is what time it is.
type clockView struct {
	Now *web.Instant `json:"now"`
}

func (s *Sandbox) readClock(*http.Request) (clockView, error) {
	return clockView{web.At(s.clock.Now())}, nil
}

// clockMove says how far time moves: exactly one of the two.
type clockMove struct {
	Advance *string `json:"advance"` // ISO 8601 duration
	To      *moment `json:"to"`
}

// clockReport is what happened while time moved.
type clockReport struct {
	clockView
	tally
}

// moveClock moves the time of service and platform together.
func (s *Sandbox) moveClock(r *http.Request) (clockReport, error) {
	var in clockMove
	if err := body(r, &in); err != nil {
		return clockReport{}, err
	}
	if (in.Advance == nil) == (in.To == nil) {
		return clockReport{}, fault.New(fault.Invalid, `say how far: {"advance":"P30D"} or {"to":"2027-01-31T12:00:00Z"}`).Field("advance")
	}
	by := span{}
	if in.Advance != nil {
		var err error
		if by, err = parseSpan(*in.Advance); err != nil {
			return clockReport{}, err
		}
	}
	var before tally
	err := s.steps.Advance(r.Context(), func(now time.Time) (to time.Time, err error) {
		if before, err = s.tally(r.Context()); err != nil {
			return to, err
		}
		if in.To != nil {
			return in.To.in(time.UTC)
		}
		return by.after(now), nil
	})
	if err != nil {
		return clockReport{}, err
	}
	after, err := s.tally(r.Context())
	return clockReport{clockView{web.At(s.clock.Now())}, after.since(before)}, err
}

// tally counts what has happened since the sandbox was made.
type tally struct {
	Billed   int `json:"billed"`   // charges that the service knows to have succeeded
	Failed   int `json:"failed"`   // and to have failed
	Mails    int `json:"mails"`    // e-mails sent
	SMS      int `json:"sms"`      // SMS sent, replies included
	Webhooks int `json:"webhooks"` // of the platform that the service accepted
	Orders   int `json:"orders"`   // renewal orders in the platform's books
}

func (t tally) since(before tally) tally {
	return tally{t.Billed - before.Billed, t.Failed - before.Failed, t.Mails - before.Mails, t.SMS - before.SMS, t.Webhooks - before.Webhooks, t.Orders - before.Orders}
}
