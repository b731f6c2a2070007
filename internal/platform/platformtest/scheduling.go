package platformtest

import (
	"errors"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// scheduling are the promises of platform.Scheduler.
var scheduling = []promise{
	{"a skip, made twice, skips the cycle and no other", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		for range 2 {
			if err := w.Platform().SkipCycle(t.Context(), w.Shop(), k, 2); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []bool{false, true, false} {
			if c := cycle(t, w, platform.CycleRef{Contract: k, Index: i + 1}); c.Skipped != want {
				t.Errorf("cycle %d: skipped is %t, want %t", i+1, c.Skipped, want)
			}
		}
	}},
	{"an unskip, made twice, takes a skip back", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		if err := w.Platform().SkipCycle(t.Context(), w.Shop(), k, 1); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.Platform().UnskipCycle(t.Context(), w.Shop(), k, 1); err != nil {
				t.Fatal(err)
			}
		}
		if c := cycle(t, w, first(k)); c.Skipped {
			t.Errorf("cycle %+v, want it not skipped", c)
		}
	}},
	{"a skip whose answer was lost can be made again", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(time.Hour)})
		w.Break(AnswerLost, func() {
			if err := w.Platform().SkipCycle(t.Context(), w.Shop(), k, 1); !errors.Is(err, platform.ErrUnknown) {
				t.Errorf("got %v, want ErrUnknown", err)
			}
		})
		if err := w.Platform().SkipCycle(t.Context(), w.Shop(), k, 1); err != nil {
			t.Error(err)
		}
		if c := cycle(t, w, first(k)); !c.Skipped {
			t.Errorf("cycle %+v, want it skipped", c)
		}
	}},
	{"a billed cycle cannot be skipped", func(t *testing.T, w World) {
		k := due(w, Contract{})
		charge(t, w, platform.Charge{CycleRef: first(k), Key: "one"})
		w.Pass(settling)
		wantRefusal(t, w.Platform().SkipCycle(t.Context(), w.Shop(), k, 1), "INVALID")
	}},
	{"a move, made twice, sets the date on which the cycle is expected", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(24 * time.Hour)})
		to := w.Now().Add(12 * time.Hour)
		for range 2 {
			if err := w.Platform().MoveCycle(t.Context(), w.Shop(), k, 1, to); err != nil {
				t.Fatal(err)
			}
		}
		if c := cycle(t, w, first(k)); !c.Expected.Equal(to) || !c.Edited {
			t.Errorf("cycle %+v, want it expected at %v", c, to)
		}
	}},
	{"a move out of the cycle is refused and changes nothing", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(24 * time.Hour)})
		before := cycle(t, w, first(k))
		wantRefusal(t, w.Platform().MoveCycle(t.Context(), w.Shop(), k, 1, w.Now().Add(48*time.Hour)), "OUT_OF_BOUNDS")
		if c := cycle(t, w, first(k)); c != before {
			t.Errorf("cycle %+v, want %+v", c, before)
		}
	}},
	{"the next billing date is shown and moves no cycle", func(t *testing.T, w World) {
		k := w.Contract(Contract{Next: w.Now().Add(24 * time.Hour)})
		before := cycle(t, w, first(k))
		to := w.Now().Add(72 * time.Hour)
		for range 2 {
			if err := w.Platform().SetNextBillingDate(t.Context(), w.Shop(), k, to); err != nil {
				t.Fatal(err)
			}
		}
		got, err := w.Platform().Contracts(t.Context(), w.Shop(), []int64{k})
		if err != nil || len(got) != 1 || !got[0].NextBillingDate.Equal(to) {
			t.Errorf("got %+v, %v; want the date %v", got, err, to)
		}
		if c := cycle(t, w, first(k)); c != before {
			t.Errorf("cycle %+v, want %+v", c, before)
		}
	}},
	{"a change of an unknown contract fails for certain", func(t *testing.T, w World) {
		const unknown = 1 << 40
		for name, err := range map[string]error{
			"skip":              w.Platform().SkipCycle(t.Context(), w.Shop(), unknown, 1),
			"unskip":            w.Platform().UnskipCycle(t.Context(), w.Shop(), unknown, 1),
			"move":              w.Platform().MoveCycle(t.Context(), w.Shop(), unknown, 1, w.Now()),
			"next billing date": w.Platform().SetNextBillingDate(t.Context(), w.Shop(), unknown, w.Now()),
		} {
			if _, refused := errors.AsType[*platform.Refusal](err); !refused && !errors.Is(err, platform.ErrNotFound) {
				t.Errorf("%s: %v, want a refusal or ErrNotFound", name, err)
			}
		}
	}},
}
