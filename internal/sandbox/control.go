package sandbox

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/sandbox/inbox"
	"github.com/perennialhq/perennial/internal/web"
)

// control is the director's chair: it moves time, plays the platform's part and
// says what really happened.
func (s *Sandbox) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", answer(s.contents))
	mux.HandleFunc("GET /clock", answer(s.readClock))
	mux.HandleFunc("POST /clock", answer(s.moveClock))
	mux.HandleFunc("GET /scenarios", answer(s.listScenarios))
	mux.HandleFunc("POST /scenarios/{name}", answer(s.playScenario))
	mux.HandleFunc("GET /platform/orders", s.atRest(answer(s.orders)))
	mux.HandleFunc("GET /platform/contracts/{id}", s.atRest(answer(s.contract)))
	mux.HandleFunc("GET /platform/cycles", s.atRest(answer(s.cycles)))
	mux.HandleFunc("GET /platform/variants", answer(s.variants))
	mux.HandleFunc("DELETE /platform/variants/{id}", answer(s.removeVariant))
	mux.HandleFunc("POST /platform/contracts", answer(s.checkout))
	mux.HandleFunc("POST /platform/shops", answer(s.install))
	mux.HandleFunc("POST /platform/shops/{domain}", answer(s.changeShop))
	mux.HandleFunc("POST /platform/shops/{domain}/uninstall", answer(s.uninstall))
	mux.HandleFunc("POST /platform/shops/{domain}/reinstall", answer(s.reinstall))
	mux.HandleFunc("GET /privacy", s.atRest(answer(s.privacyRequests)))
	mux.HandleFunc("POST /privacy/{id}/download", answer(s.downloadExport))
	mux.HandleFunc("GET /sync", s.atRest(answer(s.sync)))
	mux.HandleFunc("GET /departure", s.atRest(answer(s.departure)))
	mux.HandleFunc("GET /consent", s.atRest(answer(s.consent)))
	mux.HandleFunc("POST /consent", answer(s.confirm))
	mux.HandleFunc("POST /platform/outcomes", answer(s.outcome))
	mux.HandleFunc("POST /platform/attempts/{id}", answer(s.finishAttempt))
	mux.HandleFunc("GET /platform/faults", answer(s.faultCounts))
	mux.HandleFunc("POST /platform/faults", answer(s.setFaults))
	mux.HandleFunc("DELETE /platform/faults", answer(s.clearFaults))
	mux.HandleFunc("GET /instances/faults", answer(s.instanceFaultCounts))
	mux.HandleFunc("POST /instances/faults", answer(s.setInstanceFaults))
	mux.HandleFunc("DELETE /instances/faults", answer(s.clearInstanceFaults))
	mux.HandleFunc("POST /platform/defects", answer(s.setDefects))
	mux.HandleFunc("POST /platform/bulk-charge", answer(s.bulkCharge))
	mux.HandleFunc("POST /platform/orders/{id}/fulfillment", answer(s.fulfill))
	mux.HandleFunc("POST /platform/payment-methods/{id}", answer(s.setPaymentMethod))
	mux.HandleFunc("GET /platform/customers/{id}", s.atRest(answer(s.customer)))
	mux.HandleFunc("POST /platform/customers/{id}/payment-methods", answer(s.addPaymentMethod))
	mux.HandleFunc("POST /platform/customers/{id}/redact", answer(s.redactCustomer))
	mux.HandleFunc("POST /platform/customers/{id}/merge", answer(s.mergeCustomer))
	mux.HandleFunc("POST /platform/discount-codes", answer(s.addCode))
	mux.HandleFunc("GET /platform/update-emails", s.atRest(answer(s.updateEmails)))
	mux.HandleFunc("POST /settings", answer(s.setSettings))
	mux.HandleFunc("POST /settings/portal", answer(s.setPortal))
	mux.HandleFunc("POST /dunning/solved", answer(s.solved))
	mux.HandleFunc("POST /loyalty", answer(s.setLoyalty))
	mux.HandleFunc("POST /partners", answer(s.addPartner))
	mux.HandleFunc("POST /partners/{id}", answer(s.setPartner))
	mux.HandleFunc("GET /mail", s.atRest(answer(s.mail)))
	mux.HandleFunc("GET /sms", s.atRest(answer(s.sms)))
	mux.HandleFunc("POST /sms", answer(s.answerSMS))
	mux.HandleFunc("POST /sms/faults", answer(s.setSMSFaults))
	inbox.Routes(mux, s.atRest, s.caught)
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
	return s.frame().Around(s.ownCallers(s.onceReady(web.AtRoot(s.controlFront(), web.Routes(mux)))))
}

// ownCallers refuses requests that a page of another site makes in a browser: those with
// another origin, and those to a name that another site's DNS resolves to this machine.
func (s *Sandbox) ownCallers(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	listens, _, _ := net.SplitHostPort(s.options.Listen)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := hostOf(r); net.ParseIP(host) == nil && host != "localhost" && !strings.EqualFold(host, listens) {
			web.WriteError(w, r, fault.New(fault.Forbidden, "the host %.255q is not the sandbox's: use an IP address, localhost, or the host of --listen", host).Code("foreignHost"))
			return
		}
		if err := cross.Check(r); err != nil {
			web.WriteError(w, r, fault.New(fault.Forbidden, "a page of another site must not control the sandbox").Code("crossSite"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostOf returns the host that a request names, without its port.
func hostOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// onceReady refuses control requests while the sandbox still makes its demo data.
// Webhook receivers answer from the start.
func (s *Sandbox) onceReady(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.ready.Load() && !strings.HasPrefix(r.URL.Path, "/webhook-sink/") {
			web.WriteError(w, r, fault.New(fault.Unavailable, "the sandbox is not ready: wait until %s carries the number of its process", manifestFile).Code("notReady").RetryAfter(time.Second))
			return
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
		_ = encoder.Encode(v) // the client is gone
	}
}

// atRest answers a read when the work that earlier calls started is done, so that the
// answer shows what the service sends to the platform. If the work does not end in time
// that is logged, and the read shows how far it is.
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
		return fault.New(fault.Invalid, "a JSON body is required").Code("bodyMissing")
	}
	return web.DecodeJSON(text, v)
}

// Ids of objects of the platform, each written as a number, in a string, or as a graph
// id of its kind; 0 when there is none.
type (
	contractID int64
	customerID int64
	variantID  int64
	planID     int64
)

// UnmarshalJSON reads any of the three.
func (n *contractID) UnmarshalJSON(text []byte) error {
	return readID(n, "SubscriptionContract", "contractId", text)
}

// UnmarshalJSON reads any of the three.
func (n *customerID) UnmarshalJSON(text []byte) error {
	return readID(n, "Customer", "customer.id", text)
}

// UnmarshalJSON reads any of the three.
func (n *variantID) UnmarshalJSON(text []byte) error {
	return readID(n, "ProductVariant", "lines.variantId", text)
}

// UnmarshalJSON reads any of the three.
func (n *planID) UnmarshalJSON(text []byte) error {
	return readID(n, "SellingPlan", "lines.sellingPlanId", text)
}

func readID[T ~int64](to *T, kind, field string, text []byte) error {
	if string(text) == "null" {
		return nil
	}
	n, err := parseID(kind, field, strings.Trim(string(text), `"`))
	*to = T(n)
	return err
}

// parseID reads the id of an object of a kind, which must be there.
func parseID(kind, field, s string) (int64, error) {
	if s == "" {
		return 0, fault.New(fault.Invalid, "%s is empty: write a number or a graph id", field).Field(field)
	}
	return web.ParseID(kind, field, s)
}

// pathID reads the id that a path ends with, of an object of a kind.
func pathID(r *http.Request, kind string) (int64, error) {
	return parseID(kind, "id", r.PathValue("id"))
}

// decimal is an amount, written as a number or in a string.
type decimal string

// UnmarshalJSON reads either; null is as nothing.
func (d *decimal) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
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
	return web.ParseID("SubscriptionContract", "contractId", r.URL.Query().Get("contractId"))
}
