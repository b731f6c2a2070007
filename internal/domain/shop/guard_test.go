package shop

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func TestGuard(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name            string
		g               Guard
		barred, charges bool
	}{
		{"nothing forbids to charge", Guard{}, false, true},
		{"a frozen store is not charged", Guard{FrozenAt: noon}, true, false},
		{"an epoch that must be confirmed now blocks charges", Guard{ConfirmBy: noon}, true, false},
		{"an epoch that must be confirmed later does not", Guard{ConfirmBy: noon.Add(time.Second)}, false, true},
		{"a store whose merchant has not confirmed is not charged", Guard{Consent: Consent{AwaitsSince: noon.Add(-time.Hour)}}, true, false},
		{"a held store is charged when a person asks", Guard{Hold: Hold{Until: noon.Add(time.Second)}}, false, false},
		{"a hold ends at its instant", Guard{Hold: Hold{Until: noon, Since: noon.Add(-time.Hour)}}, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if barred, charges := row.g.BlockReason(noon) != "", row.g.ChargesAutomatically(noon); barred != row.barred || charges != row.charges {
				t.Errorf("barred %t, charges %t; want %t, %t", barred, charges, row.barred, row.charges)
			}
		})
	}
}

func TestThawRequiresPlatformToBeRead(t *testing.T) {
	t.Parallel()
	frozen := Shop{Guard: Guard{Epoch: "ours", NextEpoch: "next", PlatformEpoch: "theirs"}, ReconciledAt: noon}
	if !frozen.Freeze("a copy", noon) || frozen.Freeze("again", noon.Add(time.Hour)) || frozen.Guard.Reason != "a copy" {
		t.Fatalf("frozen %+v", frozen.Guard)
	}
	if !frozen.ReconciledAt.IsZero() || !frozen.ReconcileAt.Equal(noon) || !frozen.Guard.CheckAt.Equal(noon) {
		t.Errorf("a frozen store is not read again: %+v", frozen)
	}
	later := noon.Add(time.Minute)
	for _, row := range []struct {
		name                 string
		reconciled, compared time.Time
		lifted               bool
	}{
		{"nothing was read", time.Time{}, time.Time{}, false},
		{"contracts were read", later, noon.Add(-time.Hour), false},
		{"charges were read", noon.Add(-time.Hour), later, false},
		{"both were", later, later, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := frozen
			s.ReconciledAt, s.Guard.ComparedAt = row.reconciled, row.compared
			if err := s.Thaw(later); (err == nil) != row.lifted {
				t.Fatalf("lifting the freeze: %v", err)
			}
			if g := s.Guard; row.lifted && (g.Epoch != "theirs" || g.NextEpoch != "" || g.BlockReason(later) == "" || !g.FrozenAt.IsZero()) {
				t.Errorf("guard %+v, want the platform's epoch taken over and to be confirmed", g)
			}
		})
	}
}

func TestOverdueComparison(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		s    Shop
		says bool
	}{
		{"a store that is new", Shop{Connected: true, CreatedAt: noon.Add(-time.Hour)}, false},
		{"a store whose books were never compared", Shop{Connected: true, CreatedAt: noon.AddDate(0, 0, -2)}, true},
		{"books that were compared an hour ago", Shop{Connected: true, Guard: Guard{ComparedAt: noon.Add(-time.Hour)}}, false},
		{"books that were compared two days ago", Shop{Connected: true, Guard: Guard{ComparedAt: noon.AddDate(0, 0, -2)}}, true},
		{"a store that has left", Shop{Guard: Guard{ComparedAt: noon.AddDate(0, 0, -2)}}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if why := row.s.OverdueComparison(noon); (why != "") != row.says {
				t.Errorf("it says %q", why)
			}
		})
	}
}

func TestFreezeRestartsComparison(t *testing.T) {
	t.Parallel()
	s := Shop{Guard: Guard{Comparing: Reading{Started: noon.Add(-time.Hour), Cursor: "a page"}}}
	if s.Freeze("a copy", noon); s.Guard.Comparing != (Reading{}) {
		t.Errorf("a comparison that began before the freeze goes on: %+v", s.Guard.Comparing)
	}
}
