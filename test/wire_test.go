package test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"regexp"
	"sync"
	"testing"
)

// wire is a proxy that fails as lines and machines do. It forwards each request
// separately, so that a test chooses the call and the instant that break. It breaks
// below HTTP, on the connection.
type wire struct {
	address string // where it listens, as host:port
	to      string // to which host:port it leads
	// arrives is called with a request before it is passed on, and says what happens
	// to it; answered is called when the other side has answered. Both may block:
	// that holds the request, or the answer, up. nil: all goes well.
	arrives  func(m message) breakage
	answered func(m message)

	line  *http.Transport
	mu    sync.Mutex
	late  []*http.Request // requests that are executed long after the client gave up
	under sync.WaitGroup  // messages under way, held up or not
}

// message is a call as far as a wire needs to know it.
type message struct {
	store string // token of the store, or domain of one that a webhook is about
	kind  string // name of the operation, or topic of the webhook
}

// breakage is what a way does to a call.
type breakage string

// What happens to calls. Those that are lost or late the other side does not
// carry out, or not yet; all others it does.
const (
	whole   breakage = ""
	lost    breakage = "lost"    // the connection ends before anything was passed on
	cut     breakage = "cut"     // it ends before the answer comes back
	reset   breakage = "reset"   // it is reset before the answer comes back
	halved  breakage = "halved"  // it ends in the middle of the answer
	stalled breakage = "stalled" // it stays, and the answer never comes
	late    breakage = "late"    // it stays, and the request arrives long after it was given up
)

// newWire returns a way that leads to an address. It ends with the test.
func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{address: l.Addr().String(), to: to, line: &http.Transport{DisableCompression: true}}
	t.Cleanup(func() { _ = l.Close(); w.line.CloseIdleConnections() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			go w.serve(conn.(*net.TCPConn))
		}
	}()
	return w
}

// serve passes on what comes by one connection until that ends.
func (w *wire) serve(near *net.TCPConn) {
	defer near.Close()
	in := bufio.NewReader(near)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		out := req.Clone(req.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = "http", w.to, ""
		out.Body = io.NopCloser(bytes.NewReader(body))
		if !w.pass(near, in, out, messageOf(req, body)) {
			return
		}
	}
}

// pass carries one call over and reports whether the connection can be used on.
func (w *wire) pass(near *net.TCPConn, in *bufio.Reader, req *http.Request, m message) bool {
	w.under.Add(1)
	defer w.under.Done()
	happens := whole
	if w.arrives != nil {
		happens = w.arrives(m)
	}
	switch happens {
	case lost:
		return false
	case late:
		_, _ = in.Peek(1) // ends when the caller gives up
		w.mu.Lock()
		w.late = append(w.late, req)
		w.mu.Unlock()
		return false
	}
	answer, err := w.ask(req)
	if err != nil {
		return false
	}
	if w.answered != nil {
		w.answered(m)
	}
	switch happens {
	case cut:
		return false
	case reset:
		_ = near.SetLinger(0) // so that the close is a reset
		return false
	case halved:
		_, _ = near.Write(answer[:len(answer)/2])
		return false
	case stalled:
		_, _ = in.Peek(1)
		return false
	}
	_, err = near.Write(answer)
	return err == nil
}

// ask has a request carried out and returns the answer's bytes.
func (w *wire) ask(req *http.Request) ([]byte, error) {
	res, err := w.line.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return httputil.DumpResponse(res, true)
}

// deliverLate has all carried out that is late, and returns how many calls that were.
func (w *wire) deliverLate(t *testing.T) int {
	t.Helper()
	w.mu.Lock()
	calls := w.late
	w.late = nil
	w.mu.Unlock()
	for _, req := range calls {
		if _, err := w.ask(req); err != nil {
			t.Errorf("a call that comes late: %v", err)
		}
	}
	return len(calls)
}

// operationName finds the name in a GraphQL request's body.
var operationName = regexp.MustCompile(`"query":"(?:\\n)?(?:query|mutation) (\w+)`)

func messageOf(req *http.Request, body []byte) message {
	if topic := req.Header.Get("X-Shopify-Topic"); topic != "" {
		return message{store: req.Header.Get("X-Shopify-Shop-Domain"), kind: topic}
	}
	m := message{store: req.Header.Get("X-Shopify-Access-Token")}
	if found := operationName.FindSubmatch(body); found != nil {
		m.kind = string(found[1])
	}
	return m
}
