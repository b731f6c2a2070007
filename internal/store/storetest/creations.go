package storetest

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func testCreations(t *testing.T, open opener) {
	w := begin(t, open)
	other := w.addShop("second.myshopify.com")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(when string, of shop.ID, now time.Time, want create.Creation) {
		t.Helper()
		got, err := w.db.Creation(t.Context(), of, want.Request, now)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", when, got, err, want)
		}
	}
	at := day.Truncate(time.Millisecond).UTC()
	asked := create.Creation{Request: "A", At: at}
	must(w.db.BeginCreation(t.Context(), w.shop.ID, asked, time.Time{}))
	want("asked for", w.shop.ID, at, asked)
	again := create.Creation{Request: "A", At: at.Add(time.Minute)}
	if err := w.db.BeginCreation(t.Context(), w.shop.ID, again, time.Time{}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("begun twice by processes that knew of no request: %v", err)
	}
	must(w.db.BeginCreation(t.Context(), w.shop.ID, again, at))
	want("asked for again", w.shop.ID, at, again)
	want("another request", w.shop.ID, at, create.Creation{Request: "B"})
	want("another shop's", other.ID, at, create.Creation{Request: "A"})
	made := create.Creation{Request: "A", At: at.Add(time.Hour), Contract: 9007}
	must(w.db.PutCreation(t.Context(), w.shop.ID, made))
	want("made", w.shop.ID, at, made)
	for what, err := range map[string]error{
		"made twice":                 w.db.PutCreation(t.Context(), w.shop.ID, create.Creation{Request: "A", At: made.At, Contract: 9008}),
		"given up though it is made": w.db.PutCreation(t.Context(), w.shop.ID, create.Creation{Request: "A", At: made.At, Contract: create.GivenUp}),
		"begun though it is made":    w.db.BeginCreation(t.Context(), w.shop.ID, create.Creation{Request: "A", At: made.At.Add(time.Minute)}, made.At),
	} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	want("still made", w.shop.ID, at, made)
	must(w.db.DeleteCreation(t.Context(), other.ID, "A"))
	want("dropped by another shop", w.shop.ID, made.At.Add(idempotency.AnswerTTL-time.Millisecond), made)
	want("a day later", w.shop.ID, made.At.Add(idempotency.AnswerTTL), create.Creation{Request: "A"})
	want("remembered", w.shop.ID, time.Time{}, made)
	must(w.db.PutCreation(t.Context(), w.shop.ID, create.Creation{Request: "C", At: made.At.Add(idempotency.AnswerTTL + time.Second)}))
	want("remembered beside a new one", w.shop.ID, time.Time{}, made)
	must(w.db.BeginCreation(t.Context(), w.shop.ID, create.Creation{Request: "C", At: made.At.Add(2*idempotency.AnswerTTL + create.Remembered)}, time.Time{})) // it has expired
	want("forgotten", w.shop.ID, time.Time{}, create.Creation{Request: "A"})
	must(w.db.DeleteCreation(t.Context(), w.shop.ID, "C"))
	want("dropped", w.shop.ID, at, create.Creation{Request: "C"})
}
