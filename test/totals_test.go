package test

import (
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// screen opens a page of the portal at the store's domain, or sends a form of a page to it: the form's
// unseen fields, and names and values in turn.
func (p *shopper) screen(path, page string, fields ...string) (status int, text string) {
	p.t.Helper()
	method, form := http.MethodGet, url.Values{}
	if page != "" {
		method = http.MethodPost
		for _, f := range regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			form.Set(f[1], html.UnescapeString(f[2]))
		}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.urls.Storefront+"/apps/subscriptions/cp"+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Cookie", p.cookie)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return r.StatusCode, html.UnescapeString(string(body))
}

// agrees sends a form that the portal first answers with what the order will cost, sends it again, and
// returns that cost in minor units.
func (p *shopper) agrees(path string, fields ...string) string {
	p.t.Helper()
	_, page := p.screen(path, "")
	status, page := p.screen(path, page, fields...)
	total := regexp.MustCompile(`name="total" value="(\d+)"`).FindStringSubmatch(page)
	if status != http.StatusUnprocessableEntity || total == nil {
		p.t.Fatalf("%s answered %d without a total:\n%s", path, status, page)
	}
	if status, page = p.screen(path, page, fields...); status != http.StatusOK || strings.Contains(page, `name="total"`) {
		p.t.Fatalf("%s answered %d to the total %s:\n%s", path, status, total[1], page)
	}
	return total[1]
}

// The total that portal and dashboard show before a quantity is changed or a product is added is what the
// platform charges.
func TestTotalShownBeforeChangeIsCharged(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	ana := s.visit(s.payer(s.id))
	_, page := ana.screen(fmt.Sprintf("/s/%d", s.id), "")
	line := regexp.MustCompile(`/quantity\?line=([^"]+)"`).FindStringSubmatch(page)
	if line == nil {
		t.Fatalf("no quantity can be changed:\n%s", page)
	}
	var shown []string
	more := ana.agrees(fmt.Sprintf("/s/%d/quantity?line=%s", s.id, line[1]), "quantity", "3")
	first := fmt.Sprintf("/s/%d/orders/%d", s.id, s.upcoming()[0].ID)
	once := ana.agrees(fmt.Sprintf("%s/add?variant=%d", first, s.articles()[1].VariantID), "quantity", "2")
	shown = append(shown, once)
	if more == once {
		t.Errorf("the order costs %s with the product and without it", once)
	}
	s.pass("P12D")

	user, at := s.merchant()
	at += fmt.Sprintf("/contracts/%d/do/", s.id)
	agrees := func(action string, fields ...string) string {
		t.Helper()
		page := user.page(at + action)
		path, _, _ := strings.Cut(action, "?")
		for _, name := range []string{"of", "seen"} {
			fields = append(fields, name, html.UnescapeString(user.hidden(page, name)))
		}
		_, page = user.form(at+path, append(fields, "do", "count")...)
		total := user.hidden(page, "total")
		if _, page = user.form(at+path, append(fields, "total", total)...); strings.Contains(page, "data-question") {
			t.Fatalf("%s was not done:\n%s", action, page)
		}
		return total
	}
	agrees("line?of="+url.QueryEscape("gid://shopify/SubscriptionLine/"+line[1]), "quantity", "5", "price", "11.10")
	shown = append(shown, agrees("add-one-time", "variant", fmt.Sprint(s.articles()[2].VariantID), "quantity", "3", "price", "4.05"))
	s.pass("P31D")

	_, orders := s.ledger()
	var charged []string
	for _, o := range orders {
		charged = append(charged, strings.ReplaceAll(o.Amount, ".", ""))
	}
	if got, want := strings.Join(charged, " "), strings.Join(shown, " "); got != want {
		t.Errorf("the platform charged %s, and shown was %s", got, want)
	}
}

// The lines and the amount that the portal names before a subscription is resumed are those that the platform
// charges, with a one-time product of an order that was not made. Without a payment method nothing is resumed.
func TestResumeChargesWhatItNamed(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	ana := s.visit(s.payer(s.id))
	if status := s.put(oneOffPath(s.id, s.upcoming()[0].ID, s.articles()[1].VariantID, "&quantity=2"), nil, nil); status != http.StatusOK {
		t.Fatalf("adding a one-time product answered %d", status)
	}
	s.status(http.StatusNoContent, "PAUSED")
	s.pass("P40D")
	path := fmt.Sprintf("/s/%d/resume", s.id)
	_, page := ana.screen(path, "")
	amount := regexp.MustCompile(`will be charged \$([0-9.]+), and then`).FindStringSubmatch(page)
	if amount == nil || strings.Count(page, `<li class="item">`) != 2 || !strings.Contains(page, "This order only") {
		t.Fatalf("the question does not name two lines and their amount:\n%s", page)
	}
	o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
	method := "/platform/payment-methods/" + url.PathEscape(o.CustomerPaymentMethod.ID)
	s.call("POST", method, map[string]any{"status": "revoked"}, nil)
	s.pass("PT10M")
	if status, refused := ana.screen(path, page); status != http.StatusOK || !strings.Contains(refused, "There is no payment method that can be charged.") || s.phase().Status != "paused" {
		t.Fatalf("resumed without a payment method: %d\n%s", status, refused)
	}
	s.call("POST", method, map[string]any{"status": "valid"}, nil)
	s.pass("PT10M")
	_, page = ana.screen(path, "")
	if status, page := ana.screen(path, page); status != http.StatusOK {
		t.Fatalf("resuming answered %d:\n%s", status, page)
	}
	s.pass("P31D")
	_, orders := s.ledger()
	if len(orders) != 1 || orders[0].Amount != amount[1] || len(orders[0].Lines) != 2 {
		t.Errorf("named was %s, and charged %+v", amount[1], orders)
	}
}

// The message about a cancellation says what was paid in all: the order of the checkout and the renewals, as the
// platform's orders have them.
func TestCancellationSaysWhatWasPaid(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"deliveryPrice": "4.90"})
	s.pass("P11D")
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-delivery-price?deliveryPrice=1.05&contractId=%d", s.id), nil)
	s.pass("P1M")
	var there struct {
		Contract struct {
			OriginOrder struct {
				TotalPriceSet struct {
					PresentmentMoney struct{ Amount string }
				}
			}
		} `json:"subscriptionContract"`
	}
	s.mutateInto(fmt.Sprintf(`{subscriptionContract(id: "gid://shopify/SubscriptionContract/%d") {originOrder {totalPriceSet {presentmentMoney {amount}}}}}`, s.id), &there)
	amounts := []string{there.Contract.OriginOrder.TotalPriceSet.PresentmentMoney.Amount}
	_, orders := s.ledger()
	for _, o := range orders {
		amounts = append(amounts, o.Amount)
	}
	cents := 0
	for _, amount := range amounts {
		n, err := strconv.ParseFloat(amount, 64)
		if err != nil {
			t.Fatal(err)
		}
		cents += int(math.Round(n * 100))
	}
	s.cancel(http.StatusNoContent, "")
	s.pass("PT1H")
	want := fmt.Sprintf("You paid $%d.%02d for %d orders.", cents/100, cents%100, len(amounts))
	if list := s.mails("kind=canceled"); len(list) != 1 || !strings.Contains(list[0].Text, want) || !strings.Contains(list[0].Text, "You owe nothing.") {
		t.Errorf("the message does not say %q: %+v", want, list)
	}
}

// inPath fills the contract and an attempt into a path.
func (s *subscription) inPath(path string, attempt int64) string {
	return strings.NewReplacer("CONTRACT", fmt.Sprint(s.id), "ATTEMPT", fmt.Sprint(attempt)).Replace(path)
}

// Every page that names what the next order costs names what the platform charges for it: with a discount,
// delivery and a one-time product, and once it was declined.
func TestEveryPageNamesWhatIsCharged(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"deliveryPrice": "4.90"})
	s.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?contractId=%d&percentage=10&discountTitle=Hello&recurringCycleLimit=1", s.id), nil)
	next := s.upcoming()[0]
	if got := s.put(oneOffPath(s.id, next.ID, 4002, "&quantity=2"), nil, nil); got != http.StatusOK {
		t.Fatalf("adding a one-time product answered %d", got)
	}
	s.pass("PT1M")
	ana := s.visit(s.payer(s.id))
	pages := make(map[string]string)
	for _, path := range []string{"/", "/s/CONTRACT", "/s/CONTRACT/upcoming", "/s/CONTRACT/orders/ATTEMPT", "/s/CONTRACT/orders/ATTEMPT/skip", "/s/CONTRACT/orders/ATTEMPT/now"} {
		path = s.inPath(path, next.ID)
		_, pages["portal "+path] = ana.screen(path, "")
	}
	user, at := s.merchant()
	for _, path := range []string{
		"/contracts/CONTRACT", "/contracts/CONTRACT/orders/ATTEMPT", "/contracts/CONTRACT/do/skip?of=ATTEMPT", "/contracts/CONTRACT/do/move?of=ATTEMPT", "/contracts/CONTRACT/do/charge?of=ATTEMPT", "/contracts/CONTRACT/do/cancel",
		"/upcoming/ATTEMPT/skip", "/upcoming/ATTEMPT/move",
	} {
		path = s.inPath(path, next.ID)
		pages["dashboard "+path] = html.UnescapeString(user.page(at + path))
	}
	s.declines("INSUFFICIENT_FUNDS", 1)
	s.pass("P11D")
	for _, path := range []string{"/failed-payments", "/contracts/CONTRACT/do/charge?of=ATTEMPT"} {
		pages["dashboard "+path+", declined"] = html.UnescapeString(user.page(at + s.inPath(path, next.ID)))
	}
	_, pages["portal, failed payment"] = ana.screen(fmt.Sprintf("/s/%d", s.id), "")
	if list := pages["dashboard /failed-payments, declined"]; strings.Contains(list, "25.00 USD") {
		t.Errorf("the list of failed payments names what the products cost without discount and delivery:\n%s", list)
	}
	s.pass("P10D")
	_, orders := s.ledger()
	if len(orders) == 0 {
		t.Fatal("nothing was charged")
	}
	for name, page := range pages {
		if charged := orders[0].Amount; !strings.Contains(page, charged) {
			t.Errorf("%s does not name %s:\n%s", name, charged, regexp.MustCompile(`.*\d\.\d\d.*`).FindAllString(page, -1))
		}
	}
}
