package sandbox

import (
	"net/http"
	"sync"

	"github.com/perennialhq/perennial/internal/app"
)

// front stands between the ports and the service, so that the service can be
// exchanged while requests wait.
type front struct {
	mu      sync.RWMutex // held for reading by every request
	current sync.Mutex
	app     *app.App
}

// running returns the service that runs now; nil before the first.
func (f *front) running() *app.App {
	f.current.Lock()
	defer f.current.Unlock()
	return f.app
}

func (f *front) exchange(a *app.App) {
	f.current.Lock()
	defer f.current.Unlock()
	f.app = a
}

// handler answers with one of the running service's handlers.
func (f *front) handler(pick func(*app.App) http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.RLock()
		defer f.mu.RUnlock()
		pick(f.running()).ServeHTTP(w, r)
	})
}

// counted counts the webhooks that are accepted.
func (s *Sandbox) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != webhooksPath {
			next.ServeHTTP(w, r)
			return
		}
		noted := &noted{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(noted, r)
		if noted.status/100 == 2 {
			s.heard.Add(1)
		}
	})
}

// webhooksPath is where the platform delivers to.
const webhooksPath = "/webhooks"

// noted remembers the status that was answered.
type noted struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (n *noted) WriteHeader(status int) {
	n.status = status
	n.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }
