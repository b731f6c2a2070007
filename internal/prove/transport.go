package prove

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// clientTransport is the way from a node to the platform, in memory.
type clientTransport struct{ n *node }

// RoundTrip carries one request. Time passes before the platform has it and
// before the answer arrives.
func (y clientTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := y.n.w
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	call := &call{node: y.n, request: r, body: body}
	return w.carry(call)
}

// call is a request on its way.
type call struct {
	node    *node
	request *http.Request
	body    []byte
}

// ask lets the platform work a request and checks what that did.
func (w *world) ask(c *call) (*http.Response, []byte) {
	if w.tamper != nil {
		w.tamper(c)
	}
	r := c.request.Clone(c.request.Context())
	r.Body = io.NopCloser(bytes.NewReader(c.body))
	var out recorder
	out.header = make(http.Header)
	w.handler.ServeHTTP(&out, r)
	w.calls++
	if w.pair == nil {
		w.afterCall(c)
	}
	w.platformDue()
	return out.response(), out.body.Bytes()
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the answer's header.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader keeps the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// Write keeps the body.
func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

func (r *recorder) response() *http.Response {
	r.WriteHeader(http.StatusOK)
	return answer(r.status, r.header, r.body.Bytes())
}

func answer(status int, header http.Header, body []byte) *http.Response {
	if header == nil {
		header = make(http.Header)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// inbox is the way from the platform to the nodes: whichever node answers takes
// a webhook.
type inbox struct{ w *world }

// RoundTrip delivers one webhook, unless a fault has it otherwise.
func (i inbox) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return i.w.webhook(r, body)
}

// hand gives a webhook to a node that runs.
func (w *world) hand(r *http.Request, body []byte) (*http.Response, error) {
	n := w.anyNode()
	if n == nil {
		return nil, errRefused
	}
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	var out recorder
	out.header = make(http.Header)
	n.app.Subscriptions.ServeHTTP(&out, again)
	w.webhooks++
	w.note("webhook", r.Header.Get("X-Shopify-Webhook-Id"), n.String())
	return out.response(), nil
}
