package sandbox

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/web"
)

// externalPaths are below which requests to an instance suffer faults.
const externalPaths = "/api/external/"

// instanceFaults are what goes wrong with requests to an instance. They end with the process.
type instanceFaults struct {
	mu      sync.Mutex
	current simulator.Faults
	counts  map[simulator.FaultKind]int
	seen    int // requests since the faults began
}

func (f *instanceFaults) set(to simulator.Faults) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current, f.counts, f.seen = to, map[simulator.FaultKind]int{}, 0
}

// draw decides how the next request fails; the kind is empty when it does not.
func (f *instanceFaults) draw(now time.Time) (kind simulator.FaultKind, executed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind, executed = f.current.Request(now, f.seen)
	f.seen++
	if kind != "" {
		f.counts[kind]++
	}
	return kind, executed
}

func (f *instanceFaults) view() faultsView {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := faultsView{Counts: map[simulator.FaultKind]int{}, Until: web.At(f.current.Until)}
	maps.Copy(v.Counts, f.counts)
	return v
}

// faulty lets requests to the interfaces for programs fail.
func (i *instance) faulty(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, externalPaths) {
			next.ServeHTTP(w, r)
			return
		}
		kind, executed := i.faults.draw(i.box.clock.Now())
		switch {
		case kind == "":
			next.ServeHTTP(w, r)
			return
		case executed:
			next.ServeHTTP(unheard{http.Header{}}, r)
		}
		switch kind {
		case simulator.HTTP500:
			http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		case simulator.Throttled:
			web.WriteError(w, r, fault.New(fault.RateLimited, "too many requests: a fault of the sandbox").RetryAfter(time.Second))
		default:
			simulator.HangUp(w, kind)
		}
	})
}

// unheard takes an answer that the client does not get.
type unheard struct{ header http.Header }

// Header returns headers that are not sent.
func (u unheard) Header() http.Header { return u.header }

// Write takes a part of the body.
func (unheard) Write(part []byte) (int, error) { return len(part), nil }

// WriteHeader takes the status.
func (unheard) WriteHeader(int) {}

// instanceFaultsIn is what goes wrong with requests to an instance.
type instanceFaultsIn struct {
	Instance string `json:"instance"`
	faultsIn
}

func (s *Sandbox) setInstanceFaults(r *http.Request) (faultsView, error) {
	var in instanceFaultsIn
	if err := body(r, &in); err != nil {
		return faultsView{}, err
	}
	i, err := s.named(in.Instance)
	if err != nil {
		return faultsView{}, err
	}
	f, err := in.faults(s.clock.Now())
	if err == nil {
		err = f.CheckRequests()
	}
	if err != nil {
		return faultsView{}, err
	}
	i.faults.set(f)
	return i.faults.view(), nil
}

func (s *Sandbox) instanceFaultCounts(*http.Request) (map[string]faultsView, error) {
	views := map[string]faultsView{}
	for _, i := range s.instances() {
		views[i.name] = i.faults.view()
	}
	return views, nil
}

func (s *Sandbox) clearInstanceFaults(r *http.Request) (map[string]faultsView, error) {
	for _, i := range s.instances() {
		i.faults.end()
	}
	return s.instanceFaultCounts(r)
}

// end ends the faults. The counts stay.
func (f *instanceFaults) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = simulator.Faults{}
}
