package simulator

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform/schema"
)

// subscription is an address that wants a topic.
type subscription struct {
	Shop        string
	ID          int64
	App         string `json:",omitempty"` // owner
	Topic       string // as in the schema's enum
	URI         string
	Name        string
	LastSuccess time.Time `json:",omitzero"`
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Removed     bool `json:",omitempty"`
}

func (w *subscription) key() rowKey { return number("subscription", w.Shop, w.ID) }
func (w *subscription) gid() string { return gid.Of("WebhookSubscription", w.ID) }

// headerTopic turns SUBSCRIPTION_CONTRACTS_CREATE into
// subscription_contracts/create.
func headerTopic(enum string) string {
	at := strings.LastIndexByte(enum, '_')
	return strings.ToLower(enum[:at] + "/" + enum[at+1:])
}

// emit sends a payload to all subscriptions of the topic that an app has, or every app. The payload is made only when
// there is one. The subject and the number of its events make the
// event's identity.
func (s *Simulator) emit(sh *store, app, topic string, rank int64, events *int64, at time.Time, payload func() any) {
	if events != nil {
		*events++
	}
	var body []byte
	for _, w := range sh.subscriptions.order {
		if w.Removed || w.Topic != topic || app != everyApp && w.App != app {
			continue
		}
		if body == nil {
			var err error
			if body, err = json.Marshal(payload()); err != nil {
				panic(err) // payloads are plain structs
			}
		}
		n := int64(0)
		if events != nil {
			n = *events
		}
		s.address(sh, w, topic, rank, n, at, body)
	}
}

// address sends a payload to a subscription's address.
func (s *Simulator) address(sh *store, to *subscription, topic string, rank, n int64, at time.Time, body []byte) {
	event := uuidOf(topic, sh.Domain, rank, n)
	s.scheduleDelivery(sh, rank, &delivery{
		Shop: sh.Domain, App: to.App, Event: event, Webhook: uuidOf(event, sh.Domain, to.ID, 0), Topic: topic, Name: to.Name,
		Subscription: to.ID, URI: to.URI, APIVersion: schema.Version, Body: body, TriggeredAt: at,
	})
}

type policyPayload struct {
	Interval      string `json:"interval"`
	IntervalCount int    `json:"interval_count"`
	MinCycles     *int   `json:"min_cycles,omitempty"`
	MaxCycles     *int   `json:"max_cycles,omitempty"`
}

type contractPayload struct {
	GraphID       string        `json:"admin_graphql_api_id"`
	ID            int64         `json:"id"`
	Billing       policyPayload `json:"billing_policy"`
	Currency      string        `json:"currency_code"`
	Customer      int64         `json:"customer_id"`
	CustomerGraph string        `json:"admin_graphql_api_customer_id"`
	Delivery      policyPayload `json:"delivery_policy"`
	Status        string        `json:"status"`
	OriginGraph   *string       `json:"admin_graphql_api_origin_order_id"`
	Origin        *int64        `json:"origin_order_id"`
	Revision      string        `json:"revision_id"`
}

func (s *Simulator) emitContract(c *contract, topic string, at time.Time) {
	s.emit(c.shop, c.App, topic, c.ID, &c.Events, at, func() any {
		p := contractPayload{
			GraphID: c.gid(), ID: c.ID, Currency: string(c.Currency), Customer: c.Customer,
			CustomerGraph: gid.Of("Customer", c.Customer), Status: strings.ToLower(c.Terms.Status),
			Billing:  policyPayload{strings.ToLower(c.Terms.Billing.Interval), c.Terms.Billing.Count, optional(c.Terms.Billing.MinCycles), optional(c.Terms.Billing.MaxCycles)},
			Delivery: policyPayload{Interval: strings.ToLower(c.Terms.Delivery.Interval), IntervalCount: c.Terms.Delivery.Count},
			Revision: utoa(c.Revision),
		}
		if c.OriginOrder != 0 {
			g := gid.Of("Order", c.OriginOrder)
			p.OriginGraph, p.Origin = &g, &c.OriginOrder
		}
		return p
	})
	s.save(c)
}

func optional(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

type attemptPayload struct {
	ID            int64   `json:"id"`
	GraphID       string  `json:"admin_graphql_api_id"`
	Key           string  `json:"idempotency_key"`
	Order         *int64  `json:"order_id"`
	OrderGraph    *string `json:"admin_graphql_api_order_id"`
	Contract      int64   `json:"subscription_contract_id"`
	ContractGraph string  `json:"admin_graphql_api_subscription_contract_id"`
	Ready         bool    `json:"ready"`
	ErrorMessage  *string `json:"error_message"`
	ErrorCode     *string `json:"error_code"`
}

func (s *Simulator) emitAttempt(a *attempt, topic string, at time.Time) {
	s.emit(a.contract.shop, a.contract.App, topic, a.Contract, &a.contract.Events, at, func() any {
		p := attemptPayload{
			ID: a.ID, GraphID: a.gid(), Key: a.Key, Contract: a.Contract, ContractGraph: a.contract.gid(), Ready: a.State.ended(),
		}
		if a.order != nil {
			g := a.order.gid()
			p.Order, p.OrderGraph = &a.order.ID, &g
		}
		if a.ErrorCode != "" {
			code, message := strings.ToLower(a.ErrorCode), errorMessage(a.ErrorCode)
			p.ErrorCode, p.ErrorMessage = &code, &message
		}
		return p
	})
	s.save(a.contract)
}

type cyclePayload struct {
	Contract     int64  `json:"subscription_contract_id"`
	Start        string `json:"cycle_start_at"`
	End          string `json:"cycle_end_at"`
	Index        int    `json:"cycle_index"`
	ContractEdit *int   `json:"contract_edit"`
	Expected     string `json:"billing_attempt_expected_date"`
	Skipped      bool   `json:"skipped"`
	Edited       bool   `json:"edited"`
}

func (s *Simulator) emitCycle(c *contract, index int, topic string) {
	s.emit(c.shop, c.App, topic, c.ID, &c.Events, s.now(), func() any {
		v := c.view(index)
		return cyclePayload{
			Contract: c.ID, Start: stamp(v.start), End: stamp(v.end), Index: index,
			Expected: stamp(v.expected), Skipped: v.skipped, Edited: v.edited,
		}
	})
	s.save(c)
}

type methodPayload struct {
	GraphID    string             `json:"admin_graphql_api_id"`
	Token      string             `json:"token"`
	Customer   int64              `json:"customer_id"`
	Type       string             `json:"instrument_type"`
	Instrument *instrumentPayload `json:"payment_instrument"`
}

type instrumentPayload struct {
	LastDigits string `json:"last_digits"`
	Month      int    `json:"month"`
	Year       int    `json:"year"`
	Name       string `json:"name"`
	Brand      string `json:"brand"`
}

func (s *Simulator) emitMethod(m *paymentMethod, topic string) {
	sh := s.state.shops[m.Shop]
	s.emit(sh, everyApp, topic, m.Number, &sh.next.Event, s.now(), func() any {
		return methodPayload{
			GraphID: m.gid(), Token: m.ID, Customer: m.Customer, Type: instruments[m.kind()],
			Instrument: &instrumentPayload{m.LastDigits, m.ExpiryMonth, m.ExpiryYear, m.customer.displayName(), m.Brand},
		}
	})
	s.save(&sh.next)
}

type shopPayload struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	Email    string `json:"email"`
	Domain   string `json:"domain"`
	Country  string `json:"country_code"`
	Zone     string `json:"iana_timezone"`
	Currency string `json:"currency"`
	Address  string `json:"myshopify_domain"`
}

func (s *Simulator) emitShop(sh *store, app, topic string) {
	s.emit(sh, app, topic, 0, &sh.next.Event, s.now(), func() any {
		return shopPayload{sh.ID, sh.Name, sh.Email, sh.Domain, sh.Country, sh.TimeZone, string(sh.Currency), sh.Domain}
	})
	s.save(&sh.next)
}

type mergedPayload struct {
	Kept   string  `json:"admin_graphql_api_customer_kept_id"`
	Gone   string  `json:"admin_graphql_api_customer_deleted_id"`
	Job    *string `json:"admin_graphql_api_job_id"`
	Status string  `json:"status"`
	Errors []any   `json:"errors"`
}

func (s *Simulator) emitMerged(sh *store, gone, kept int64) {
	s.emit(sh, everyApp, "CUSTOMERS_MERGE", kept, &sh.next.Event, s.now(), func() any {
		return mergedPayload{Kept: gid.Of("Customer", kept), Gone: gid.Of("Customer", gone), Status: "completed", Errors: []any{}}
	})
	s.save(&sh.next)
}

type redactPayload struct {
	Shop     int64          `json:"shop_id"`
	Domain   string         `json:"shop_domain"`
	Customer redactedPerson `json:"customer"`
	Orders   []int64        `json:"orders_to_redact"`
}

type redactedPerson struct {
	ID    int64  `json:"id"`
	Email string `json:"email"`
	Phone string `json:"phone"`
}

// emitRedacted sends a compliance webhook about a customer. Apps do not subscribe to it:
// its address comes from the app's configuration, here that of any topic of each app.
func (s *Simulator) emitRedacted(sh *store, c *customer) {
	body, err := json.Marshal(redactPayload{Shop: sh.ID, Domain: sh.Domain, Customer: redactedPerson{ID: c.ID}, Orders: []int64{}})
	if err != nil {
		panic(err) // payloads are plain structs
	}
	reached := map[string]bool{}
	for _, w := range sh.subscriptions.order {
		if !w.Removed && !reached[w.App] {
			reached[w.App] = true
			sh.next.Event++
			s.address(sh, w, "CUSTOMERS_REDACT", c.ID, sh.next.Event, s.now(), body)
			s.save(&sh.next)
		}
	}
}

// stamp writes an instant as the platform does.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// errorMessage is a sentence for an error code.
func errorMessage(code string) string {
	words := strings.ToLower(strings.ReplaceAll(code, "_", " "))
	return strings.ToUpper(words[:1]) + words[1:] + "."
}
