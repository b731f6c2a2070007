package storetest

import (
	"bytes"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

func testAnswers(t *testing.T, open opener) {
	request := func(key idempotency.Key, body string) idempotency.Request {
		return idempotency.Request{Caller: 3, Line: shop.Subscriptions, Method: "PUT", Path: "/orders", Key: key, Body: []byte(body)}
	}
	answer := idempotency.Answer{Status: 400, Header: map[string][]string{"Content-Type": {"application/json"}, "X-Two": {"a", "b"}}, Body: []byte("{\"detail\":\"schön, 'so' \\\"quoted\\\"\"}\n")}
	claim := func(w world, of shop.ID, c idempotency.Claim) idempotency.Record {
		w.Helper()
		r, err := w.db.Answers().Claim(w.Context(), of, c)
		if err != nil {
			w.Fatal(err)
		}
		return r
	}
	want := func(w world, of shop.ID, c idempotency.Claim, verdict idempotency.ClaimResult) idempotency.Record {
		w.Helper()
		r := claim(w, of, c)
		if got := r.Check(c); got != verdict {
			w.Errorf("verdict %d, want %d", got, verdict)
		}
		return r
	}
	must := func(w world, err error) {
		w.Helper()
		if err != nil {
			w.Fatal(err)
		}
	}
	t.Run("an answer comes back as it was kept, for a day", func(t *testing.T) {
		w := begin(t, open)
		first := request("a", "x").Claim(day)
		want(w, w.shop.ID, first, idempotency.Granted)
		must(w, w.db.Answers().Keep(t.Context(), w.shop.ID, first, answer))
		for _, after := range []time.Duration{0, idempotency.Lease, idempotency.AnswerTTL - time.Millisecond} {
			r := want(w, w.shop.ID, request("a", "x").Claim(day.Add(after)), idempotency.Answered)
			if r.Answer == nil || !reflect.DeepEqual(*r.Answer, answer) {
				t.Errorf("after %s: got %+v\nwant %+v", after, r.Answer, answer)
			}
		}
		want(w, w.shop.ID, request("a", "x").Claim(day.Add(idempotency.AnswerTTL)), idempotency.Granted)
	})
	t.Run("a large answer comes back whole", func(t *testing.T) {
		w := begin(t, open)
		large := idempotency.Answer{Status: 201, Header: map[string][]string{}, Body: bytes.Repeat([]byte(`{"title":"Böxe"},`), 200_000)}
		first := request("a", "x").Claim(day)
		claim(w, w.shop.ID, first)
		must(w, w.db.Answers().Keep(t.Context(), w.shop.ID, first, large))
		if r := want(w, w.shop.ID, request("a", "x").Claim(day), idempotency.Answered); r.Answer == nil || !reflect.DeepEqual(*r.Answer, large) {
			t.Error("it came back otherwise")
		}
	})
	t.Run("an answer without a body is an answer", func(t *testing.T) {
		w := begin(t, open)
		first := request("a", "x").Claim(day)
		claim(w, w.shop.ID, first)
		must(w, w.db.Answers().Keep(t.Context(), w.shop.ID, first, idempotency.Answer{Status: 200}))
		r := want(w, w.shop.ID, request("a", "x").Claim(day), idempotency.Answered)
		if r.Answer == nil || r.Answer.Status != 200 || len(r.Answer.Body) != 0 {
			t.Errorf("got %+v", r.Answer)
		}
	})
	t.Run("another request with the key is distinguished from a repeated one, running or answered", func(t *testing.T) {
		w := begin(t, open)
		first := request("a", "x").Claim(day)
		claim(w, w.shop.ID, first)
		want(w, w.shop.ID, request("a", "y").Claim(day), idempotency.Reused)
		must(w, w.db.Answers().Keep(t.Context(), w.shop.ID, first, answer))
		want(w, w.shop.ID, request("a", "y").Claim(day), idempotency.Reused)
		want(w, w.shop.ID, request("a", "x").Claim(day), idempotency.Answered)
	})
	t.Run("the key belongs to its shop, caller and operation", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		claim(w, w.shop.ID, request("a", "x").Claim(day))
		want(w, other.ID, request("a", "x").Claim(day), idempotency.Granted)
		another := request("a", "x")
		another.Caller = 4
		want(w, w.shop.ID, another.Claim(day), idempotency.Granted)
		elsewhere := request("a", "x")
		elsewhere.Path = "/contracts"
		want(w, w.shop.ID, elsewhere.Claim(day), idempotency.Granted)
	})
	t.Run("an unsettled claim expires with its lease and settles nothing afterwards", func(t *testing.T) {
		w := begin(t, open)
		dead := request("a", "x").Claim(day)
		claim(w, w.shop.ID, dead)
		want(w, w.shop.ID, request("a", "x").Claim(day.Add(idempotency.Lease-time.Millisecond)), idempotency.Running)
		later := day.Add(idempotency.Lease)
		second := request("a", "x").Claim(later)
		want(w, w.shop.ID, second, idempotency.Granted)
		must(w, w.db.Answers().Keep(t.Context(), w.shop.ID, dead, answer))
		want(w, w.shop.ID, request("a", "x").Claim(later), idempotency.Running)
		must(w, w.db.Answers().Release(t.Context(), w.shop.ID, dead))
		want(w, w.shop.ID, request("a", "x").Claim(later), idempotency.Running)
		must(w, w.db.Answers().Keep(t.Context(), w.shop.ID, second, answer))
		want(w, w.shop.ID, request("a", "x").Claim(later), idempotency.Answered)
	})
	t.Run("a claim that is released is free, for another request too", func(t *testing.T) {
		w := begin(t, open)
		first := request("a", "x").Claim(day)
		claim(w, w.shop.ID, first)
		must(w, w.db.Answers().Release(t.Context(), w.shop.ID, first))
		want(w, w.shop.ID, request("a", "y").Claim(day), idempotency.Granted)
	})
	t.Run("claims at once: one is granted", func(t *testing.T) {
		w := begin(t, open)
		for round, now := range []time.Time{day, day.Add(idempotency.Lease)} { // nothing is there; a dead claim is
			var granted atomic.Int32
			var together sync.WaitGroup
			for range 16 {
				together.Go(func() {
					c := request("a", "x").Claim(now)
					r, err := w.db.Answers().Claim(t.Context(), w.shop.ID, c)
					if err != nil {
						t.Error(err)
						return
					}
					switch r.Check(c) {
					case idempotency.Granted:
						granted.Add(1)
					case idempotency.Running:
					default:
						t.Errorf("verdict %d", r.Check(c))
					}
				})
			}
			together.Wait()
			if granted.Load() != 1 {
				t.Errorf("round %d: %d were granted", round, granted.Load())
			}
		}
	})
	t.Run("claims take expired rows of their shop along, and no others", func(t *testing.T) {
		w := begin(t, open)
		other := w.addShop("second.myshopify.com")
		claim(w, other.ID, request("a", "x").Claim(day))
		key := func(n int) idempotency.Key { return idempotency.Key(rune('A' + n)) }
		for n := range 50 {
			claim(w, w.shop.ID, request(key(n), "x").Claim(day))
		}
		later := day.Add(idempotency.Lease)
		claim(w, w.shop.ID, request("later", "x").Claim(later))
		claim(w, w.shop.ID, request("even later", "x").Claim(later))
		left := 0
		for n := range 50 { // asked about the time when it counted, a row that is left still does
			c := request(key(n), "x").Claim(day)
			if claim(w, w.shop.ID, c).Check(c) == idempotency.Running {
				left++
			}
		}
		if left != 10 {
			t.Errorf("%d expired rows are left, want 10", left)
		}
		want(w, other.ID, request("a", "x").Claim(day), idempotency.Running)
		want(w, w.shop.ID, request("later", "x").Claim(later), idempotency.Running)
	})
}
