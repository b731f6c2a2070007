package peer

import (
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Where a service does not say which cycle comes next, all orders count: none is charged beyond the limit.
func TestCyclesDoneAreThoseThatTheServiceSays(t *testing.T) {
	t.Parallel()
	const path = "/api/external/v2/subscription-contract-details/current-cycle/9"
	for name, row := range map[string]struct {
		status int
		body   string
		want   int
	}{
		"it says":             {http.StatusOK, "4", 3},
		"the first":           {http.StatusOK, "1", 0},
		"what is no number":   {http.StatusOK, `{"cycle":4}`, 7},
		"it has no operation": {http.StatusNotImplemented, "", 7},
	} {
		c := moving.Contract{ID: 9, Orders: 7, MaxCycles: 12}
		if err := answering(t, row.status, map[string]string{path: row.body}).cyclesDone(t.Context(), shop.Subscriptions, &c); err != nil || c.CyclesDone != row.want {
			t.Errorf("%s: %d cycles are done, %v, want %d", name, c.CyclesDone, err, row.want)
		}
	}
}

// A creation without an answer is repeated before it is given up: what it has created then is cancelled, and what
// the service refuses was not created.
func TestCreationWithoutAnswerIsRepeatedToBeDiscarded(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		status    int // of the repeated creation
		cancelled string
		want      error
	}{
		"it is created":           {http.StatusCreated, "55", nil},
		"it is refused":           {http.StatusBadRequest, "", nil},
		"the service fails again": {http.StatusServiceUnavailable, "", fault.New(fault.Unavailable, "")},
	} {
		var key, cancelled string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodPost:
				key = r.Header.Get("Idempotency-Key")
				w.WriteHeader(row.status)
				_, _ = w.Write([]byte(`{"id":55}`))
			case r.Method == http.MethodDelete:
				cancelled = path.Base(r.URL.Path)
			case strings.Contains(r.URL.Path, "/valid/"):
				_, _ = w.Write([]byte(`[{"subscriptionContractId":54,"importedId":"9","status":"CANCELLED"}]`))
			default:
				_, _ = w.Write([]byte(`[{"subscriptionContractId":55,"status":"PAUSED"}]`))
			}
		}))
		t.Cleanup(server.Close)
		e := New(Options{Transport: http.DefaultTransport, Timeout: time.Minute, Clock: clock.System{}}).End(moving.Peer{Address: server.URL, Key: "key", Rate: 1000})
		err := e.Discard(t.Context(), demo, moving.Contract{ID: 9, ImportedID: "9", Line: shop.Subscriptions}, 0, "move-1-9-0")
		if fault.KindOf(err) != fault.KindOf(row.want) || (err == nil) != (row.want == nil) || key != "move-1-9-0" || cancelled != row.cancelled {
			t.Errorf("%s: %v, asked under the key %q, and %q was cancelled", name, err, key, cancelled)
		}
	}
}
