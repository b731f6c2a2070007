package shopify

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// What a webhook may measure, in bytes.
const (
	maxWebhookBody   = 1 << 20
	maxWebhookHeader = 255
)

// Webhooks opens the platform's webhooks. It implements platform.Webhooks.
type Webhooks struct {
	Secret string // the app's client secret; with none, nothing is genuine
	Other  string // client secret of another app of the installation, or ""
}

// Open checks the signature over the raw body first: until it is known to be
// the platform's, nothing else of a request is looked at.
func (w Webhooks) Open(header func(name string) string, body []byte) (platform.Event, error) {
	if len(body) > maxWebhookBody {
		return platform.Event{}, fault.New(fault.Invalid, "the webhook's body has more than %d bytes", maxWebhookBody)
	}
	signature := header("X-Shopify-Hmac-Sha256")
	if !w.genuine(signature, body) {
		return platform.Event{}, fault.New(fault.Unauthenticated, "the webhook's signature is missing or wrong")
	}
	for _, name := range []string{"X-Shopify-Topic", "X-Shopify-Shop-Domain", "X-Shopify-API-Version", "X-Shopify-Webhook-Id"} {
		if header(name) == "" {
			return platform.Event{}, fault.New(fault.Invalid, "the webhook has no header %s", name).Field(name)
		}
		if len(header(name)) > maxWebhookHeader {
			return platform.Event{}, fault.New(fault.Invalid, "the webhook's header %s is too long", name).Field(name)
		}
	}
	e := platform.Event{
		ID:         header("X-Shopify-Event-Id"),
		Topic:      platform.Topic(header("X-Shopify-Topic")),
		Shop:       platform.LowerDomain(header("X-Shopify-Shop-Domain")),
		APIVersion: header("X-Shopify-API-Version"),
	}
	if e.ID == "" {
		e.ID = header("X-Shopify-Webhook-Id")
	}
	if len(e.ID) > maxWebhookHeader {
		return platform.Event{}, fault.New(fault.Invalid, "the webhook's id is too long").Field("X-Shopify-Event-Id")
	}
	if !validDomain(e.Shop) {
		return platform.Event{}, fault.New(fault.Invalid, "the webhook's shop is not a store's domain").Field("X-Shopify-Shop-Domain")
	}
	if at := header("X-Shopify-Triggered-At"); at != "" {
		triggered, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return platform.Event{}, fault.Because(fault.Invalid, err, "the webhook's time cannot be read").Field("X-Shopify-Triggered-At")
		}
		e.TriggeredAt = triggered.UTC()
	}
	var p payload
	if len(body) > 0 || !bodyless(e.Topic) {
		if err := json.Unmarshal(body, &p); err != nil {
			return platform.Event{}, fault.Because(fault.Invalid, err, "the webhook's body cannot be read")
		}
	}
	if named := p.shop(); named != "" && named != e.Shop {
		return platform.Event{}, fault.New(fault.Unauthenticated, "the webhook's body is of the store %.255q, and its headers name %s", named, e.Shop)
	} else if named == "" && namesShop(e.Topic) {
		return platform.Event{}, fault.New(fault.Unauthenticated, "the webhook's body names no store, as one of the topic %s does", e.Topic)
	}
	if len(body) > 0 {
		e.Signature = signature
	}
	p.put(&e)
	return e, nil
}

// namesShop reports whether the bodies of a topic name the store, and must be believed for
// what they ask for. That of an uninstallation may be missing: the platform is asked then.
func namesShop(t platform.Topic) bool {
	switch t {
	case platform.ShopRedact, platform.CustomerRedact, platform.DataRequest:
		return true
	}
	return false
}

// genuine reports whether the signature is the body's, in a time that does not depend on
// how much of it is right. Other ways to write the same bytes in base64 are not accepted.
func (w Webhooks) genuine(signature string, body []byte) bool {
	for _, secret := range []string{w.Secret, w.Other} {
		if secret != "" && hmac.Equal([]byte(signature), []byte(base64.StdEncoding.EncodeToString(macOf(secret, body)))) {
			return true
		}
	}
	return false
}

func macOf(secret string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return mac.Sum(nil)
}

// bodyless reports whether the topic may come without a body. No payload of the
// revocation is documented; an uninstallation needs none.
func bodyless(t platform.Topic) bool {
	return t == platform.PaymentRevoked || t == platform.Uninstalled
}

// payload is what we read of any topic's body. Everything in it may be missing.
type payload struct {
	GraphID         string      `json:"admin_graphql_api_id"`
	ID              looseID     `json:"id"`
	RevisionID      wire.Number `json:"revision_id"`
	CustomerID      looseID     `json:"customer_id"`
	CustomerGraphID looseID     `json:"admin_graphql_api_customer_id"`
	ContractID      looseID     `json:"subscription_contract_id"`
	ContractGraphID looseID     `json:"admin_graphql_api_subscription_contract_id"`
	Key             string      `json:"idempotency_key"`
	CycleIndex      looseID     `json:"cycle_index"`
	KeptID          looseID     `json:"admin_graphql_api_customer_kept_id"`
	GoneID          looseID     `json:"admin_graphql_api_customer_deleted_id"`
	ShopDomain      string      `json:"shop_domain"`      // of what is asked for by law
	MyshopifyDomain string      `json:"myshopify_domain"` // of a store
	Person          struct {
		ID looseID `json:"id"`
	} `json:"customer"`
}

// shop returns the domain of the store that the body names, or "".
func (p payload) shop() string { return strings.ToLower(cmp.Or(p.ShopDomain, p.MyshopifyDomain)) }

// put writes what the event's topic carries into the event.
func (p payload) put(e *platform.Event) {
	e.Customer = first(p.CustomerID, p.CustomerGraphID)
	if e.Topic == platform.DataRequest || e.Topic == platform.CustomerRedact {
		e.Customer = int64(p.Person.ID)
	}
	if e.Topic == platform.CustomersMerged {
		e.Customer, e.Kept = int64(p.GoneID), int64(p.KeptID)
	}
	subject, _, _ := strings.Cut(string(e.Topic), "/")
	switch subject {
	case "subscription_contracts":
		e.Contract = first(p.ID, numberIn(p.GraphID))
		e.Revision = uint64(p.RevisionID)
	case "subscription_billing_attempts":
		if e.Attempt = p.GraphID; e.Attempt == "" && p.ID > 0 {
			e.Attempt = gid.Of(typeAttempt, int64(p.ID))
		}
		e.Contract = first(p.ContractID, p.ContractGraphID)
		e.Key = p.Key
	case "subscription_billing_cycle_edits", "subscription_billing_cycles":
		e.Contract = first(p.ContractID, p.ContractGraphID)
		e.Cycle = int(p.CycleIndex)
	case "customer_payment_methods":
		e.PaymentMethod = p.GraphID
	}
}

func first(a, b looseID) int64 {
	if a != 0 {
		return int64(a)
	}
	return int64(b)
}
