package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
)

// BenchmarkCharge is one charge with its order: the document, its execution, the
// completion and no network. A charge must take less than 3 ms.
func BenchmarkCharge(b *testing.B) {
	b.Run("in memory", func(b *testing.B) { benchmarkCharge(b, "") })
	b.Run("in a file", func(b *testing.B) { benchmarkCharge(b, filepath.Join(b.TempDir(), "platform.db")) })
}

func benchmarkCharge(b *testing.B, file string) {
	w := newWorld(b, func(o *Options) { o.CostMaximum, o.CompletionDelay, o.File = 1e12, -1, file })
	const contracts = 1000
	for range contracts {
		w.monthly()
	}
	w.clock.Set(day("2025-02-01T15:00:00Z"))
	handler := w.sim.Handler()
	for n := 0; b.Loop(); n++ {
		body, err := json.Marshal(map[string]any{"query": createDoc, "variables": map[string]any{
			"contract": contractGID(int64(9001 + n%contracts)), "key": fmt.Sprint(n), "cycle": 1,
		}})
		if err != nil {
			b.Fatal(err)
		}
		req := httptest.NewRequest(http.MethodPost, "/admin/api/2026-10/graphql.json", bytes.NewReader(body))
		req.Header.Set("X-Shopify-Access-Token", testToken)
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, req)
		if rec.Code != http.StatusOK {
			b.Fatal(rec.Body)
		}
		if _, err := w.sim.RunDue(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	if len(w.sim.Orders(OrderFilter{})) == 0 {
		b.Fatal("no charge made an order")
	}
}
