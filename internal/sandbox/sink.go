package sandbox

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/web"
)

// sinks are receivers of webhooks that a test sets up and looks into. They live
// as long as the process.
type sinks struct {
	mu   sync.Mutex
	byID map[string]*sink
}

// sink is one receiver.
type sink struct {
	answers  []int // statuses of the next answers; afterwards 200
	arrivals []arrival
}

// arrival is a request that a receiver was sent.
type arrival struct {
	At      *web.Instant      `json:"at"`
	Headers map[string]string `json:"headers"` // names in lower case
	Body    string            `json:"body"`
	Status  int               `json:"status"` // what was answered
}

// maxArrivals is how many requests a receiver remembers: the latest.
const maxArrivals = 10_000

// sinkView is how a receiver is reached.
type sinkView struct {
	ID     string `json:"id"`
	URL    string `json:"url"`
	Secret string `json:"secret"` // in the form of the webhook standard: whsec_ and base64
}

func (s *Sandbox) addSink(*http.Request) (sinkView, error) {
	secret := make([]byte, 24)
	rand.Read(secret)
	s.sinks.mu.Lock()
	defer s.sinks.mu.Unlock()
	id := fmt.Sprintf("sink-%d", len(s.sinks.byID)+1)
	s.sinks.byID[id] = &sink{arrivals: []arrival{}}
	return sinkView{id, s.urls.Control + "/webhook-sink/" + id, "whsec_" + base64.StdEncoding.EncodeToString(secret)}, nil
}

// with runs fn on the receiver that the path names.
func (s *sinks) with(r *http.Request, fn func(*sink)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.byID[r.PathValue("id")]
	if !ok {
		return fault.New(fault.NotFound, "there is no receiver %q", r.PathValue("id"))
	}
	fn(one)
	return nil
}

func (s *Sandbox) arrivals(r *http.Request) (list []arrival, err error) {
	err = s.sinks.with(r, func(one *sink) { list = append([]arrival{}, one.arrivals...) })
	return list, err
}

// scriptSink sets the statuses of the next answers.
func (s *Sandbox) scriptSink(r *http.Request) ([]int, error) {
	var answers []int
	if err := body(r, &answers); err != nil {
		return nil, err
	}
	for _, status := range answers {
		if status < 200 || status > 599 {
			return nil, fault.New(fault.Invalid, "%d is not the status of an answer: use 200 to 599", status)
		}
	}
	return answers, s.sinks.with(r, func(one *sink) { one.answers = answers })
}

// receive is where webhooks arrive.
func (s *Sandbox) receive(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		web.WriteError(w, r, fault.Because(fault.Invalid, err, "the body could not be read"))
		return
	}
	got := arrival{At: web.At(s.clock.Now()), Headers: map[string]string{}, Body: string(text), Status: http.StatusOK}
	for name, values := range r.Header {
		got.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	err = s.sinks.with(r, func(one *sink) {
		if len(one.answers) > 0 {
			got.Status, one.answers = one.answers[0], one.answers[1:]
		}
		one.arrivals = append(one.arrivals, got)
		if over := len(one.arrivals) - maxArrivals; over > 0 {
			one.arrivals = one.arrivals[over:]
		}
	})
	if err != nil {
		web.WriteError(w, r, err)
		return
	}
	w.WriteHeader(got.Status)
}
