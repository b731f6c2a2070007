package peer

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const (
	// pageSize is how many contracts a page lists; the interface allows 2000.
	pageSize = 500
	// ordersAtOnce is how many orders of a contract are read.
	ordersAtOnce = "20"
)

// List returns a page of the contracts, by their numbers.
func (e *End) List(ctx context.Context, _ shop.Shop, q moving.Query) (moving.Page, error) {
	query := url.Values{"page": {strconv.Itoa(q.Page)}, "size": {strconv.Itoa(pageSize)}, "sort": {"id,asc"}}
	if !q.Since.IsZero() {
		query.Set("fromUpdatedDate", q.Since.UTC().Format(time.RFC3339))
	}
	var rows []rowShape
	header, err := e.send(ctx, call{method: http.MethodGet, path: "/subscription-contract-details", line: q.Line, query: query}, &rows)
	if err != nil {
		return moving.Page{}, about(err, "list contracts")
	}
	page := moving.Page{More: len(rows) >= pageSize}
	page.Total, _ = strconv.Atoi(header.Get("X-Total-Count")) // a service that does not say says 0
	for _, r := range rows {
		if r.ID > 0 {
			page.Found = append(page.Found, int64(r.ID))
		}
	}
	return page, nil
}

// Contract returns a contract as it is now, or NotFound.
func (e *End) Contract(ctx context.Context, of shop.Shop, line shop.Line, number int64) (moving.Contract, error) {
	c, err := e.contract(ctx, of, line, number)
	return c, about(err, "read contract %d", number)
}

func (e *End) contract(ctx context.Context, of shop.Shop, line shop.Line, number int64) (moving.Contract, error) {
	var is contractShape
	path := fmt.Sprintf("/subscription-contracts/contract-external/%d", number)
	if _, err := e.send(ctx, call{method: http.MethodGet, path: path, line: line}, &is); err != nil {
		return moving.Contract{}, err
	}
	if int64(is.ID) != number {
		return moving.Contract{}, fault.New(fault.Unavailable, "the other service answered with contract %d when it was asked for %d", is.ID, number).Entity("move").Code("otherContract")
	}
	row, err := e.row(ctx, line, number)
	if fault.Is(err, fault.NotFound) { // it is there
		return moving.Contract{}, fault.Because(fault.Unavailable, err, "the search of the other service does not find contract %d", number).Entity("move").Code("contractNotListed")
	}
	if err != nil {
		return moving.Contract{}, err
	}
	cal, err := of.Calendar()
	if err != nil {
		return moving.Contract{}, err
	}
	c := is.contract(row, of.Currency, cal)
	c.Line = line
	if c.Live() {
		if err := e.orders(ctx, line, &c, cal); err != nil {
			return moving.Contract{}, err
		}
		if c.MaxCycles > 0 || slices.ContainsFunc(c.Lines, func(l moving.Line) bool { return l.Pricing != nil }) {
			if err := e.cyclesDone(ctx, line, &c); err != nil {
				return moving.Contract{}, err
			}
		}
	}
	return c, nil
}

// cyclesDone reads how many of the contract's cycles have passed. Of a service that does not say it, all
// orders count, so that none is charged beyond the limit.
func (e *End) cyclesDone(ctx context.Context, line shop.Line, c *moving.Contract) error {
	var next id
	_, err := e.send(ctx, call{method: http.MethodGet, path: fmt.Sprintf("/subscription-contract-details/current-cycle/%d", c.ID), line: line}, &next)
	if err != nil && !fault.Is(err, fault.NotFound) && !lacks(err) {
		return err
	}
	if c.CyclesDone = int(next) - 1; next < 1 {
		c.CyclesDone = c.Orders
	}
	return nil
}

// row returns what only the search says of a contract.
func (e *End) row(ctx context.Context, line shop.Line, number int64) (rowShape, error) {
	var rows []rowShape
	query := url.Values{"subscriptionContractId": {strconv.FormatInt(number, 10)}, "size": {"50"}, "sort": {"id,asc"}}
	if _, err := e.send(ctx, call{method: http.MethodGet, path: "/subscription-contract-details", line: line, query: query}, &rows); err != nil {
		return rowShape{}, err
	}
	at := slices.IndexFunc(rows, func(r rowShape) bool { return int64(r.ID) == number }) // the search looks for parts of numbers
	if at < 0 {
		return rowShape{}, fault.New(fault.NotFound, "the search of the other service does not find contract %d", number).Entity("move").Code("contractNotListed")
	}
	return rows[at], nil
}

// contract returns a contract without its orders.
func (s contractShape) contract(row rowShape, other money.Currency, cal cadence.Calendar) moving.Contract {
	currency := money.Currency(strings.ToUpper(string(row.Currency)))
	if currency == "" {
		currency = other
	}
	c := moving.Contract{
		ID: int64(s.ID), Status: contract.Status(strings.ToUpper(string(s.Status))), Currency: currency,
		Customer: contract.Customer{
			ID: int64(s.Customer.ID), Email: string(s.Customer.Email), FirstName: string(s.Customer.First), LastName: string(s.Customer.Last), Name: string(s.Customer.Name), Phone: string(s.Customer.Phone),
		},
		Billing: s.Billing.policy(), Delivery: s.Delivery.policy(), MinCycles: max(int(s.Billing.MinCycles), int(row.Min)), MaxCycles: max(int(s.Billing.MaxCycles), int(row.Max)),
		Orders: int(row.Orders), DeliveryPrice: s.DeliveryPrice.in(currency), Method: s.Method.method(), Note: string(s.Note), Attributes: attributes(s.Attributes),
		Next: s.Next.in(cal), EndsAt: row.EndsOn.in(cal), PausedTo: row.PausedTo.in(cal), CreatedAt: s.CreatedAt.Time, UpdatedAt: s.UpdatedAt.Time, ImportedID: string(row.Imported),
	}
	if row.Origin > 0 {
		c.Orders++
	}
	if c.Status == contract.Paused && c.Next.IsZero() {
		c.Next = row.NextPaid.in(cal)
	}
	if s.DeliveryPrice.Amount == "" {
		c.DeliveryPrice.Currency = currency
	}
	if s.Payment != nil && s.Payment.Revoked.IsZero() {
		c.PaymentMethod = string(s.Payment.ID)
	}
	for _, l := range s.Lines.nodes {
		if l.OneTime == "true" {
			continue
		}
		c.Lines = append(c.Lines, moving.Line{
			ID: string(l.ID), Variant: int64(l.Variant), Product: int64(l.Product), Title: string(l.Title), Quantity: int(l.Quantity), Price: l.Price.in(currency),
			Plan: int64(l.Plan), PlanName: string(l.PlanName), Attributes: attributes(l.Attributes), Pricing: l.pricing(currency),
		})
	}
	for _, d := range s.Discounts.nodes {
		c.Discounts = append(c.Discounts, d.discount(currency))
	}
	return c
}

// orders reads the orders of a contract, those to come and the last ones of the past.
func (e *End) orders(ctx context.Context, line shop.Line, c *moving.Contract, cal cadence.Calendar) error {
	query := of(c.ID, "size", ordersAtOnce, "page", "0")
	var coming, past []attemptShape
	for _, part := range []struct {
		path string
		into *[]attemptShape
	}{{"top-orders", &coming}, {"past-orders", &past}} {
		if _, err := e.send(ctx, call{method: http.MethodGet, path: "/subscription-billing-attempts/" + part.path, line: line, query: query}, part.into); err != nil {
			return err
		}
	}
	lines := c.Sold()
	extra := false
	for _, a := range coming {
		if strings.EqualFold(string(a.Status), moving.Skipped) {
			continue
		}
		if a.Date.IsZero() { // left out, it would be taken for one that is skipped
			return fault.New(fault.Unavailable, "the date of order %d to come of contract %d cannot be read", a.ID, c.ID).Entity("move").Code("dateUnreadable")
		}
		c.Upcoming = append(c.Upcoming, moving.Upcoming{ID: int64(a.ID), Date: a.Date.in(cal), Note: string(a.Note), Amount: amountOf(a.Amount, c.Currency, c.Currency)})
		extra = extra || more(a.sold(), lines)
	}
	slices.SortFunc(c.Upcoming, func(a, b moving.Upcoming) int { return a.Date.Compare(b.Date) })
	if len(c.Upcoming) > 0 {
		c.Next = c.Upcoming[0].Date
	}
	for _, a := range past {
		c.Past = append(c.Past, a.past(c.Currency, cal))
	}
	slices.SortStableFunc(c.Past, func(a, b moving.Past) int { return b.Date.Compare(a.Date) })
	if !extra {
		return nil
	}
	return e.oneOffs(ctx, line, c)
}

// oneOffs reads the one-time products of orders to come.
func (e *End) oneOffs(ctx context.Context, line shop.Line, c *moving.Contract) error {
	var list []oneOffShape
	if _, err := e.send(ctx, call{method: http.MethodGet, path: "/upcoming-subscription-contract-one-offs-by-contractId", line: line, query: of(c.ID)}, &list); err != nil {
		return err
	}
	for _, o := range list {
		at := slices.IndexFunc(c.Upcoming, func(u moving.Upcoming) bool { return u.ID == int64(o.Attempt) })
		if at >= 0 {
			u := &c.Upcoming[at]
			u.OneOffs = append(u.OneOffs, moving.OneOff{Variant: int64(o.Variant), Quantity: max(1, int(o.Quantity)), Price: amountOf(o.Price, c.Currency, c.Currency)})
		}
	}
	return nil
}
