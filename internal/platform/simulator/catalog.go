package simulator

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
)

// ShopSpec says what a store is. The ids of a store's objects count up from the
// First numbers; stores that leave them out get ranges that never meet.
type ShopSpec struct {
	Domain   string         // <store>.myshopify.com
	Token    string         // opens the store
	TimeZone string         // IANA name; default UTC
	Currency money.Currency // default USD
	Name     string
	Email    string
	Country  string // two letters; default US

	FirstContract int64
	FirstCustomer int64
	FirstOrder    int64
	FirstVariant  int64
	FirstProduct  int64
	FirstPlan     int64
}

// First ids of the first store, and how far apart those of others are.
const (
	firstShop       = 1001
	firstContract   = 9001
	firstCustomer   = 7001
	firstOrder      = 5001
	firstVariant    = 4001
	firstProduct    = 3001
	firstCollection = 2001
	firstOrderName  = 1001
	shopSpacing     = 10_000_000
)

// AddShop installs the app in a new store. A domain or token that is taken is
// FailedPrecondition; an unknown time zone is Invalid.
func (s *Simulator) AddShop(spec ShopSpec) error {
	return s.update(func() error {
		if spec.Domain == "" || spec.Token == "" {
			return fault.New(fault.Invalid, "a store needs a domain and a token")
		}
		if s.state.shops[spec.Domain] != nil {
			return fault.New(fault.FailedPrecondition, "the store %s exists already", spec.Domain)
		}
		if _, taken := s.state.byToken[spec.Token]; taken {
			return fault.New(fault.FailedPrecondition, "another store has this token")
		}
		zone, err := zoneNamed(or(spec.TimeZone, "UTC"))
		if err != nil {
			return err
		}
		n := take(&s.state.meta.Shops)
		base := n * shopSpacing
		sh := &store{
			ID: firstShop + n, Domain: spec.Domain, Token: spec.Token, TimeZone: zone.String(), CreatedAt: s.now(),
			Currency: or(spec.Currency, "USD"), Country: or(spec.Country, "US"),
			Name: or(spec.Name, strings.TrimSuffix(spec.Domain, ".myshopify.com")), Email: or(spec.Email, "owner@"+spec.Domain),
			next: counters{
				Shop: spec.Domain, Product: or(spec.FirstProduct, base+firstProduct), Variant: or(spec.FirstVariant, base+firstVariant),
				Collection: base + firstCollection, Customer: or(spec.FirstCustomer, base+firstCustomer),
				Method: base + 1, Order: or(spec.FirstOrder, base+firstOrder), OrderName: firstOrderName, LineItem: base + 1,
				Contract: or(spec.FirstContract, base+firstContract), Draft: base + 1, Subscription: base + 1, Event: 0,
				Plan: or(spec.FirstPlan, base+firstPlan), PlanGroup: base + firstPlanGroup,
			},
		}
		s.addStore(sh, zone)
		s.addDelivery(sh, base)
		s.save(s.state.meta)
		s.save(sh)
		s.save(&sh.next)
		return nil
	})
}

func zoneNamed(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // which is the machine's, whatever that is
		return nil, fault.Because(fault.Invalid, err, "%q is not an IANA time zone", name).Field("ianaTimeZone")
	}
	return zone, nil
}

// Shop is a store as the director sees it.
type Shop struct {
	Domain   string         `json:"shop"`
	Name     string         `json:"name"`
	Email    string         `json:"email"`
	TimeZone string         `json:"ianaTimeZone"`
	Currency money.Currency `json:"currencyCode"`
}

// ChangeShop changes a store's settings and sends the webhooks of the change. What the spec leaves empty stays. Contracts and what the store sells keep
// their currency and prices.
func (s *Simulator) ChangeShop(to Shop) (Shop, error) {
	var is Shop
	err := s.updateStore(to.Domain, func(sh *store) error {
		zone, err := zoneNamed(or(to.TimeZone, sh.TimeZone))
		if err != nil {
			return err
		}
		sh.zone, sh.TimeZone = zone, zone.String()
		sh.Name, sh.Email, sh.Currency = or(to.Name, sh.Name), or(to.Email, sh.Email), or(to.Currency, sh.Currency)
		s.save(sh)
		s.emitShop(sh, everyApp, "SHOP_UPDATE")
		is = Shop{sh.Domain, sh.Name, sh.Email, sh.TimeZone, sh.Currency}
		return nil
	})
	return is, err
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func (s *Simulator) addStore(sh *store, zone *time.Location) {
	sh.zone = zone
	sh.bucket = s.fullBucket()
	sh.byEmail, sh.methods, sh.byKey = map[string]*customer{}, map[string]*paymentMethod{}, map[attemptKey]*attempt{}
	s.state.shops[sh.Domain] = sh
	s.state.byToken[sh.Token] = opening{sh, firstApp}
	for _, a := range sh.Grants.Access {
		s.state.byToken[a.Token] = opening{sh, firstApp}
	}
	for client, is := range sh.Others {
		is.bucket = s.fullBucket()
		if is.Token != "" {
			s.state.byToken[is.Token] = opening{sh, client}
		}
		for _, a := range is.Grants.Access {
			s.state.byToken[a.Token] = opening{sh, client}
		}
	}
	s.state.order = append(s.state.order, sh)
}

func (sh *store) addVariant(v *variant) {
	if v.product, _ = sh.products.get(v.Product); v.Removed {
		sh.removed.add(v.ID, v)
		return
	}
	sh.variants.add(v.ID, v)
	v.product.variants = append(v.product.variants, v)
}

func (sh *store) addCustomer(c *customer) {
	sh.customers.add(c.ID, c)
	if c.Email != "" {
		sh.byEmail[strings.ToLower(c.Email)] = c
	}
}

func (sh *store) addMethod(m *paymentMethod) {
	sh.methods[m.ID] = m
	m.customer, _ = sh.customers.get(m.Customer)
	m.customer.methods = append(m.customer.methods, m)
}

// ProductSpec is something that a store sells.
type ProductSpec struct {
	Shop        string // default: the first store
	Title       string
	Vendor      string
	Type        string
	Image       string
	Tags        []string
	Collections []string // titles; made when the store lacks them
	OnlyOnPlans bool     // it is not sold without a selling plan
	Variants    []VariantSpec
}

// VariantSpec is one form of a product.
type VariantSpec struct {
	Title    string
	SKU      string
	Price    string // decimal, in the store's currency
	Stock    *int   // nil: not tracked
	Oversell bool   // sold beyond the stock
	Digital  bool   // needs no shipping
	TaxFree  bool
}

// Variant is a variant as the director sees it.
type Variant struct {
	ID           int64        `json:"variantId"`
	ProductID    int64        `json:"productId"`
	Title        string       `json:"title"` // the product's, and the variant's when it has several
	ProductTitle string       `json:"productTitle"`
	SKU          string       `json:"sku,omitempty"`
	Image        string       `json:"image,omitempty"`
	Price        string       `json:"price"`
	Collections  []Collection `json:"collections"`
}

// Collection is a group of products.
type Collection struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
}

// AddProduct puts a product on sale and returns its variants. A product needs at
// least one variant with a price.
func (s *Simulator) AddProduct(spec ProductSpec) ([]Variant, error) {
	var made []Variant
	err := s.updateStore(spec.Shop, func(sh *store) (err error) {
		if spec.Title == "" || len(spec.Variants) == 0 {
			return fault.New(fault.Invalid, "a product needs a title and a variant")
		}
		prices := make([]money.Amount, len(spec.Variants))
		for i, v := range spec.Variants {
			if prices[i], err = money.Parse(v.Price, sh.Currency); err != nil {
				return err
			}
		}
		p := &product{
			Shop: sh.Domain, ID: take(&sh.next.Product), Title: spec.Title, Vendor: or(spec.Vendor, sh.Name), Type: spec.Type,
			Image: spec.Image, Status: "ACTIVE", OnlyOnPlans: spec.OnlyOnPlans, Tags: spec.Tags, CreatedAt: s.now(), UpdatedAt: s.now(),
			Handle: handle(spec.Title),
		}
		for _, title := range spec.Collections {
			p.Collections = append(p.Collections, sh.collection(title))
		}
		sh.products.add(p.ID, p)
		s.save(p)
		for i, v := range spec.Variants {
			nv := &variant{
				Shop: sh.Domain, ID: take(&sh.next.Variant), Product: p.ID, Position: i + 1, Title: or(v.Title, "Default Title"),
				SKU: v.SKU, Price: prices[i], Taxable: !v.TaxFree, RequiresShipping: !v.Digital, Deny: !v.Oversell, CreatedAt: s.now(),
			}
			if v.Stock != nil {
				nv.Tracked, nv.Quantity = true, *v.Stock
			}
			sh.addVariant(nv)
			s.save(nv)
			made = append(made, nv.describe())
		}
		s.save(&sh.next)
		return nil
	})
	return made, err
}

// handle returns what names a product in addresses: the letters and digits of its title.
func handle(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return r != '\'' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.ReplaceAll(strings.Join(words, "-"), "'", "")
}

// collection returns the store's collection of that title, new when need be.
func (sh *store) collection(title string) collection {
	for _, p := range sh.products.order {
		for _, c := range p.Collections {
			if c.Title == title {
				return c
			}
		}
	}
	return collection{ID: take(&sh.next.Collection), Title: title}
}

func (v *variant) describe() Variant {
	d := Variant{
		ID: v.ID, ProductID: v.Product, Title: v.product.Title, ProductTitle: v.product.Title,
		SKU: v.SKU, Image: v.product.Image, Price: v.Price.String(), Collections: []Collection{},
	}
	if v.Title != "Default Title" {
		d.Title += " - " + v.Title
	}
	for _, c := range v.product.Collections {
		d.Collections = append(d.Collections, Collection(c))
	}
	return d
}

// Variants lists what a store sells; "" means the first store.
func (s *Simulator) Variants(shop string) ([]Variant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.store(shop)
	if err != nil {
		return nil, err
	}
	list := make([]Variant, len(sh.variants.order))
	for i, v := range sh.variants.order {
		list[i] = v.describe()
	}
	return list, nil
}

// SetStock sets how many pieces of a variant there are and tracks them from now
// on; sales beyond the stock fail.
func (s *Simulator) SetStock(shop string, variantID int64, quantity int) error {
	return s.update(func() error {
		_, v, err := s.onSale(shop, variantID)
		if err != nil {
			return err
		}
		v.Tracked, v.Deny, v.Quantity = true, true, quantity
		s.save(v)
		return nil
	})
}

// RemoveVariant takes a variant off a store's shelf for good. Contracts keep its lines
// and what they are called, but not its number.
func (s *Simulator) RemoveVariant(shop string, variantID int64) error {
	return s.update(func() error {
		sh, v, err := s.onSale(shop, variantID)
		if err != nil {
			return err
		}
		sh.variants.remove(v.ID)
		v.product.variants = slices.DeleteFunc(v.product.variants, func(o *variant) bool { return o == v })
		v.Removed = true
		sh.removed.add(v.ID, v)
		s.save(v)
		return nil
	})
}

// onSale returns a variant and its store.
func (s *Simulator) onSale(shop string, variantID int64) (*store, *variant, error) {
	sh, err := s.store(shop)
	if err != nil {
		return nil, nil, err
	}
	v, ok := sh.variants.get(variantID)
	if !ok {
		return nil, nil, fault.New(fault.NotFound, "%s has no variant %d", sh.Domain, variantID)
	}
	return sh, v, nil
}

// store returns a store by its domain; "" means the first.
func (s *Simulator) store(domain string) (*store, error) {
	if domain == "" && len(s.state.order) > 0 {
		return s.state.order[0], nil
	}
	if sh := s.state.shops[domain]; sh != nil {
		return sh, nil
	}
	return nil, fault.New(fault.NotFound, "there is no store %q", domain).Field("shop")
}
