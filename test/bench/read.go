package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// How read asks.
const (
	readContracts = 10_000
	readClients   = 4
	readRounds    = 3 // of each side, taking turns; the best counts
	readFor       = 2 * time.Second
)

// read compares a list of the admin interface, through everything that stands
// before it, with a bare handler that asks the same question and writes the same
// rows as JSON.
func read(ctx context.Context, s settings) error {
	for _, kind := range s.databases {
		if err := s.readOn(ctx, kind); err != nil {
			return fmt.Errorf("on %s: %w", kind, err)
		}
	}
	return nil
}

func (s settings) readOn(ctx context.Context, kind string) error {
	d, err := s.fresh(ctx, kind)
	if err != nil {
		return err
	}
	defer d.drop()
	set := s.serverSettings(d, platform{url: "http://127.0.0.1:1"}, "127.0.0.1:1")
	a, err := app.New(ctx, app.Options{Settings: set, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Kind: app.Production, Migrate: true})
	if err != nil {
		return err
	}
	defer a.Close()
	of, err := addShop(ctx, a.Store, 1, readContracts)
	if err != nil {
		return err
	}
	if err := addPlans(ctx, a.Store, of); err != nil {
		return err
	}
	if err := d.analyze(ctx); err != nil {
		return err
	}
	key, _, err := a.Access.Create(ctx, of, access.NewKey{Name: "bench"})
	if err != nil {
		return err
	}
	service := httptest.NewServer(a.Subscriptions)
	defer service.Close()
	const path = "/api/external/v2/subscription-contract-details?status=PAUSED&size=20"
	sample, err := get(ctx, http.DefaultClient, service.URL+path, key)
	if err != nil {
		return err
	}
	var answered []json.RawMessage
	if err := json.Unmarshal(sample, &answered); err != nil || len(answered) == 0 {
		return fmt.Errorf("the service answers no list: %.200s", sample)
	}
	bare := httptest.NewServer(bareSearch(a, of))
	defer bare.Close()
	var whole, limit float64
	for range readRounds {
		got, err := rate(ctx, service.URL+path, key)
		if err != nil {
			return err
		}
		whole = max(whole, got)
		if got, err = rate(ctx, bare.URL, ""); err != nil {
			return err
		}
		limit = max(limit, got)
	}
	s.print("read db=%s operation=contract_search rows=%d clients=%d per_second=%.0f limit_per_second=%.0f ratio=%.2f goal=0.60",
		kind, len(answered), readClients, whole, limit, whole/limit)
	return nil
}

// bareSearch asks what the operation asks and writes the rows as they are.
func bareSearch(a *app.App, of shop.ID) http.Handler {
	filter := contract.Filter{Line: shop.Subscriptions, Status: contract.Paused}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list, _, err := a.Store.Search(r.Context(), of, filter, page.Request{Size: 20})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list)
	})
}

// rate asks an address again and again and returns how often a second it answers.
func rate(ctx context.Context, url, key string) (float64, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: readClients}}
	defer client.CloseIdleConnections()
	elapsed := stopwatch()
	counts := make([]int, readClients)
	g, ctx := errgroup.WithContext(ctx)
	for i := range counts {
		g.Go(func() error {
			for elapsed() < readFor {
				if _, err := get(ctx, client, url, key); err != nil {
					return err
				}
				counts[i]++
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / elapsed().Seconds(), nil
}

func get(ctx context.Context, client *http.Client, url, key string) ([]byte, error) {
	return call(ctx, client, http.MethodGet, url, key)
}

// call sends a request without a body and returns the answer's.
func call(ctx context.Context, client *http.Client, method, url, key string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("HTTP status %d: %.300s", res.StatusCode, body)
	}
	return body, err
}
