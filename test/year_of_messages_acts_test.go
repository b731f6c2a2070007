package test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// change does something to a contract and expects that it is confirmed after ten minutes.
func (y *year) change(r *reader, kind string) {
	c, queue := fmt.Sprintf("contractId=%d", r.id), y.plan(r)
	switch kind {
	case "order_skipped":
		y.ask(r, "PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d?subscriptionContractId=%d", queue[0].ID, r.id), nil, nil)
		r.events["billing-skipped"]++
	case "next_date":
		day := queue[0].BillingDate.AddDate(0, 0, 4).Format(time.DateOnly)
		y.ask(r, "PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s", queue[0].ID, day), nil, nil)
	case "paused":
		y.ask(r, "PUT", "/subscription-contracts-update-status?status=PAUSED&"+c, nil, nil)
		r.paused = 3
		r.events["paused"]++
	case "resumed":
		y.ask(r, "PUT", "/subscription-contracts-update-status?status=ACTIVE&"+c, nil, nil)
		r.events["activated"]++
	case "address":
		y.ask(r, "PUT", "/subscription-contracts-update-shipping-address?"+c, map[string]any{
			"firstName": "Ana", "lastName": "Silva", "address1": fmt.Sprintf("%d Mill Lane", y.chance.IntN(900)+1), "city": "Ottawa", "provinceCode": "ON", "countryCode": "CA", "zip": "K1A 0B1", "methodType": "SHIPPING",
		}, nil)
	case "product_added":
		var o object
		y.ask(r, "PUT", fmt.Sprintf("/subscription-contracts-add-line-item?%s&variantId=%d&quantity=1", c, y.variants()[1]), nil, &o)
		r.added = o.Lines.Nodes[len(o.Lines.Nodes)-1].ID
	case "product_removed":
		y.ask(r, "PUT", fmt.Sprintf("/subscription-contracts-remove-line-item?%s&lineId=%s", c, url.QueryEscape(r.added)), nil, nil)
		r.added = ""
	case "price_updated":
		var o object
		y.ask(r, "GET", fmt.Sprintf("/subscription-contracts/%d", r.id), nil, &o)
		y.ask(r, "PUT", fmt.Sprintf("/subscription-contracts-update-line-item-price?%s&lineId=%s&basePrice=%d", c, url.QueryEscape(o.Lines.Nodes[0].ID), 10+y.chance.IntN(80)), nil, nil)
	case "product_replaced":
		var o object
		y.ask(r, "GET", fmt.Sprintf("/subscription-contracts/%d", r.id), nil, &o)
		old, err := strconv.ParseInt(number(o.Lines.Nodes[0].VariantID), 10, 64)
		if err != nil {
			y.t.Fatal(err)
		}
		sold := y.variants()
		fresh := sold[4+slices.Index(sold, old)%2]
		y.ask(r, "POST", "/subscription-contract-details/replace-variants-v3", map[string]any{
			"shop": "demo.myshopify.com", "contractId": r.id, "oldVariants": []int64{old}, "newVariants": map[string]int{fmt.Sprint(fresh): 1},
		}, nil)
		r.added = "" // lines may have become one
	case "frequency":
		y.ask(r, "PUT", "/subscription-contracts-update-billing-interval?interval=WEEK&intervalCount=2&"+c, nil, nil)
		r.every = "WEEK"
	}
	if kind != "order_skipped" || !y.silent {
		y.expect(r, kind, y.now.Add(10*time.Minute))
	}
}

// decline orders the next charge of a contract to fail, and expects the messages about it.
func (y *year) decline(r *reader, code string) {
	due := y.plan(r)[0].BillingDate
	kind, days := "transaction_failed", []int{0}
	switch code {
	case "AUTHENTICATION_REQUIRED":
		kind, days = "security_challenge", []int{0, 2}
	case "INSUFFICIENT_INVENTORY":
		kind = "out_of_stock"
	}
	y.call("POST", "/platform/outcomes", map[string]any{"contractId": r.id, "code": code}, nil)
	for _, day := range days {
		y.expect(r, kind, due.AddDate(0, 0, day))
	}
	if kind == "security_challenge" {
		y.expect(r, "suspension_warning", due.AddDate(0, 0, 5)) // it is tried once more, on day 7
	}
	r.quiet = due.AddDate(0, 0, 12)
}

// suspend expects what becomes of a contract whose payment method cannot be charged.
func (y *year) suspend(r *reader, due time.Time) {
	r.cardless = true
	for _, day := range []int{0, 3, 7} {
		y.expect(r, "transaction_failed", due.AddDate(0, 0, day))
	}
	y.expect(r, "suspension_warning", due.AddDate(0, 0, 12))
	y.expect(r, "suspension", due.AddDate(0, 0, 14))
	r.events["paused"]++
	r.quiet = due.AddDate(2, 0, 0) // it is not touched again
}

func (y *year) card(r *reader, in map[string]any) {
	var o object
	y.ask(r, "GET", fmt.Sprintf("/subscription-contracts/%d", r.id), nil, &o)
	y.call("POST", "/platform/payment-methods/"+url.PathEscape(o.CustomerPaymentMethod.ID), in, nil)
}

// act does one thing to a contract, or two.
func (y *year) act(r *reader) {
	if r.paused > 0 {
		if r.paused--; r.paused == 0 {
			y.change(r, "resumed")
		}
		return
	}
	if r.ended || r.cardless || y.now.Before(r.quiet) || y.chance.IntN(3) > 0 {
		return
	}
	switch n := y.chance.IntN(20); {
	case n < 3:
		y.change(r, "order_skipped")
	case n < 6:
		y.change(r, "next_date")
	case n < 8:
		y.change(r, "paused")
	case n < 10 && r.added == "":
		y.change(r, "product_added")
	case n < 10:
		y.change(r, "product_removed")
	case n < 11:
		y.change(r, "price_updated")
	case n < 12 && r.every == "MONTH" && y.chance.IntN(2) == 0:
		y.change(r, "frequency")
	case n < 12:
		y.change(r, "product_replaced")
	case n < 14: // two changes are one message
		y.change(r, "address")
		was := len(y.want[addressed{"mail", "product_added", r.email}])
		if r.added == "" {
			y.change(r, "product_added")
			y.want[addressed{"mail", "product_added", r.email}] = y.want[addressed{"mail", "product_added", r.email}][:was]
		}
	case n < 15: // a contract that has ended gets no message but that
		y.ask(r, "DELETE", fmt.Sprintf("/subscription-contracts/%d", r.id), nil, nil)
		y.expect(r, "canceled", y.now)
		r.events["cancelled"]++
		r.ended = true
	case r.every != "MONTH":
	case n < 17:
		y.decline(r, "INSUFFICIENT_FUNDS")
	case n < 18:
		y.decline(r, "INSUFFICIENT_INVENTORY")
	case n < 19:
		y.decline(r, "AUTHENTICATION_REQUIRED")
	default:
		y.card(r, map[string]any{"status": "expired"})
		for _, of := range y.readers { // the customer pays for all contracts by it
			if of.customer == r.customer {
				y.suspend(of, y.plan(of)[0].BillingDate)
			}
		}
	}
}

// subscribes lets a customer subscribe and expects the confirmation.
func (y *year) subscribes(name, phone string) *reader {
	r := &reader{
		email: name + "@shopper.example", phone: phone, every: "MONTH", scripted: true, events: map[string]int{"created": 1},
		id: y.checkout(map[string]any{"customer": map[string]any{"email": name + "@shopper.example", "firstName": strings.ToUpper(name[:1]) + name[1:], "lastName": "Silva"}, "nextBillingDate": y.now.AddDate(0, 0, 4+y.chance.IntN(25)).Truncate(time.Hour)}),
	}
	y.expect(r, "subscription_created", y.now)
	r.customer = y.customerOf(r.id)
	y.readers = append(y.readers, r)
	return r
}

// agree lets a customer agree to SMS.
func (y *year) agree(r *reader, phone string) {
	r.phone = phone
	y.visit(r.customer).want(http.StatusOK, "PUT", "/preferences", map[string]any{"sms": map[string]any{"agreed": true, "phone": phone}}, nil)
}
