package sandbox

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/web"
)

// control is the director's chair: it moves time, plays the platform's part and
// says what really happened.
func (s *Sandbox) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", answer(s.contents))
	mux.HandleFunc("GET /clock", answer(s.readClock))
	mux.HandleFunc("POST /clock", answer(s.moveClock))
	mux.HandleFunc("GET /platform/orders", s.atRest(answer(s.orders)))
	mux.HandleFunc("GET /platform/contracts/{id}", s.atRest(answer(s.contract)))
	mux.HandleFunc("GET /platform/cycles", s.atRest(answer(s.cycles)))
	mux.HandleFunc("GET /platform/variants", answer(s.variants))
	mux.HandleFunc("DELETE /platform/variants/{id}", answer(s.removeVariant))
	mux.HandleFunc("POST /platform/contracts", answer(s.checkout))
	mux.HandleFunc("POST /platform/shops", answer(s.install))
	mux.HandleFunc("POST /platform/outcomes", answer(s.outcome))
	mux.HandleFunc("POST /platform/attempts/{id}", answer(s.finishAttempt))
	mux.HandleFunc("GET /platform/faults", answer(s.faultCounts))
	mux.HandleFunc("POST /platform/faults", answer(s.setFaults))
	mux.HandleFunc("DELETE /platform/faults", answer(s.clearFaults))
	mux.HandleFunc("POST /platform/defects", answer(s.setDefects))
	mux.HandleFunc("POST /platform/bulk-charge", answer(s.bulkCharge))
	mux.HandleFunc("POST /platform/payment-methods/{id}", answer(s.setPaymentMethod))
	mux.HandleFunc("GET /platform/customers/{id}", s.atRest(answer(s.customer)))
	mux.HandleFunc("POST /platform/customers/{id}/payment-methods", answer(s.addPaymentMethod))
	mux.HandleFunc("POST /platform/discount-codes", answer(s.addCode))
	mux.HandleFunc("GET /platform/update-emails", s.atRest(answer(s.updateEmails)))
	mux.HandleFunc("POST /settings", answer(s.setSettings))
	mux.HandleFunc("POST /dunning/solved", answer(s.solved))
	mux.HandleFunc("POST /loyalty", answer(s.setLoyalty))
	mux.HandleFunc("POST /partners", answer(s.addPartner))
	mux.HandleFunc("POST /partners/{id}", answer(s.setPartner))
	mux.HandleFunc("GET /mail", s.atRest(answer(s.mail)))
	mux.HandleFunc("POST /webhook-sink", answer(s.addSink))
	mux.HandleFunc("GET /webhook-sink/{id}", s.atRest(answer(s.arrivals)))
	mux.HandleFunc("POST /webhook-sink/{id}", s.receive)
	mux.HandleFunc("POST /webhook-sink/{id}/answers", answer(s.scriptSink))
	mux.HandleFunc("GET /stuck", s.atRest(answer(s.stuck)))
	mux.HandleFunc("POST /retry", answer(s.retry))
	mux.HandleFunc("POST /unfreeze", answer(s.unfreeze))
	mux.HandleFunc("POST /snapshot", answer(s.takeSnapshot))
	mux.HandleFunc("POST /restore", answer(s.restoreSnapshot))
	mux.HandleFunc("POST /reset", answer(s.reset))
	return web.Frame{Log: s.log}.Around(s.onceReady(plainIDs(web.Routes(mux))))
}

// onceReady lets nobody direct a sandbox that still makes what it begins with: it would
// be made of two minds. Receivers of webhooks answer from the first moment on.
func (s *Sandbox) onceReady(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.ready.Load() && !strings.HasPrefix(r.URL.Path, "/webhook-sink/") {
			web.WriteError(w, r, fault.New(fault.Unavailable, "the sandbox is not ready: wait until %s carries the number of its process", manifestFile).Keyed("notReady").After(time.Second))
			return
		}
		next.ServeHTTP(w, r)
	})
}

var graphID = regexp.MustCompile(`gid:/+shopify/\w+/`)

// plainIDs lets a path name an object by its graph id, slashes and all.
func plainIDs(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if graphID.MatchString(r.URL.Path) {
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = graphID.ReplaceAllString(r.URL.Path, ""), ""
		}
		next.ServeHTTP(w, r)
	})
}

// answer turns an operation into a handler that speaks JSON.
func answer[T any](do func(r *http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := do(r)
		if err != nil {
			web.WriteError(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(v) // the client is gone: there is nobody left to tell
	}
}

// atRest answers a read when what the calls before it have begun is done: what the
// service has yet to tell the platform shows. What does not come to rest is told in
// the log, and the read shows how far it is.
func (s *Sandbox) atRest(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.steps.Catch(r.Context()); err != nil {
			s.log.WarnContext(r.Context(), "a read is answered before all is quiet", "path", r.URL.Path, "error", err)
		}
		next(w, r)
	}
}

// body reads a request's JSON into v. Fields that v does not have are ignored.
func body(r *http.Request, v any) error {
	text, err := web.ReadBody(r)
	if err != nil {
		return err
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return fault.New(fault.Invalid, "a JSON body is required").Keyed("bodyMissing")
	}
	return decode(text, v)
}

// decode reads JSON into v and says what is wrong with it.
func decode(text []byte, v any) error {
	err := json.Unmarshal(text, v)
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fault.New(fault.Invalid, "field '%s' cannot be a %s", wrong.Field, wrong.Value).Keyed("bodyField").At(wrong.Field)
	}
	if err != nil {
		return fault.Because(fault.Invalid, err, "the body is not well-formed JSON: %s", err).Keyed("bodyMalformed")
	}
	return nil
}

// id is the number of an object of the platform, written as a number, in a
// string, or as a graph id.
type id int64

// UnmarshalJSON reads any of the three.
func (n *id) UnmarshalJSON(text []byte) error {
	var err error
	*n, err = parseID(strings.Trim(string(text), `"`))
	return err
}

func parseID(s string) (id, error) {
	if strings.HasPrefix(s, "gid://") {
		if n := gid.Number(s); n > 0 {
			return id(n), nil
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n > gid.Max {
		return 0, fault.New(fault.Invalid, "%q is not an id: write a number or a graph id", s).At("id")
	}
	return id(n), nil
}

// decimal is an amount, written as a number or in a string.
type decimal string

// UnmarshalJSON reads either.
func (d *decimal) UnmarshalJSON(text []byte) error {
	*d = decimal(strings.Trim(string(text), `"`))
	return nil
}

// moment is an instant in ISO 8601 with a zone, or a day, which is one of a
// store's own days.
type moment string

// in returns the instant, or the first one of the day in a zone.
func (m moment) in(zone *time.Location) (time.Time, error) {
	parsed, err := web.ParseMoment("", string(m), zone)
	return parsed.From, err
}

// contractParam reads the contract that a query names; 0 when it names none.
func contractParam(r *http.Request) (int64, error) {
	s := r.URL.Query().Get("contractId")
	if s == "" {
		return 0, nil
	}
	n, err := parseID(s)
	if err != nil {
		return 0, fault.New(fault.Invalid, "contractId: %q is not an id", s).At("contractId")
	}
	return int64(n), nil
}
