package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

type newLine struct {
	Variant    string               `json:"variantId"`
	Quantity   int                  `json:"quantity"`
	Plan       string               `json:"sellingPlanId,omitempty"`
	Price      float64              `json:"currentPrice"`
	Attributes []contract.Attribute `json:"customAttributes,omitempty"`
	Pricing    []newStep            `json:"pricingPolicy,omitempty"`
}

type newStep struct {
	After int     `json:"afterCycle"`
	Kind  string  `json:"discountType"`
	Value float64 `json:"value"`
}

type newContract struct {
	Customer      string               `json:"customerId"`
	Next          string               `json:"nextBillingDate"`
	Status        string               `json:"status"`
	Billing       string               `json:"billingIntervalType"`
	BillingCount  int                  `json:"billingIntervalCount"`
	Delivery      string               `json:"deliveryIntervalType"`
	DeliveryCount int                  `json:"deliveryIntervalCount"`
	Min           int                  `json:"minCycles,omitempty"`
	Max           int                  `json:"maxCycles,omitempty"`
	Payment       string               `json:"paymentMethodId,omitempty"`
	DeliveryPrice float64              `json:"deliveryPriceAmount"`
	ImportedID    string               `json:"importedId"`
	Note          string               `json:"orderNote,omitempty"`
	Attributes    []contract.Attribute `json:"customAttributes,omitempty"`
	Lines         []newLine            `json:"lines"`

	FirstName string `json:"deliveryFirstName,omitempty"`
	LastName  string `json:"deliveryLastName,omitempty"`
	Company   string `json:"deliveryCompany,omitempty"`
	Address1  string `json:"deliveryAddress1,omitempty"`
	Address2  string `json:"deliveryAddress2,omitempty"`
	City      string `json:"deliveryCity,omitempty"`
	Province  string `json:"deliveryProvinceCode,omitempty"`
	Country   string `json:"deliveryCountryCode,omitempty"`
	Zip       string `json:"deliveryZip,omitempty"`
	Phone     string `json:"deliveryPhone,omitempty"`
}

// body returns what is sent to create a contract, paused.
func body(c moving.Contract, now time.Time) newContract {
	least, most := c.Left()
	next := c.Next
	if soon := now.Add(soonest); next.Before(soon) {
		next = soon
	}
	a := c.Method.Address
	n := newContract{
		Customer: strconv.FormatInt(c.Customer.ID, 10), Next: next.UTC().Format(time.RFC3339), Status: string(contract.Paused),
		Billing: c.Billing.Interval.String(), BillingCount: c.Billing.Count, Delivery: c.Delivery.Interval.String(), DeliveryCount: c.Delivery.Count,
		Min: least, Max: most, Payment: c.PaymentMethod, DeliveryPrice: c.DeliveryPrice.Float(), ImportedID: c.ImportedID, Note: c.Note, Attributes: c.Attributes,
		FirstName: a.FirstName, LastName: a.LastName, Company: a.Company, Address1: a.Address1, Address2: a.Address2, City: a.City, Province: a.ProvinceCode, Country: a.CountryCode, Zip: a.Zip, Phone: a.Phone,
	}
	for _, l := range c.Lines {
		line := newLine{Variant: strconv.FormatInt(l.Variant, 10), Quantity: l.Quantity, Price: l.NextPrice(c.CyclesDone).Float(), Attributes: l.Attributes}
		if l.Plan != 0 {
			line.Plan = strconv.FormatInt(l.Plan, 10)
		}
		if rest := l.Rest(c.CyclesDone); rest != nil {
			for _, s := range rest.Cycles {
				line.Pricing = append(line.Pricing, step(s))
			}
		}
		n.Lines = append(n.Lines, line)
	}
	return n
}

// step returns a change of a price as the price that results: the base price stays behind.
func step(s contract.CyclePrice) newStep {
	return newStep{After: s.After, Kind: string(platform.FixedPrice), Value: s.Computed.Float()}
}

// Create creates a contract, paused, unless the service has one that came from it under the same
// key or, where it knows no keys, from the same contract.
func (e *End) Create(ctx context.Context, _ shop.Shop, c moving.Contract, key string) (int64, error) {
	made, err := e.arrived(ctx, c)
	if err != nil {
		return 0, about(err, "look for contract %s at the other service", c.ImportedID)
	}
	if made == 0 {
		if made, err = e.create(ctx, c, key); err != nil {
			return 0, err
		}
	}
	return made, about(e.discount(ctx, c, made, key), "add discounts to contract %d", made)
}

// create creates a contract, or returns the one that was created under the key.
func (e *End) create(ctx context.Context, c moving.Contract, key string) (int64, error) {
	var made contractShape
	now := e.services.clock.Now()
	_, err := e.send(ctx, call{method: http.MethodPost, path: "/subscription-contract-details/create-subscription-contract", line: c.Line, body: body(c, now), key: key}, &made)
	if err == nil && made.ID == 0 {
		err = fault.New(fault.Unavailable, "the other service did not say which contract it created").Entity("move").Code(fault.InDoubt)
	}
	return int64(made.ID), about(err, "create a contract at the other service")
}

// arrived returns the live contract at the service that came from a contract of ours; 0: there is none.
func (e *End) arrived(ctx context.Context, c moving.Contract) (int64, error) {
	var rows []rowShape
	_, err := e.send(ctx, call{method: http.MethodGet, path: fmt.Sprintf("/subscription-customers-detail/valid/%d", c.Customer.ID), line: c.Line}, &rows)
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	for _, r := range rows {
		if string(r.Imported) == c.ImportedID && !strings.EqualFold(string(r.Status), string(contract.Cancelled)) {
			return int64(r.ID), err
		}
	}
	return 0, err
}

// discount adds the discounts that a contract does not have yet, in their order. Each addition has a key of its own, so
// that one without an answer that is carried out late does not add a second discount.
func (e *End) discount(ctx context.Context, c moving.Contract, number int64, key string) error {
	if len(c.Discounts) == 0 {
		return nil
	}
	var is contractShape
	if _, err := e.send(ctx, call{method: http.MethodGet, path: fmt.Sprintf("/subscription-contracts/contract-external/%d", number), line: c.Line}, &is); err != nil {
		return err
	}
	var has []string
	for _, d := range is.Discounts.nodes {
		has = append(has, string(d.Title))
	}
	for n, d := range c.Discounts {
		if bundle.IsDiscount(d.Title) || d.FreeShipping || d.RejectedWhy != "" || d.CycleLimit > 0 && d.UsedCycles >= d.CycleLimit || d.TargetIsOrder {
			continue
		}
		title := cmp.Or(d.Title, d.Code)
		if at := slices.Index(has, title); at >= 0 { // a contract may have several of one title
			has = slices.Delete(has, at, at+1)
			continue
		}
		add := call{
			method: http.MethodPut, path: "/subscription-contracts-add-discount", line: c.Line, query: discountQuery(number, title, d), key: fmt.Sprintf("%s-discount-%d", key, n+1),
		}
		if _, err := e.send(ctx, add, nil); err != nil {
			return inUse(err)
		}
	}
	return nil
}

// inUse turns the answer that a request with the key has begun and not ended into a refusal. Where that request was
// broken off, the answer stays: the contract is given back, and its next creation has other keys.
func inUse(err error) error {
	if f, is := errors.AsType[*fault.Error](err); is && f.ErrorKey == keyInUse {
		return fault.Because(fault.FailedPrecondition, err, "whether the discount was added is not known").Entity("move").Code(keyInUse)
	}
	return err
}

// keyInUse is the error key of a request whose key belongs to one that has not ended.
const keyInUse = "idempotencyKeyInUse"

// discountQuery is a discount in the words of the interface, for the orders that are left of it.
func discountQuery(number int64, title string, d contract.Discount) url.Values {
	q := of(number, "discountTitle", title, "appliesOnEachItem", strconv.FormatBool(d.EachItem))
	if d.Percent > 0 {
		q.Set("percentage", strconv.Itoa(d.Percent))
	} else {
		q.Set("amount", d.Amount.String())
	}
	if d.CycleLimit > 0 {
		q.Set("recurringCycleLimit", strconv.Itoa(d.CycleLimit-d.UsedCycles))
	}
	return q
}

// adjust makes the upcoming orders of a contract what they were. One that is not on its date any more
// was adjusted before.
func (e *End) adjust(ctx context.Context, line shop.Line, number int64, edits []moving.Edit) error {
	if len(edits) == 0 {
		return nil
	}
	var orders []attemptShape
	var errs []error
	for n, d := range edits {
		if n == 0 || edits[n-1].Restart { // later orders have other dates now
			orders = nil
			query := of(number, "size", ordersAtOnce)
			if _, err := e.send(ctx, call{method: http.MethodGet, path: "/subscription-billing-attempts/top-orders", line: line, query: query}, &orders); err != nil {
				return err
			}
		}
		at := slices.IndexFunc(orders, func(o attemptShape) bool { return o.Date.Sub(d.Date).Abs() < 12*time.Hour })
		if at >= 0 {
			errs = append(errs, e.edit(ctx, line, number, orders[at], d))
		}
	}
	return errors.Join(errs...)
}

// edit makes one order what it was.
func (e *End) edit(ctx context.Context, line shop.Line, number int64, o attemptShape, d moving.Edit) error {
	id := strconv.FormatInt(int64(o.ID), 10)
	put := func(path string, q url.Values) error {
		_, err := e.send(ctx, call{method: http.MethodPut, path: path, line: line, query: q}, nil)
		return err
	}
	if d.Skip {
		return put("/subscription-billing-attempts/skip-order/"+id, url.Values{"subscriptionContractId": {strconv.FormatInt(number, 10)}})
	}
	if !d.MoveTo.IsZero() {
		if err := put("/subscription-billing-attempts/reschedule-order/"+id, url.Values{"billingDate": {d.MoveTo.UTC().Format(time.RFC3339)}, "rescheduleFutureOrder": {strconv.FormatBool(d.Restart)}}); err != nil {
			return err
		}
	}
	for _, p := range d.OneOffs {
		q := of(number, "billingAttemptId", id, "variantId", strconv.FormatInt(p.Variant, 10), "quantity", strconv.Itoa(p.Quantity))
		if err := put("/subscription-contract-one-offs-by-contractId-and-billing-attempt-id", q); err != nil {
			return err
		}
	}
	return nil
}
