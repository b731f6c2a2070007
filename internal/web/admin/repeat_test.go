package admin

import (
	"bytes"
	"net/http"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// node is a process of the service: it has its own domain and shares the database.
func node(t *testing.T, db *store.DB, at *clock.Manual) *server {
	t.Helper()
	return nodeOf(t, db, at, shop.Subscriptions)
}

func nodeOf(t *testing.T, db *store.DB, at *clock.Manual, line shop.Line) *server {
	t.Helper()
	s := &server{fakes: &fakes{records: []billing.Record{theRecord()}}, t: t, log: &bytes.Buffer{}, clock: at}
	o := options(s.fakes, line, s.log, at)
	o.Gate.Answers, o.Gate.Clock = db.Answers(), at
	s.handler = New(o)
	return s
}

// The stories send each of them one twice.
func TestEveryChangeDescribesIdempotencyKey(t *testing.T) {
	t.Parallel()
	db, at := storetest.SQLite(t), clock.NewManual(noon())
	doc, err := openapi3.NewLoader().LoadFromData(node(t, db, at).ask("GET", "/openapi.json", "").Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			described := op.Parameters.GetByInAndName("header", "Idempotency-Key")
			if method == http.MethodGet {
				if described != nil {
					t.Errorf("%s takes a key and changes nothing", path)
				}
				continue
			}
			seen++
			if described == nil || described.Required || described.Schema.Value.MinLength != 1 || *described.Schema.Value.MaxLength != 255 {
				t.Errorf("%s %s describes the key as %+v", method, path, described)
			}
			for _, status := range []int{409, 422} {
				if op.Responses.Status(status) == nil {
					t.Errorf("%s %s does not describe %d", method, path, status)
				}
			}
		}
	}
	if seen < 4 {
		t.Errorf("only %d operations change something", seen)
	}
}

func TestStoredAnswerOutlivesProcessAndExpiresAfterDay(t *testing.T) {
	t.Parallel()
	db, at := storetest.SQLite(t), clock.NewManual(noon())
	skip := func() (*server, string) {
		s := node(t, db, at)
		return s, s.ask("PUT", ordersPath+"/skip-order/9", "", "Idempotency-Key", "k").Header().Get("Idempotent-Replayed")
	}
	if s, replayed := skip(); s.skipped == nil || replayed != "" {
		t.Errorf("the first: %+v, replayed %q", s.skipped, replayed)
	}
	if s, replayed := skip(); s.skipped != nil || replayed != "true" {
		t.Errorf("another process: %+v, replayed %q", s.skipped, replayed)
	}
	at.Set(noon().Add(idempotency.AnswerTTL))
	if s, replayed := skip(); s.skipped == nil || replayed != "" {
		t.Errorf("a day later: %+v, replayed %q", s.skipped, replayed)
	}
}

func TestLinesKeepAnswersApart(t *testing.T) {
	t.Parallel()
	db, at := storetest.SQLite(t), clock.NewManual(noon())
	for _, line := range []shop.Line{shop.Subscriptions, shop.Memberships} {
		s := nodeOf(t, db, at, line)
		w := s.ask("PUT", ordersPath+"/attempt-billing/9", "", "Idempotency-Key", "k")
		if w.Code != http.StatusOK || s.trigger == nil || s.trigger.Line != line {
			t.Errorf("%s: answered %d, asked for %+v", line, w.Code, s.trigger)
		}
	}
}

func TestConcurrentRequestsWithSameKeyRunOnce(t *testing.T) {
	t.Parallel()
	db, at := storetest.SQLite(t), clock.NewManual(noon())
	nodes := make([]*server, 12)
	codes := make([]int, len(nodes))
	var together sync.WaitGroup
	for i := range nodes {
		nodes[i] = node(t, db, at)
		together.Go(func() {
			codes[i] = nodes[i].ask("PUT", ordersPath+"/attempt-billing/9", "", "Idempotency-Key", "k").Code
		})
	}
	together.Wait()
	ran := 0
	for i, s := range nodes {
		if s.trigger != nil {
			ran++
		}
		if codes[i] != http.StatusOK && codes[i] != http.StatusConflict {
			t.Errorf("answered %d", codes[i])
		}
	}
	if ran != 1 {
		t.Errorf("carried out %d times", ran)
	}
}
