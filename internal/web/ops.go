package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// Check is something without which the service cannot work, or not wholly.
type Check struct {
	Name string
	Do   func(ctx context.Context) error
}

// checkTime is how long all checks together may take.
const checkTime = 2 * time.Second

// ErrDegraded marks the failure of a check after which requests can be served
// all the same.
var ErrDegraded = errors.New("not everything works")

// health is the answer of the probes.
type health struct {
	Status   string   `json:"status"` // "ok" or "unavailable"
	Failed   []string `json:"failed,omitempty"`
	Degraded []string `json:"degraded,omitempty"`
}

// Ops returns what operators and their probes ask: /healthz whether the process
// lives, /readyz whether it can serve, /metrics how it does.
func Ops(metrics http.Handler, checks ...Check) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeHealth(w, http.StatusOK, health{Status: "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), checkTime)
		defer cancel()
		var failed, degraded []string
		for _, c := range checks {
			switch err := c.Do(ctx); {
			case errors.Is(err, ErrDegraded):
				degraded = append(degraded, c.Name)
			case err != nil:
				failed = append(failed, c.Name)
			}
		}
		if len(failed) > 0 {
			writeHealth(w, http.StatusServiceUnavailable, health{"unavailable", failed, degraded})
			return
		}
		writeHealth(w, http.StatusOK, health{Status: "ok", Degraded: degraded})
	})
	mux.Handle("GET /metrics", metrics)
	return Routes(mux)
}

func writeHealth(w http.ResponseWriter, status int, h health) {
	w.Header().Set("Content-Type", mediaJSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(h) // a probe that is gone asks again
}
