package simulator

import (
	"slices"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
)

// state is everything that the platform holds. Exported fields are what is
// kept; the others are indexes made from them.
type state struct {
	meta    meta
	shops   map[string]*store
	byToken map[string]opening
	order   []*store // as added
}

// meta counts what belongs to no store.
type meta struct {
	Shops int64 // stores made so far
	Seq   int64 // entries of the agenda made so far
}

func newState() state {
	return state{shops: map[string]*store{}, byToken: map[string]opening{}}
}

// store is a merchant's shop.
type store struct {
	ID            int64
	Domain        string
	Token         string
	Name          string
	Email         string
	Country       string
	TimeZone      string
	Currency      money.Currency
	CreatedAt     time.Time
	UninstalledAt time.Time     `json:",omitzero"`
	Metafields    []metafield   `json:",omitempty"`
	Mails         []UpdateEmail `json:",omitempty"`
	Codes         []code        `json:",omitempty"` // that customers can redeem
	Grants        grantsOf      `json:",omitzero"`
	// Others are the apps beside the first, by client id.
	Others map[string]*otherApp `json:",omitempty"`
	// Accounts is the client of customer accounts; nil: the merchant has made none.
	Accounts *AccountClient `json:",omitempty"`

	zone          *time.Location
	next          counters // kept as an object of its own: it changes with every order
	bucket        bucket
	products      objects[*product]
	variants      objects[*variant]
	removed       objects[*variant] // variants that are no longer on sale
	customers     objects[*customer]
	byEmail       map[string]*customer
	methods       map[string]*paymentMethod
	orders        objects[*order]
	contracts     objects[*contract]
	attempts      objects[*attempt]
	byKey         map[attemptKey]*attempt
	drafts        objects[*draft]
	subscriptions objects[*subscription]
	locations     objects[*place]
	carriers      objects[*carrier]
	profiles      objects[*profile]
	planGroups    objects[*planGroup]
}

// counters hold the next number of each kind of object.
type counters struct {
	Shop                                                                                                             string
	Product, Variant, Collection, Customer, Method, Order, OrderName, LineItem, Contract, Draft, Subscription, Event int64
	Plan, PlanGroup                                                                                                  int64
	Location, Carrier, Profile, ProfilePart                                                                          int64
}

// objects are the objects of one kind by number, and in the order of their
// making.
type objects[T comparable] struct {
	byID  map[int64]T
	order []T
}

func (o *objects[T]) add(id int64, v T) {
	if o.byID == nil {
		o.byID = map[int64]T{}
	}
	if _, known := o.byID[id]; !known {
		o.order = append(o.order, v)
	}
	o.byID[id] = v
}

func (o *objects[T]) get(id int64) (T, bool) {
	v, ok := o.byID[id]
	return v, ok
}

func (o *objects[T]) remove(id int64) {
	if gone, known := o.byID[id]; known {
		delete(o.byID, id)
		o.order = slices.DeleteFunc(o.order, func(v T) bool { return v == gone })
	}
}

// collection groups products.
type collection struct {
	ID    int64
	Title string
}

type product struct {
	Shop        string
	ID          int64
	Title       string
	Handle      string
	Vendor      string
	Type        string
	Image       string
	Status      string
	OnlyOnPlans bool `json:",omitempty"`
	Tags        []string
	Collections []collection
	CreatedAt   time.Time
	UpdatedAt   time.Time

	variants []*variant
}

type variant struct {
	Shop             string
	ID               int64
	Product          int64
	Position         int
	Title            string
	SKU              string
	Price            money.Amount
	Taxable          bool
	RequiresShipping bool
	Tracked          bool // Quantity is the stock; otherwise there is always enough
	Quantity         int
	Deny             bool // no sale beyond the stock
	Removed          bool // no longer on sale; lines still take their words from it
	CreatedAt        time.Time

	product *product
}

type customer struct {
	Shop                       string
	ID                         int64
	Email, FirstName, LastName string
	Phone                      string
	Country                    string
	Tags                       []string `json:",omitempty"`
	CreatedAt                  time.Time
	UpdatedAt                  time.Time

	methods   []*paymentMethod
	contracts []*contract
	orders    []*order
}

// displayName is how the platform shows a person.
func (c *customer) displayName() string {
	switch {
	case c.FirstName != "" && c.LastName != "":
		return c.FirstName + " " + c.LastName
	case c.FirstName != "" || c.LastName != "":
		return c.FirstName + c.LastName
	}
	return c.Email
}

// MethodStatus is whether a payment method can be charged.
type MethodStatus string

// The statuses of a payment method.
const (
	MethodValid   MethodStatus = "valid"
	MethodExpired MethodStatus = "expired"
	MethodRevoked MethodStatus = "revoked"
	MethodNone    MethodStatus = "none" // a contract without any
)

type paymentMethod struct {
	Shop        string
	ID          string // the tail of its graph id
	Number      int64
	Customer    int64
	Kind        MethodKind `json:",omitempty"` // empty: a card
	Status      MethodStatus
	Brand       string
	LastDigits  string
	ExpiryMonth int
	ExpiryYear  int
	Ends        bool `json:",omitempty"` // after its date the card is declined; others are as good as their status
	CreatedAt   time.Time
	RevokedAt   time.Time `json:",omitzero"`

	customer *customer
}

func (m *paymentMethod) gid() string { return "gid://shopify/CustomerPaymentMethod/" + m.ID }

type order struct {
	Shop       string
	ID         int64
	Name       string
	Number     int64
	Customer   int64
	Contract   int64
	Cycle      int    // 0: the order from which the contract came
	AttemptKey string // idempotency key of the charge; empty for an origin order
	Amount     money.Amount
	Shipping   money.Amount
	Paid       bool
	Note       string
	Attributes []attribute `json:",omitempty"`
	Tags       []string    `json:",omitempty"`
	Codes      []string    `json:",omitempty"` // discount codes that were used
	Lines      []orderLine
	Country    string
	Address    *address     `json:",omitempty"` // where it is sent, unless to the customer's own
	Discount   money.Amount `json:",omitzero"`  // all that was taken off
	CreatedAt  time.Time
	UpdatedAt  time.Time `json:",omitzero"` // zero: never

	Fulfillments []fulfillment `json:",omitempty"`

	customer *customer
	contract *contract
}

// fulfillment is a parcel with all lines of its order.
type fulfillment struct {
	ID                     int64
	Display                string
	Company, Number, URL   string
	CreatedAt              time.Time
	Estimated, DeliveredAt time.Time `json:",omitzero"`
}

type orderLine struct {
	ID              int64
	Variant         int64
	Product         int64
	Title           string
	VariantTitle    string
	SKU             string
	Image           string
	Quantity        int
	Price           money.Amount
	Taxable         bool
	SellingPlanID   int64
	SellingPlanName string
	Contract        int64        `json:",omitempty"` // that the line began; 0: the order's
	Once            bool         `json:",omitempty"` // bought beside subscriptions, or without any
	Discount        money.Amount `json:",omitzero"`  // taken off the line
	Attributes      []attribute  `json:",omitempty"`
}

type attribute struct{ Key, Value string }

type metafield struct {
	ID                          int64
	App                         string `json:",omitempty"` // of an app's own namespace: its owner
	Namespace, Key, Type, Value string
	CreatedAt, UpdatedAt        time.Time
}

// rowKey names a kept object.
type rowKey struct{ Kind, Shop, ID string }

// record is an object that is kept.
type record interface{ key() rowKey }

func number(kind, shop string, id int64) rowKey {
	return rowKey{kind, shop, strconv.FormatInt(id, 10)}
}

func (meta) key() rowKey             { return rowKey{Kind: "meta"} }
func (sh *store) key() rowKey        { return rowKey{"shop", sh.Domain, ""} }
func (c *counters) key() rowKey      { return rowKey{"counters", c.Shop, ""} }
func (p *product) key() rowKey       { return number("product", p.Shop, p.ID) }
func (v *variant) key() rowKey       { return number("variant", v.Shop, v.ID) }
func (c *customer) key() rowKey      { return number("customer", c.Shop, c.ID) }
func (m *paymentMethod) key() rowKey { return rowKey{"method", m.Shop, m.ID} }
func (o *order) key() rowKey         { return number("order", o.Shop, o.ID) }

func (p *product) gid() string  { return gid.Of("Product", p.ID) }
func (v *variant) gid() string  { return gid.Of("ProductVariant", v.ID) }
func (c *customer) gid() string { return gid.Of("Customer", c.ID) }
func (o *order) gid() string    { return gid.Of("Order", o.ID) }
func (sh *store) gid() string   { return gid.Of("Shop", sh.ID) }

// take returns the next number of a counter.
func take(n *int64) int64 {
	*n++
	return *n - 1
}
