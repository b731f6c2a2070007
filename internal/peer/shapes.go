package peer

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/platform"
)

// id is a number that may be written as a number, a text or a graph id; 0: null, or no number.
type id int64

// UnmarshalJSON reads it.
func (i *id) UnmarshalJSON(text []byte) error {
	*i = id(number(string(text)))
	return nil
}

// word is a text that may be a number or null.
type word string

// UnmarshalJSON reads it.
func (w *word) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err == nil {
		*w = word(s)
	} else if raw := string(text); raw != "null" && !strings.ContainsAny(raw, "{[") {
		*w = word(raw)
	}
	return nil
}

// instant is a time; zero: null, empty, or in a form that is not known.
type instant struct {
	time.Time
	local bool // it names no zone: the store's is meant
	day   bool // it names no time of day either: the store's order time is meant
}

// in returns the instant in a store that has a calendar.
func (i instant) in(cal cadence.Calendar) time.Time {
	switch {
	case i.day:
		year, month, day := i.Date()
		return cal.Local(cadence.Date{Year: year, Month: month, Day: day})
	case i.local && cal.Zone != nil:
		return time.Date(i.Year(), i.Month(), i.Day(), i.Hour(), i.Minute(), i.Second(), i.Nanosecond(), cal.Zone).UTC()
	}
	return i.Time
}

// UnmarshalJSON reads it.
func (i *instant) UnmarshalJSON(text []byte) error {
	s := strings.Trim(string(text), `"`)
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(form, s); err == nil {
			i.Time, i.local, i.day = t.UTC(), !strings.Contains(form, "Z07"), form == time.DateOnly
			return nil
		}
	}
	return nil
}

// amountShape is an amount as the platform writes it.
type amountShape struct {
	Amount   word `json:"amount"`
	Currency word `json:"currencyCode"`
}

// in returns the amount in its own currency, or else in the given one. What is no amount has no currency.
func (a amountShape) in(c money.Currency) money.Amount {
	return amountOf(a.Amount, money.Currency(a.Currency), c)
}

func amountOf(text word, own, other money.Currency) money.Amount {
	if own == "" {
		own = other
	}
	if text == "" || own == "" {
		return money.Amount{}
	}
	a, err := money.Parse(string(text), own)
	if err != nil {
		return money.Amount{}
	}
	return a
}

// list is a connection, or a bare array.
type list[T any] struct{ nodes []T }

// UnmarshalJSON reads it.
func (l *list[T]) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, &l.nodes)
	}
	var c struct {
		Nodes []T `json:"nodes"`
		Edges []struct {
			Node T `json:"node"`
		} `json:"edges"`
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return err
	}
	if l.nodes = c.Nodes; len(l.nodes) == 0 {
		for _, e := range c.Edges {
			l.nodes = append(l.nodes, e.Node)
		}
	}
	return nil
}

type attributeShape struct {
	Key   word `json:"key"`
	Value word `json:"value"`
}

func attributes(list []attributeShape) []contract.Attribute {
	var out []contract.Attribute
	for _, a := range list {
		out = append(out, contract.Attribute{Key: string(a.Key), Value: string(a.Value)})
	}
	return out
}

type policyShape struct {
	Interval word `json:"interval"`
	Count    id   `json:"intervalCount"`
	Anchors  []struct {
		Type   word `json:"type"`
		Day    id   `json:"day"`
		Month  id   `json:"month"`
		Cutoff id   `json:"cutoffDay"`
	} `json:"anchors"`
	MinCycles id `json:"minCycles"`
	MaxCycles id `json:"maxCycles"`
}

var anchorKinds = map[string]cadence.AnchorKind{"WEEKDAY": cadence.Weekday, "MONTHDAY": cadence.MonthDay, "YEARDAY": cadence.YearDay}

func (p policyShape) policy() contract.Policy {
	interval, _ := cadence.ParseInterval(strings.ToUpper(string(p.Interval))) // an unknown one is not valid
	out := contract.Policy{Interval: interval, Count: int(p.Count)}
	for _, a := range p.Anchors {
		out.Anchors = append(out.Anchors, cadence.Anchor{Kind: anchorKinds[strings.ToUpper(string(a.Type))], Day: int(a.Day), Month: int(a.Month), CutoffDay: int(a.Cutoff)})
	}
	return out
}

// contractShape is the contract object of the interface.
type contractShape struct {
	ID            id              `json:"id"`
	Status        word            `json:"status"`
	CreatedAt     instant         `json:"createdAt"`
	UpdatedAt     instant         `json:"updatedAt"`
	Next          instant         `json:"nextBillingDate"`
	Note          word            `json:"note"`
	DeliveryPrice amountShape     `json:"deliveryPrice"`
	Billing       policyShape     `json:"billingPolicy"`
	Delivery      policyShape     `json:"deliveryPolicy"`
	Lines         list[lineShape] `json:"lines"`
	Payment       *struct {
		ID      word    `json:"id"`
		Revoked instant `json:"revokedAt"`
	} `json:"customerPaymentMethod"`
	Method     *methodShape        `json:"deliveryMethod"`
	Customer   customerShape       `json:"customer"`
	Discounts  list[discountShape] `json:"discounts"`
	Attributes []attributeShape    `json:"customAttributes"`
}

type customerShape struct {
	ID    id   `json:"id"`
	Email word `json:"email"`
	Name  word `json:"displayName"`
	First word `json:"firstName"`
	Last  word `json:"lastName"`
	Phone word `json:"phone"`
}

type lineShape struct {
	ID         word             `json:"id"`
	Plan       id               `json:"sellingPlanId"`
	PlanName   word             `json:"sellingPlanName"`
	Product    id               `json:"productId"`
	Variant    id               `json:"variantId"`
	Title      word             `json:"title"`
	Quantity   id               `json:"quantity"`
	Price      amountShape      `json:"currentPrice"`
	Attributes []attributeShape `json:"customAttributes"`
	OneTime    word             `json:"_one_time_product"`
	Pricing    *struct {
		Base   amountShape `json:"basePrice"`
		Cycles []struct {
			Kind     word        `json:"adjustmentType"`
			After    id          `json:"afterCycle"`
			Computed amountShape `json:"computedPrice"`
			Value    struct {
				amountShape
				Percentage json.Number `json:"percentage"`
			} `json:"adjustmentValue"`
		} `json:"cycleDiscounts"`
	} `json:"pricingPolicy"`
}

func (l lineShape) pricing(c money.Currency) *contract.Pricing {
	if l.Pricing == nil || len(l.Pricing.Cycles) == 0 {
		return nil
	}
	p := contract.Pricing{Base: l.Pricing.Base.in(c)}
	for _, s := range l.Pricing.Cycles {
		step := contract.CyclePrice{After: int(s.After), Kind: platform.Adjustment(strings.ToUpper(string(s.Kind))), Amount: s.Value.in(c), Computed: s.Computed.in(c)}
		step.Percent, _ = s.Value.Percentage.Float64()
		p.Cycles = append(p.Cycles, step)
	}
	return &p
}

type discountShape struct {
	ID         word         `json:"id"`
	Title      word         `json:"title"`
	Code       word         `json:"code"`
	Percentage id           `json:"percentage"`
	Amount     *amountShape `json:"amount"`
	EachItem   bool         `json:"appliesOnEachItem"`
	Limit      id           `json:"recurringCycleLimit"`
	Used       id           `json:"usageCount"`
	Rejected   word         `json:"rejectionReason"`
	Target     word         `json:"targetType"`
	Value      struct {
		Percentage id           `json:"percentage"`
		Amount     *amountShape `json:"amount"`
		EachItem   bool         `json:"appliesOnEachItem"`
	} `json:"value"`
	Entitled struct {
		All   bool            `json:"all"`
		Lines list[lineShape] `json:"lines"`
	} `json:"entitledLines"`
}

func (d discountShape) discount(c money.Currency) contract.Discount {
	out := contract.Discount{
		ID: string(d.ID), Title: string(d.Title), Code: string(d.Code), Percent: max(int(d.Percentage), int(d.Value.Percentage)), EachItem: d.EachItem || d.Value.EachItem,
		CycleLimit: int(d.Limit), UsedCycles: int(d.Used), RejectedWhy: string(d.Rejected), AllLines: d.Entitled.All,
		TargetIsOrder: strings.EqualFold(string(d.Target), "SHIPPING_LINE"),
	}
	for _, a := range []*amountShape{d.Amount, d.Value.Amount} {
		if a != nil && out.Amount.Currency == "" {
			out.Amount = a.in(c)
		}
	}
	if out.TargetIsOrder && out.Percent == 100 {
		out.FreeShipping = true
	}
	for _, l := range d.Entitled.Lines.nodes {
		out.Lines = append(out.Lines, string(l.ID))
	}
	return out
}

type methodShape struct {
	Kind     word `json:"kind"`
	Code     word `json:"serviceCode"`
	Title    word `json:"title"`
	Location word `json:"locationId"`
	Address  struct {
		FirstName    word `json:"firstName"`
		LastName     word `json:"lastName"`
		Company      word `json:"company"`
		Address1     word `json:"address1"`
		Address2     word `json:"address2"`
		City         word `json:"city"`
		Province     word `json:"province"`
		ProvinceCode word `json:"provinceCode"`
		Country      word `json:"country"`
		CountryCode  word `json:"countryCode"`
		Zip          word `json:"zip"`
		Phone        word `json:"phone"`
	} `json:"address"`
	More struct {
		Instructions word `json:"instructions"`
		Phone        word `json:"phone"`
	} `json:"additionalInformation"`
}

func (m *methodShape) method() contract.DeliveryMethod {
	if m == nil {
		return contract.DeliveryMethod{}
	}
	a := m.Address
	return contract.DeliveryMethod{
		Kind: string(m.Kind), Code: string(m.Code), Title: string(m.Title), Location: string(m.Location), Phone: string(m.More.Phone), Instructions: string(m.More.Instructions),
		Address: contract.Address{
			FirstName: string(a.FirstName), LastName: string(a.LastName), Company: string(a.Company), Address1: string(a.Address1), Address2: string(a.Address2), City: string(a.City),
			Province: string(a.Province), ProvinceCode: string(a.ProvinceCode), Country: string(a.Country), CountryCode: string(a.CountryCode), Zip: string(a.Zip), Phone: string(a.Phone),
		},
	}
}

// rowShape is a row of the contract search.
type rowShape struct {
	ID        id      `json:"subscriptionContractId"`
	Status    word    `json:"status"`
	Currency  word    `json:"currencyCode"`
	Orders    id      `json:"totalSuccessfulOrders"`
	Origin    id      `json:"orderId"`
	Min       id      `json:"minCycles"`
	Max       id      `json:"maxCycles"`
	Imported  word    `json:"importedId"`
	EndsOn    instant `json:"pendingCancellationDate"`
	PausedTo  instant `json:"pauseTillDate"`
	NextPaid  instant `json:"nextPaidBillingDate"` // also in a pause
	UpdatedAt instant `json:"updatedAt"`
	Next      instant `json:"nextBillingDate"`
}

// attemptShape is a billing attempt.
type attemptShape struct {
	ID       id      `json:"id"`
	Status   word    `json:"status"`
	Date     instant `json:"billingDate"`
	At       instant `json:"attemptTime"`
	Order    id      `json:"orderId"`
	Amount   word    `json:"orderAmount"`
	Note     word    `json:"orderNote"`
	Variants []struct {
		Variant  id `json:"variantId"`
		Quantity id `json:"quantity"`
	} `json:"variantList"`
}

func (a attemptShape) sold() []moving.Sold {
	var list []moving.Sold
	for _, v := range a.Variants {
		list = append(list, moving.Sold{Variant: int64(v.Variant), Quantity: int(v.Quantity)})
	}
	return moving.Sum(list)
}

func (a attemptShape) past(c money.Currency, cal cadence.Calendar) moving.Past {
	at := a.At.in(cal)
	if at.IsZero() {
		at = a.Date.in(cal)
	}
	return moving.Past{
		ID: int64(a.ID), Status: strings.ToUpper(string(a.Status)), Date: a.Date.in(cal), At: at, Order: int64(a.Order), Amount: amountOf(a.Amount, c, c), Lines: a.sold(),
	}
}

// oneOffShape is a one-time product.
type oneOffShape struct {
	Attempt  id   `json:"billingAttemptId"`
	Variant  id   `json:"variantId"`
	Quantity id   `json:"quantity"`
	Price    word `json:"price"`
}

// more reports whether an order has something that the contract's lines do not.
func more(sold, lines []moving.Sold) bool {
	return slices.ContainsFunc(sold, func(s moving.Sold) bool { return !slices.Contains(lines, s) })
}
