package prove

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// termsPlan has the terms of a contract that change the cost of its orders with time.
type termsPlan struct {
	Codes  []discountPlan // that the buyer enters at the checkout
	ByHand []discountPlan // that the merchant adds after it
	Steps  [][]stepPlan   // of each line; none: its price stays
}

// discountPlan is a percentage or an amount off all lines.
type discountPlan struct {
	Title    string
	Percent  int
	Amount   money.Amount
	EachItem bool
	Orders   int // that get it; 0: all
}

// stepPlan is a price from the cycle after some cycles on.
type stepPlan struct {
	After   int
	Percent int // off the price before all steps, or
	Price   money.Amount
}

// terms draws what a contract costs with time. Numbers of orders are small, so that discounts and
// steps end between two moves and while a contract is between the services.
func (d drawer) terms(deal dealPlan, s shopPlan) (t termsPlan) {
	if d.chance(0.3) {
		t.Codes = append(t.Codes, d.discount(fmt.Sprintf("CODE-%s", deal.Spec.Customer.Email), s))
	}
	for n := range pick(d, []int{0, 0, 1, 1, 2}) {
		t.ByHand = append(t.ByHand, d.discount(pick(d, []string{"Hello", fmt.Sprintf("Offer %d", n)}), s))
	}
	lines := 1
	if deal.Second {
		lines = 2
	}
	for range lines {
		t.Steps = append(t.Steps, d.steps(s))
	}
	return t
}

func (d drawer) discount(title string, s shopPlan) discountPlan {
	p := discountPlan{Title: title, Orders: pick(d, []int{0, 1 + d.IntN(4), 3 + d.IntN(10)})}
	if d.chance(0.5) {
		p.Percent = 1 + d.IntN(60)
		return p
	}
	p.Amount, p.EachItem = money.Amount{Minor: 1 + d.Int64N(3000), Currency: s.Currency}, d.chance(0.5)
	return p
}

// steps draws up to two changes of a price.
func (d drawer) steps(s shopPlan) (list []stepPlan) {
	if d.chance(0.5) {
		return nil
	}
	after := 1 + d.IntN(5)
	for range 1 + d.IntN(2) {
		step := stepPlan{After: after, Percent: 1 + d.IntN(80)}
		if d.chance(0.3) {
			step.Percent, step.Price = 0, money.Amount{Minor: 1 + d.Int64N(100_000), Currency: s.Currency}
		}
		list = append(list, step)
		after += 1 + d.IntN(8)
	}
	return list
}

// codes makes the codes that a buyer enters, and returns their names.
func (t termsPlan) codes(sim *simulator.Simulator, domain string) (names []string, err error) {
	for _, c := range t.Codes {
		spec := simulator.CodeSpec{Shop: domain, Code: c.Title, Percent: c.Percent, EachItem: c.EachItem, CycleLimit: c.Orders}
		if c.Percent == 0 {
			spec.Amount = c.Amount.String()
		}
		if err := sim.AddCode(spec); err != nil {
			return nil, fmt.Errorf("make the code %s: %w", c.Title, err)
		}
		names = append(names, c.Title)
	}
	return names, nil
}

// agree has the merchants of the first service set the terms of the contracts that buyers have made.
func (r *pair) agree() error {
	for _, id := range sorted(r.byContract) {
		s := r.byContract[id]
		for _, d := range s.plan.Terms.ByHand {
			if err := r.sides[0].put(s.shop, "subscription-contracts-add-discount", d.query(id), nil); err != nil {
				return err
			}
		}
		is, err := r.sim.Contract(id)
		if err != nil {
			return err
		}
		for n, steps := range s.plan.Terms.Steps {
			if len(steps) == 0 {
				continue
			}
			q := url.Values{"contractId": {strconv.FormatInt(id, 10)}, "lineId": {is.Lines[n].ID}}
			if err := r.sides[0].put(s.shop, "subscription-contracts-update-line-item-pricing-policy", q, steps); err != nil {
				return err
			}
		}
	}
	return nil
}

// query is a discount in the words of the interface.
func (d discountPlan) query(contract int64) url.Values {
	q := url.Values{"contractId": {strconv.FormatInt(contract, 10)}, "discountTitle": {d.Title}, "appliesOnEachItem": {strconv.FormatBool(d.EachItem)}}
	if d.Percent > 0 {
		q.Set("percentage", strconv.Itoa(d.Percent))
	} else {
		q.Set("amount", d.Amount.String())
	}
	if d.Orders > 0 {
		q.Set("recurringCycleLimit", strconv.Itoa(d.Orders))
	}
	return q
}

// MarshalJSON writes a step in the words of the interface.
func (s stepPlan) MarshalJSON() ([]byte, error) {
	step := struct {
		After int         `json:"afterCycle"`
		Kind  string      `json:"discountType"`
		Value json.Number `json:"value"`
	}{s.After, "PRICE", json.Number(s.Price.String())}
	if s.Percent > 0 {
		step.Kind, step.Value = "PERCENTAGE", json.Number(strconv.Itoa(s.Percent))
	}
	return json.Marshal(step)
}

// put changes something through the interface of a service, before anything can fail.
func (w *world) put(s *merchant, path string, query url.Values, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPut, w.public+"/api/external/v2/"+path+"?"+query.Encode(), bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("X-API-Key", keyOf(s.plan.Domain))
	out := recorder{header: make(http.Header)}
	w.nodes[0].app.Subscriptions.ServeHTTP(&out, r)
	if out.status != http.StatusOK {
		return fmt.Errorf("%s %s: %d %s", path, query.Encode(), out.status, out.body.String())
	}
	return nil
}

// sale returns what a contract was sold at, in the oracle's terms.
func (r *pair) sale(d dealPlan) oracle.Sale {
	s := r.plan.Shops[d.Shop]
	units := func(price string) int64 { return off(price, s.Currency, 0).Minor }
	var sale oracle.Sale
	if d.Spec.DeliveryPrice != "" {
		sale.Delivery = units(d.Spec.DeliveryPrice)
	}
	if r.plan.Switches.OriginOrderBillsFirstCycle {
		sale.Paid = 1
	}
	for n := range d.Terms.Steps {
		goods := oracle.Goods{Price: units(s.Prices[(d.Variant+n)%len(s.Prices)]), Quantity: 1}
		if n == 0 {
			goods.Quantity = int64(d.Spec.Lines[0].Quantity)
		}
		for _, step := range d.Terms.Steps[n] {
			goods.Steps = append(goods.Steps, oracle.Step{After: step.After, Percent: int64(step.Percent), Price: step.Price.Minor})
		}
		sale.Lines = append(sale.Lines, goods)
	}
	for from, list := range [][]discountPlan{d.Terms.Codes, d.Terms.ByHand} {
		for _, p := range list {
			sale.Discounts = append(sale.Discounts, oracle.Discount{Percent: int64(p.Percent), Amount: p.Amount.Minor, EachItem: p.EachItem, Orders: p.Orders, From: 1 + from})
		}
	}
	return sale
}
