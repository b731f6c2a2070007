package shop

import (
	"testing"
	"time"
)

func TestConsent(t *testing.T) {
	t.Parallel()
	var g Guard
	if g.Confirm(noon, "ana") || g.ConfirmedBy != "" {
		t.Errorf("a store that does not wait was confirmed: %+v", g.Consent)
	}
	g.Await(noon)
	g.Await(noon.Add(time.Hour))
	if !g.AwaitsSince.Equal(noon) || g.BlockReason(noon) == "" || g.ForeignReason(noon) != "" {
		t.Errorf("waiting: %+v, blocked %q, foreign %q", g.Consent, g.BlockReason(noon), g.ForeignReason(noon))
	}
	if !g.Confirm(noon, "ana") || g.BlockReason(noon) != "" || g.ConfirmedBy != "ana" || !g.ConfirmedAt.Equal(noon) {
		t.Errorf("confirmed: %+v, %q", g.Consent, g.BlockReason(noon))
	}
}

func TestCancelsAtIsTwoDaysAfterDisconnection(t *testing.T) {
	t.Parallel()
	s := Shop{Connected: true}
	if !s.CancelsAt().IsZero() {
		t.Errorf("connected: %v", s.CancelsAt())
	}
	s.Disconnect(noon)
	if s.Connected || !s.CancelsAt().Equal(noon.AddDate(0, 0, 2)) {
		t.Errorf("disconnected: %t, %v", s.Connected, s.CancelsAt())
	}
	s.Connected = true
	if !s.CancelsAt().IsZero() {
		t.Errorf("connected again: %v", s.CancelsAt())
	}
}
