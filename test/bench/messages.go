package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/store"
)

// What messages are measured with.
const (
	goalLetters  = 2000 // a second
	goalWebhooks = 1000
	sinkTakes    = 5 * time.Millisecond
	inFlight     = 8 // requests to an endpoint at the same time, as the service has them
)

// messages measures how fast e-mails are written and webhooks sent.
func messages(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		for _, measure := range []func(context.Context, string) error{s.letters, s.webhooks} {
			if err := measure(ctx, kind); err != nil {
				return fmt.Errorf("on %s: %w", kind, err)
			}
		}
	}
	return nil
}

// opened returns the service on a new database, without workers.
func (s settings) opened(ctx context.Context, kind string, now clock.Clock) (*app.App, func(), error) {
	d, err := s.fresh(ctx, kind)
	if err != nil {
		return nil, nil, err
	}
	set := s.serverSettings(d, platform{url: "http://127.0.0.1:1"}, "127.0.0.1:1")
	set.PrivatePartners = true // endpoints are on this machine
	a, err := app.New(ctx, app.Options{Settings: set, Clock: now, Log: slog.New(slog.DiscardHandler), Kind: app.Production, Migrate: true})
	if err != nil {
		d.drop()
		return nil, nil, err
	}
	return a, func() {
		a.Close()
		d.drop()
	}, nil
}

// taker takes every letter at once.
type taker struct{ taken atomic.Int64 }

// Send takes letters.
func (t *taker) Send(_ context.Context, list []notify.Email) []error {
	t.taken.Add(int64(len(list)))
	return make([]error, len(list))
}

// letters measures how many letters about upcoming orders are written in a second, one after another,
// beside reading what they are written from, and how many the whole pipeline sends.
func (s settings) letters(ctx context.Context, kind string) error {
	now := clock.NewManual(epoch().Add(time.Duration(s.messages)*time.Minute).AddDate(0, 0, 30).Truncate(24 * time.Hour).Add(12 * time.Hour))
	a, end, err := s.opened(ctx, kind, now)
	if err != nil {
		return err
	}
	defer end()
	of, err := runningShop(ctx, a.Store, s.messages, now.Now())
	if err != nil {
		return err
	}
	list, err := announcements(ctx, a.Store, of, s.messages, now.Now())
	if err != nil {
		return err
	}
	sold, err := a.Store.Shops().Shop(ctx, of)
	if err != nil {
		return err
	}
	elapsed := stopwatch()
	for _, m := range list {
		who := do.Caller{Shop: sold, Actor: activity.Actor{Customer: m.Customer}}
		if _, _, err := a.Overview.Order(ctx, who, m.Contract, billing.AttemptID(m.Attempt)); err != nil {
			return err
		}
	}
	limit := float64(len(list)) / elapsed().Seconds()
	elapsed = stopwatch()
	for _, m := range list {
		l, err := a.Letters.Write(ctx, of, []notify.Message{m})
		if err != nil || l.HTML == "" {
			return fmt.Errorf("the letter about contract %d was not written: %v, %w", m.Contract, l.LeftOut, err)
		}
	}
	rate := float64(len(list)) / elapsed().Seconds()
	samples, err := s.samples(ctx, a, sold)
	if err != nil {
		return err
	}
	to := &taker{}
	a.Notify.Transport = to
	for some := range slices.Chunk(list, atOnce) {
		if err := a.Store.Update(ctx, of, func(tx *store.Tx) error { return tx.PutMessages(ctx, slices.Clone(some)) }); err != nil {
			return err
		}
	}
	begun := memory()
	elapsed = stopwatch()
	if err := a.Notify.Work(ctx, of); err != nil {
		return err
	}
	whole := float64(to.taken.Load()) / elapsed().Seconds()
	s.print("letters db=%s messages=%d rendered=%.0f/s goal=%d/s written=%.0f/s limit_read=%.0f/s ratio=%.2f sent=%.0f/s letters=%d heap_mb=%.0f to %.0f",
		kind, len(list), samples, goalLetters, rate, limit, rate/limit, whole, to.taken.Load(), begun, memory())
	return nil
}

// samples returns how many letters are rendered in a second from data at hand.
func (s settings) samples(ctx context.Context, a *app.App, sold shop.Shop) (float64, error) {
	kinds := notify.CustomerKinds()
	var failed atomic.Value
	var all sync.WaitGroup
	elapsed := stopwatch()
	for worker := range runtime.NumCPU() {
		all.Go(func() {
			for n := worker; n < s.messages; n += runtime.NumCPU() {
				if _, err := a.Letters.Sample(ctx, sold, kinds[n%len(kinds)], "de"); err != nil {
					failed.Store(err)
					return
				}
			}
		})
	}
	all.Wait()
	if err, bad := failed.Load().(error); bad {
		return 0, err
	}
	return float64(s.messages) / elapsed().Seconds(), nil
}

// announcements returns a message about the next order of each active contract.
func announcements(ctx context.Context, db *store.DB, of shop.ID, contracts int, now time.Time) (list []notify.Message, err error) {
	for from := 0; from < contracts; from += insertAtOnce {
		var ids []contract.ID
		for i := from; i < min(from+insertAtOnce, contracts); i++ {
			ids = append(ids, storedContract(1, i).ID)
		}
		err := db.Update(ctx, of, func(tx *store.Tx) error {
			stored, err := tx.Contracts(ctx, ids)
			if err != nil {
				return err
			}
			queued, err := tx.AttemptsOf(ctx, ids, billing.Queued)
			if err != nil {
				return err
			}
			next := map[contract.ID]billing.Attempt{}
			for _, a := range queued {
				if before, known := next[a.Contract]; !known || a.Cycle < before.Cycle {
					next[a.Contract] = a
				}
			}
			for _, c := range stored {
				if a, waits := next[c.ID]; waits {
					m, err := notify.New(notify.Message{
						Kind: notify.UpcomingOrder, To: c.Customer.Email, Contract: c.ID, Customer: c.Customer.ID, Attempt: int64(a.ID), Facts: notify.Facts{Date: a.BillingDate},
						Actor: activity.System, DedupeKey: notify.UpcomingKey(c.ID, a.Cycle, a.BillingDate, 0),
					}, now)
					if err != nil {
						return err
					}
					list = append(list, m)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// memory returns how many MB of the heap are in use.
func memory() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// webhooks measures how many webhooks reach an endpoint that takes 5 ms to answer, beside plain
// requests to it, while another endpoint of the same store answers nothing.
func (s settings) webhooks(ctx context.Context, kind string) error {
	a, end, err := s.opened(ctx, kind, clock.System{})
	if err != nil {
		return err
	}
	defer end()
	var taken atomic.Int64
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the client sees what fails
		time.Sleep(sinkTakes)              //nolint:forbidigo // a receiver that takes its time
		taken.Add(1)
	}))
	defer sink.Close()
	stop := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	defer hanging.Close()
	defer close(stop)
	of, err := addShop(ctx, a.Store, 1, 1)
	if err != nil {
		return err
	}
	limit, err := s.requests(ctx, sink.URL)
	if err != nil {
		return err
	}
	taken.Store(0)
	var to []webhook.EndpointID
	for _, url := range []string{sink.URL, hanging.URL} {
		e, err := a.Webhooks.Add(ctx, of, webhook.NewEndpoint{URL: url, Types: []webhook.Type{webhook.ImmediateSuccess}, Actor: activity.System})
		if err != nil {
			return err
		}
		to = append(to, e.ID)
	}
	if err := s.owe(ctx, a.Store, of, to); err != nil {
		return err
	}
	begun := memory()
	elapsed := stopwatch()
	working, done := context.WithCancel(ctx)
	defer done()
	go func() {
		for working.Err() == nil {
			if err := a.Webhooks.Deliver(working, of); err != nil && working.Err() == nil {
				fmt.Fprintln(os.Stderr, "bench: webhooks:", err)
			}
		}
	}()
	go func() {
		for working.Err() == nil {
			_ = a.Webhooks.Deliver(working, of) // the first one says what fails
		}
	}()
	for taken.Load() < int64(s.messages) && elapsed() < time.Minute {
		time.Sleep(sinkTakes) //nolint:forbidigo // waits for the receiver
	}
	rate := float64(taken.Load()) / elapsed().Seconds()
	s.print("webhooks db=%s messages=%d sink_ms=%d sent=%.0f/s goal=%d/s limit=%.0f/s ratio=%.2f taken=%d heap_mb=%.0f to %.0f, beside an endpoint that hangs",
		kind, s.messages, sinkTakes.Milliseconds(), rate, goalWebhooks, limit, rate/limit, taken.Load(), begun, memory())
	return nil
}

// requests returns how many plain requests an endpoint takes in a second, as many at the same time as
// the service sends.
func (s settings) requests(ctx context.Context, url string) (float64, error) {
	var failed atomic.Value
	var all sync.WaitGroup
	elapsed := stopwatch()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: inFlight}}
	defer client.CloseIdleConnections()
	for range inFlight {
		all.Go(func() {
			for range s.messages / inFlight {
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
				if err != nil {
					failed.Store(err)
					return
				}
				answer, err := client.Do(req)
				if err != nil {
					failed.Store(err)
					return
				}
				_ = answer.Body.Close() // nothing was written
			}
		})
	}
	all.Wait()
	if err, bad := failed.Load().(error); bad {
		return 0, err
	}
	return float64(s.messages) / elapsed().Seconds(), nil
}

// owe stores webhooks with their bodies, each about a contract of its own.
func (s settings) owe(ctx context.Context, db *store.DB, of shop.ID, to []webhook.EndpointID) error {
	at := clock.System{}.Now()
	for from := 0; from < s.messages; from += insertAtOnce {
		err := db.Update(ctx, of, func(tx *store.Tx) error {
			var list []webhook.Addressed
			for i := from; i < min(from+insertAtOnce, s.messages); i++ {
				list = append(list, webhook.Addressed{To: to, Message: webhook.Message{
					Shop: of, Type: webhook.ImmediateSuccess, Line: shop.Subscriptions, Contract: contract.ID(i + 1), Attempt: int64(i + 1), At: at, ID: webhook.NewMessageID(of, int64(i+1), webhook.ImmediateSuccess, at),
				}})
			}
			if err := tx.AddMessages(ctx, list...); err != nil {
				return err
			}
			for _, m := range list {
				if err := tx.SetBody(ctx, m.ID, []byte(`{"type":"SUBSCRIPTION_BILLING_ATTEMPTS_SUCCESS","data":{}}`)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
