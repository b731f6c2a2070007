package app

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Limits of every server.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// unusedTime is how long a connection without a request may stay open during a shutdown:
// long enough for a request that is on its way, and net/http would wait for five seconds.
const unusedTime = 50 * time.Millisecond

// Server is an http.Server with the limits of every server. Its shutdown does not wait
// for connections on which no request has come.
type Server struct {
	http.Server

	mutex  sync.Mutex
	unused map[net.Conn]struct{} // open, and no request has come
}

// NewServer returns a server for a handler.
func NewServer(h http.Handler) *Server {
	s := &Server{unused: map[net.Conn]struct{}{}}
	s.Server = http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, ConnState: s.track,
	}
	return s
}

// track notes which connections were not used yet.
func (s *Server) track(c net.Conn, state http.ConnState) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if state == http.StateNew {
		s.unused[c] = struct{}{}
	} else {
		delete(s.unused, c)
	}
}

// Shutdown stops listening, waits until the requests that have begun are answered, and
// closes every connection. It returns the error of ctx when ctx ends before.
func (s *Server) Shutdown(ctx context.Context) error {
	timer := time.AfterFunc(unusedTime, s.closeUnused)
	defer timer.Stop()
	return s.Server.Shutdown(ctx)
}

// closeUnused closes the connections on which no request has come.
func (s *Server) closeUnused() {
	s.mutex.Lock()
	unused := slices.Collect(maps.Keys(s.unused))
	s.mutex.Unlock()
	for _, c := range unused {
		_ = c.Close() // its other end may have closed it too
	}
}
