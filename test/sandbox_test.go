// Package test holds the stories: the whole service over simulated time, seen
// from outside.
package test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/prove/oracle"
	"github.com/perennialhq/perennial/internal/sandbox"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

// store is a running sandbox and how it is talked to.
type store struct {
	t    *testing.T
	urls sandbox.URLs
	dir  string
}

// rareChecks is the time between two comparisons with the platform in a story that is not about them.
// One takes as long as all else that happens on a day, and most find nothing. In production there is one
// every day.
const (
	everyDay   = 24 * time.Hour
	rareChecks = 7 * everyDay
)

// open starts a sandbox that ends with the test. Its tasks are carried out inline, save on PostgreSQL and
// in a soak, and it is seldom compared with the platform.
func open(t *testing.T, o sandbox.Options) *store {
	t.Helper()
	o = cheaper(t, o)
	o.DataDir, o.Listen, o.Log, o.Out = t.TempDir(), "127.0.0.1:0", slog.New(slog.DiscardHandler), io.Discard
	if onPostgres(t) {
		o.Database = storetest.PostgresOptions(t).URL
	} else {
		o.Database = filepath.Join(o.DataDir, "perennial.db")
		storetest.SQLiteFile(t, o.Database)
	}
	s, err := sandbox.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	urls := s.URLs()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the sandbox: %v", err)
		}
		s = nil // package testing keeps every parallel test's cleanups until the last test has ended
	})
	return &store{t: t, urls: urls, dir: o.DataDir}
}

// cheaper returns the options of a sandbox in which a day costs less.
func cheaper(t *testing.T, o sandbox.Options) sandbox.Options {
	t.Helper()
	if !workersOnly {
		o.Inline, o.CheckEvery = !onPostgres(t), cmp.Or(o.CheckEvery, rareChecks)
	}
	return o
}

// call sends JSON to the control interface and reads the answer into out, which
// may be nil.
func (s *store) call(method, path string, in, out any) {
	s.t.Helper()
	if got := s.send(method, s.urls.Control+path, "", in, out); got != http.StatusOK && got != http.StatusCreated && got != http.StatusNoContent {
		s.t.Fatalf("%s %s answered %d", method, path, got)
	}
}

// send sends a request, with a key if there is one, and returns the status.
func (s *store) send(method, url, key string, in, out any) int {
	s.t.Helper()
	return s.sendWith(method, url, key, nil, in, out)
}

// sendWith is send with further headers.
func (s *store) sendWith(method, url, key string, headers map[string]string, in, out any) int {
	s.t.Helper()
	var sent []byte
	if in != nil {
		var err error
		if sent, err = json.Marshal(in); err != nil {
			s.t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, url, bytes.NewReader(sent))
	if err != nil {
		s.t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("X-API-Key", key)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if answer.StatusCode < 300 && !onPostgres(s.t) {
		proofs.note(s.t.Name(), method, r.URL, sent, text)
	}
	if answer.StatusCode < 300 && out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			s.t.Fatalf("%s %s: %v in %.300s", method, url, err, text)
		}
	} else if answer.StatusCode >= 300 {
		s.t.Logf("%s %s: %d %.500s", method, url, answer.StatusCode, text)
	}
	return answer.StatusCode
}

// now returns the sandbox's time.
func (s *store) now() time.Time {
	s.t.Helper()
	var clock struct{ Now time.Time }
	s.call("GET", "/clock", nil, &clock)
	return clock.Now
}

// pass lets time pass, such as "P30D".
func (s *store) pass(duration string) {
	s.t.Helper()
	s.call("POST", "/clock", map[string]string{"advance": duration}, nil)
}

// order is a renewal in the platform's books.
type order struct {
	Shop       string
	ID         int64
	Contract   int64 `json:"contractId"`
	Cycle      int
	AttemptKey string `json:"attemptKey"`
	Amount     string
	At         time.Time
}

func (s *store) orders() []order {
	s.t.Helper()
	var orders []order
	s.call("GET", "/platform/orders", nil, &orders)
	return orders
}

// platformContract is a contract as the platform holds it.
type platformContract struct {
	ID                  int64
	Shop                string
	Status              string
	PaymentMethodStatus string        `json:"paymentMethodStatus"`
	NextBillingDate     *time.Time    `json:"nextBillingDate"`
	Billing             oracle.Policy `json:"billingPolicy"`
	Attempts            []struct {
		ID        int64
		Key       string
		Cycle     int
		State     string
		CreatedAt time.Time
	}
}

func (s *store) contract(id int64) platformContract {
	s.t.Helper()
	var c platformContract
	s.call("GET", fmt.Sprintf("/platform/contracts/%d", id), nil, &c)
	return c
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// graphAnswer is an answer of the platform.
type graphAnswer struct {
	Data   json.RawMessage
	Errors json.RawMessage
}

func (s *store) graphQL(token string, body []byte) graphAnswer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.urls.Platform+"/admin/api/2026-10/graphql.json", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Shopify-Access-Token", token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	var out graphAnswer
	if err := json.NewDecoder(answer.Body).Decode(&out); err != nil {
		s.t.Fatal(err)
	}
	return out
}
