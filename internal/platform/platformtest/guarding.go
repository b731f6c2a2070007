package platformtest

import (
	"errors"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
)

// guarding are the promises of platform.Epochs and platform.Books.
var guarding = []promise{
	{"a store without an epoch has none, and keeps the one that is written", func(t *testing.T, w World) {
		p := w.Platform()
		was := epoch(t, w)
		if was.Word != "" || was.Proof != "" || was.Owner == "" {
			t.Errorf("a store that is new has the epoch %+v", was)
		}
		for _, word := range []string{"one", "two"} {
			if err := p.SetEpoch(t.Context(), w.Shop(), was, word); err != nil {
				t.Fatalf("write %s: %v", word, err)
			}
			if was = epoch(t, w); was.Word != word || was.Proof == "" {
				t.Errorf("the epoch is %+v, want %s", was, word)
			}
		}
	}},
	{"an epoch is not written over one that was not read", func(t *testing.T, w World) {
		p := w.Platform()
		if err := p.SetEpoch(t.Context(), w.Shop(), epoch(t, w), "one"); err != nil {
			t.Fatal(err)
		}
		stale := epoch(t, w)
		if err := p.SetEpoch(t.Context(), w.Shop(), stale, "two"); err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, p.SetEpoch(t.Context(), w.Shop(), stale, "three"), platform.CodeStaleEpoch)
		if got := epoch(t, w); got.Word != "two" {
			t.Errorf("the epoch is %q, want two", got.Word)
		}
	}},
	{"an epoch whose answer was lost is the one that is read", func(t *testing.T, w World) {
		was := epoch(t, w)
		w.Break(AnswerLost, func() {
			if err := w.Platform().SetEpoch(t.Context(), w.Shop(), was, "one"); !errors.Is(err, platform.ErrUnknown) {
				t.Errorf("got %v, want ErrUnknown", err)
			}
		})
		if got := epoch(t, w); got.Word != "one" {
			t.Errorf("the epoch is %q, want one", got.Word)
		}
	}},
	{"the books show every charge of any app since an instant, oldest first", func(t *testing.T, w World) {
		early := due(w, Contract{})
		charge(t, w, platform.Charge{CycleRef: first(early), Key: "early"})
		w.Pass(time.Hour)
		since := w.Now()
		var want []int64
		for range 55 { // more than a page
			want = append(want, w.Contract(Contract{Next: w.Now().Add(time.Hour)}))
		}
		w.Pass(time.Hour)
		for i, k := range want[:54] {
			charge(t, w, platform.Charge{CycleRef: first(k), Key: "books " + string(rune('A'+i))})
			w.Pass(time.Second)
		}
		w.ChargeUnasked()
		w.Pass(settling)
		var got []platform.Attempt
		for cursor, pages := "", 0; ; pages++ {
			page, next, err := w.Platform().AttemptsSince(t.Context(), w.Shop(), since, cursor)
			if err != nil || pages > 5 {
				t.Fatalf("page %d: %v", pages, err)
			}
			got = append(got, page...)
			if cursor = next; cursor == "" {
				break
			}
		}
		seen := make(map[int64]bool)
		for i, a := range got {
			if a.CreatedAt.Before(since.Truncate(time.Second)) || a.Key == "early" {
				t.Errorf("attempt %d is of %s, before %s", i, a.CreatedAt, since)
			}
			if i > 0 && a.CreatedAt.Before(got[i-1].CreatedAt) {
				t.Errorf("attempt %d is older than the one before it", i)
			}
			if a.State == platform.Succeeded && a.Order.ID == 0 {
				t.Errorf("attempt %+v has no order", a)
			}
			seen[a.Contract] = true
		}
		for _, k := range want {
			if !seen[k] {
				t.Errorf("the charge of contract %d is not in the books", k)
			}
		}
	}},
}

func epoch(t *testing.T, w World) platform.Epoch {
	t.Helper()
	got, err := w.Platform().Epoch(t.Context(), w.Shop())
	if err != nil {
		t.Fatalf("read the epoch: %v", err)
	}
	return got
}
