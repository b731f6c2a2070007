package sandbox

import (
	"net/http"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// defects are what the platform does wrong, or differently than it is believed
// to. Those that are left out are off.
type defects struct {
	simulator.Switches

	KeyLifetime    string `json:"keyLifetime"`    // ISO 8601 duration; empty: for ever
	DateRangeLimit string `json:"dateRangeLimit"` // ISO 8601 duration; empty: none
}

// setDefects replaces all of them, until the sandbox is started again.
func (s *Sandbox) setDefects(r *http.Request) (defects, error) {
	var in defects
	if err := body(r, &in); err != nil {
		return in, err
	}
	switches := in.Switches
	for _, limit := range []struct {
		text string
		to   *time.Duration
	}{{in.KeyLifetime, &switches.KeyLifetime}, {in.DateRangeLimit, &switches.DateRangeLimit}} {
		if limit.text == "" {
			continue
		}
		by, err := parseSpan(limit.text)
		if err != nil {
			return in, err
		}
		now := s.clock.Now()
		*limit.to = by.after(now).Sub(now)
	}
	s.sim.SetSwitches(switches)
	return in, nil
}

// bulkCharge is another app that charges a store's contracts.
type bulkCharge struct {
	Shop string  `json:"shop"` // default the demo store
	From *moment `json:"from"`
	To   *moment `json:"to"`

	Charged int `json:"charged"` // attempts that it made
}

func (s *Sandbox) bulkCharge(r *http.Request) (bulkCharge, error) {
	var in bulkCharge
	if err := body(r, &in); err != nil {
		return in, err
	}
	if in.From == nil || in.To == nil {
		return in, fault.New(fault.Invalid, "say which cycles: from and to are instants between which they are expected").Field("from")
	}
	if in.Shop == "" {
		in.Shop = demo.Main
	}
	from, err := in.From.in(time.UTC)
	if err != nil {
		return in, err
	}
	to, err := in.To.in(time.UTC)
	if err != nil {
		return in, err
	}
	in.Charged, err = s.sim.BulkCharge(in.Shop, from, to)
	return in, err
}
