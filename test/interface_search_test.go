package test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/sandbox"
)

// found is what filters look at in a contract of a search.
type found struct {
	ID                          int64  `json:"subscriptionContractId"`
	CustomerID                  int64  `json:"customerId"`
	CustomerName                string `json:"customerName"`
	CustomerEmail               string `json:"customerEmail"`
	OrderName                   string `json:"orderName"`
	Status                      string
	BillingPolicyInterval       string
	BillingPolicyIntervalCount  int
	DeliveryPolicyInterval      string
	DeliveryPolicyIntervalCount int
	ImportedID                  *string    `json:"importedId"`
	OrderAmount                 float64    `json:"orderAmount"`
	CreatedAt                   time.Time  `json:"createdAt"`
	UpdatedAt                   time.Time  `json:"updatedAt"`
	NextBillingDate             *time.Time `json:"nextBillingDate"`
	Text                        string     `json:"contractDetailsJSON"` // else it would be taken for the lines
	Lines                       []struct {
		ProductID, VariantID, SellingPlanID string
	} `json:"contractDetailsJson"`
}

// on reports whether a line of the contract has one of the graph ids.
func (f found) on(id string) bool {
	for _, l := range f.Lines {
		if l.ProductID == id || l.VariantID == id || l.SellingPlanID == id {
			return true
		}
	}
	return false
}

// prepaid is what the filter calls so, whatever the intervals are.
func (f found) prepaid() bool { return f.BillingPolicyIntervalCount != f.DeliveryPolicyIntervalCount }

// hurry lets the integration ask as often as it likes.
func (m *merchant) hurry() {
	m.t.Helper()
	m.call("POST", "/settings", map[string]any{"requestsPerSecond": 1000, "requestBurst": 1000}, nil)
}

// page reads a page of a list and says how long the whole list is.
func (m *merchant) page(path string, query url.Values, out any) (total int) {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, m.urls.Subscriptions+path+"?"+query.Encode(), nil)
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header.Set("X-API-Key", m.key)
	answer, err := (witness{m.t}).RoundTrip(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		m.t.Fatalf("%s answered %d %s", r.URL, answer.StatusCode, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		m.t.Fatalf("%s: %v in %.300s", r.URL, err, text)
	}
	if total, err = strconv.Atoi(answer.Header.Get("X-Total-Count")); err != nil {
		m.t.Fatalf("%s: X-Total-Count: %v", r.URL, err)
	}
	return total
}

// wantOnly asserts that a filter leaves exactly the rows that it should: some,
// and not all of them.
func wantOnly(t *testing.T, got, want []int64, total, all int) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || total != len(want) {
		t.Errorf("found %d of %d: %v\nwant %d: %v", total, all, got, len(want), want)
	}
	if len(want) == 0 || len(want) == all {
		t.Errorf("the filter should leave %d of %d: that shows nothing", len(want), all)
	}
}

const searchPath = api + "/subscription-contract-details"

func (m *merchant) contracts(query url.Values) (rows []found, total int) {
	m.t.Helper()
	total = m.page(searchPath, query, &rows)
	return rows, total
}

func queryOf(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

func TestEachContractFilterIsExact(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Seed: 1, Contracts: 80})
	m.hurry()
	m.pass("P5D")
	noted := m.someContract("ACTIVE")
	m.do("PUT", fmt.Sprintf("/subscription-contracts-update-order-note/%d?orderNote=later", noted.ID), nil, nil)
	m.call("POST", "/platform/contracts", map[string]any{
		"customer": map[string]any{"email": "ada@shopper.example"}, "nextBillingDate": m.now().AddDate(0, 0, 40), "lines": []any{map[string]any{"variantId": 4001, "quantity": 1}},
		"billingPolicy": map[string]any{"interval": "YEAR", "intervalCount": 1}, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1},
	}, nil)
	m.pass("P15D")
	all, total := m.contracts(queryOf("size", "2000"))
	if len(all) != total || total < 50 {
		t.Fatalf("%d contracts of %d in one page", len(all), total)
	}
	names := map[int64][]string{} // of a contract's orders
	for _, c := range all {
		names[c.ID] = append(names[c.ID], c.OrderName)
	}
	var renewals []struct {
		Name     string
		Contract int64 `json:"contractId"`
	}
	m.call("GET", "/platform/orders", nil, &renewals)
	for _, r := range renewals {
		names[r.Contract] = append(names[r.Contract], r.Name)
	}
	dates := func(of func(found) *time.Time) []time.Time {
		var list []time.Time
		for _, c := range all {
			if at := of(c); at != nil {
				list = append(list, *at)
			}
		}
		slices.SortFunc(list, time.Time.Compare)
		return list
	}
	created := dates(func(c found) *time.Time { return &c.CreatedAt })
	updated := dates(func(c found) *time.Time { return &c.UpdatedAt })
	next := dates(func(c found) *time.Time { return c.NextBillingDate })
	since, until := next[len(next)/4], next[len(next)/2]
	written := func(at time.Time) string { return at.Format(time.RFC3339Nano) }
	day := created[len(created)/2].In(newYork(t))
	midnight := time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, day.Location())
	first, last := all[0], all[len(all)-1]
	amount := all[len(all)/2].OrderAmount
	renewed := renewals[0]
	contains := func(text, part string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(part))
	}

	for name, test := range map[string]struct {
		query url.Values
		keeps func(found) bool
	}{
		"created at an instant or later":   {queryOf("fromCreatedDate", written(created[20])), func(c found) bool { return !c.CreatedAt.Before(created[20]) }},
		"created at an instant or before":  {queryOf("toCreatedDate", written(created[20])), func(c found) bool { return !c.CreatedAt.After(created[20]) }},
		"created before the end of a day":  {queryOf("toCreatedDate", day.Format(time.DateOnly)), func(c found) bool { return c.CreatedAt.Before(midnight.AddDate(0, 0, 1)) }},
		"created on a day or later":        {queryOf("fromCreatedDate", day.Format(time.DateOnly)), func(c found) bool { return !c.CreatedAt.Before(midnight) }},
		"updated at an instant or later":   {queryOf("fromUpdatedDate", written(updated[len(updated)-1])), func(c found) bool { return !c.UpdatedAt.Before(updated[len(updated)-1]) }},
		"updated at an instant or before":  {queryOf("toUpdatedDate", written(updated[0])), func(c found) bool { return !c.UpdatedAt.After(updated[0]) }},
		"next order between two instants":  {queryOf("fromNextDate", written(since), "toNextDate", written(until)), func(c found) bool { n := c.NextBillingDate; return n != nil && !n.Before(since) && !n.After(until) }},
		"a part of the contract's number":  {queryOf("subscriptionContractId", "01"), func(c found) bool { return strings.Contains(itoa(c.ID), "01") }},
		"the contract's whole number":      {queryOf("subscriptionContractId", itoa(last.ID)), func(c found) bool { return c.ID == last.ID }},
		"a part of the customer's name":    {queryOf("customerName", "SI"), func(c found) bool { return contains(c.CustomerName, "si") || contains(c.CustomerEmail, "si") }},
		"a part of the customer's address": {queryOf("customerName", ".1"), func(c found) bool { return contains(c.CustomerName, ".1") || contains(c.CustomerEmail, ".1") }},
		"a part of the first order's name": {queryOf("orderName", first.OrderName[1:]), func(c found) bool { return contains(strings.Join(names[c.ID], " "), first.OrderName[1:]) }},
		"the name of a later order":        {queryOf("orderName", renewed.Name), func(c found) bool { return slices.Contains(names[c.ID], renewed.Name) }},
		"those that run":                   {queryOf("status", "active"), func(c found) bool { return c.Status == "active" }},
		"those that pause":                 {queryOf("status", "PAUSED"), func(c found) bool { return c.Status == "paused" }},
		"delivered every one of something": {queryOf("billingPolicyIntervalCount", "1"), func(c found) bool { return c.DeliveryPolicyIntervalCount == 1 }},
		"delivered every so many months":   {queryOf("billingPolicyInterval", "month"), func(c found) bool { return c.DeliveryPolicyInterval == "month" }},
		"delivered every second month":     {queryOf("billingPolicyInterval", "MONTH", "billingPolicyIntervalCount", "2"), func(c found) bool { return c.DeliveryPolicyInterval == "month" && c.DeliveryPolicyIntervalCount == 2 }},
		"paid ahead":                       {queryOf("planType", "prepaid"), found.prepaid},
		"paid as it comes":                 {queryOf("planType", "non-prepaid"), func(c found) bool { return !c.prepaid() }},
		"a product":                        {queryOf("productId", number(first.Lines[0].ProductID)), func(c found) bool { return c.on(first.Lines[0].ProductID) }},
		"a product by its graph id":        {queryOf("productId", first.Lines[0].ProductID), func(c found) bool { return c.on(first.Lines[0].ProductID) }},
		"a variant":                        {queryOf("variantId", number(last.Lines[0].VariantID)), func(c found) bool { return c.on(last.Lines[0].VariantID) }},
		"a selling plan":                   {queryOf("sellingPlanId", "6003"), func(c found) bool { return c.on("gid://shopify/SellingPlan/6003") }},
		"an amount or more":                {queryOf("minOrderAmount", fmt.Sprint(amount)), func(c found) bool { return c.OrderAmount >= amount }},
		"an amount or less":                {queryOf("maxOrderAmount", fmt.Sprint(amount)), func(c found) bool { return c.OrderAmount <= amount }},
		"a customer":                       {queryOf("customerId", itoa(first.CustomerID)), func(c found) bool { return c.CustomerID == first.CustomerID }},
		"a customer's address in any case": {queryOf("customerEmail", strings.ToUpper(last.CustomerEmail)), func(c found) bool { return c.CustomerEmail == last.CustomerEmail }},
		"several filters that must all match": {queryOf("status", "ACTIVE", "billingPolicyInterval", "MONTH", "minOrderAmount", "20", "planType", "non-prepaid"), func(c found) bool {
			return c.Status == "active" && c.DeliveryPolicyInterval == "month" && c.OrderAmount >= 20 && !c.prepaid()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			test.query.Set("size", "2000")
			rows, total := m.contracts(test.query)
			var got, want []int64
			for _, c := range rows {
				got = append(got, c.ID)
			}
			for _, c := range all {
				if test.keeps(c) {
					want = append(want, c.ID)
				}
			}
			wantOnly(t, got, want, total, len(all))
		})
	}
	if rows, total := m.contracts(queryOf("recordType", "imported")); total != 0 || len(rows) != 0 {
		t.Errorf("%d contracts were imported, though none was", total)
	}
	if _, total := m.contracts(queryOf("recordType", "nonImported")); total != len(all) {
		t.Errorf("%d contracts of %d were not imported, want all", total, len(all))
	}
}

func TestSearchPagesHoldEveryContractOnceInOrder(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Seed: 1, Contracts: 30})
	m.hurry()
	all, _ := m.contracts(queryOf("size", "2000"))
	seen := map[int64]bool{}
	var before float64
	for number := 0; ; number++ {
		rows, total := m.contracts(queryOf("size", "7", "page", fmt.Sprint(number), "sort", "order_amount,desc"))
		if total != len(all) {
			t.Errorf("page %d says that there are %d, want %d", number, total, len(all))
		}
		if len(rows) == 0 {
			break
		}
		for _, c := range rows {
			if seen[c.ID] || len(seen) > 0 && c.OrderAmount > before {
				t.Errorf("page %d: contract %d over %.2f after one over %.2f, seen before: %t", number, c.ID, c.OrderAmount, before, seen[c.ID])
			}
			seen[c.ID], before = true, c.OrderAmount
		}
	}
	if len(seen) != len(all) {
		t.Errorf("the pages hold %d contracts of %d", len(seen), len(all))
	}
}

// someContract returns a contract of a status.
func (m *merchant) someContract(status string) found {
	m.t.Helper()
	rows, _ := m.contracts(queryOf("status", status, "size", "1"))
	if len(rows) != 1 {
		m.t.Fatalf("no contract is %s", status)
	}
	return rows[0]
}

func newYork(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/New_York") // the demo store's
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// number returns the number in a graph id.
func number(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// logged is what criteria look at in an entry of the activity log.
type logged struct {
	ID, EntityID                               int64
	EntityType, EventSource, EventType, Status string
	CreateAt                                   time.Time
	AdditionalInfo                             string
}

func TestEachActivityFilterIsExact(t *testing.T) {
	t.Parallel()
	m := newMerchant(t, sandbox.Options{Seed: 1, Contracts: 25})
	m.hurry()
	m.pass("P20D")
	subject := m.someContract("ACTIVE")
	m.do("PUT", fmt.Sprintf("/subscription-contracts-add-discount?percentage=10&discountTitle=Sorry&contractId=%d", subject.ID), nil, nil)
	m.pass("PT1M")
	list := func(query url.Values) (rows []logged, total int) {
		query = maps.Clone(query)
		query.Set("size", "100")
		for number := 0; ; number++ {
			var some []logged
			query.Set("page", fmt.Sprint(number))
			total = m.page(api+"/activity-logs", query, &some)
			if rows = append(rows, some...); len(some) == 0 {
				return rows, total
			}
		}
	}
	all, total := list(queryOf("sort", "id,asc"))
	if len(all) != total || total < 30 {
		t.Fatalf("the pages hold %d entries of %d", len(all), total)
	}
	at := all[len(all)/2].CreateAt
	for name, test := range map[string]struct {
		query url.Values
		keeps func(logged) bool
	}{
		"one kind of object": {queryOf("entityType.equals", "SUBSCRIPTION_BUNDLING"), func(e logged) bool { return e.EntityType == "SUBSCRIPTION_BUNDLING" }},
		"some kinds of object": {queryOf("entityType.in", "SUBSCRIPTION_BUNDLING,SHIPPING_PROFILE"), func(e logged) bool {
			return e.EntityType == "SUBSCRIPTION_BUNDLING" || e.EntityType == "SHIPPING_PROFILE"
		}},
		"one kind of event":      {queryOf("eventType.equals", "CONTRACT_CREATED"), func(e logged) bool { return e.EventType == "CONTRACT_CREATED" }},
		"what the interface did": {queryOf("eventSource.equals", "MERCHANT_EXTERNAL_API"), func(e logged) bool { return e.EventSource == "MERCHANT_EXTERNAL_API" }},
		"what the platform said": {queryOf("eventSource.equals", "SHOPIFY_EVENT"), func(e logged) bool { return e.EventSource == "SHOPIFY_EVENT" }},
		"what failed":            {queryOf("status.equals", "FAILURE"), func(e logged) bool { return e.Status == "FAILURE" }},
		"one object":             {queryOf("entityId.equals", itoa(subject.ID)), func(e logged) bool { return e.EntityID == subject.ID }},
		"after an instant":       {queryOf("createAt.greaterThan", at.Format(time.RFC3339Nano)), func(e logged) bool { return e.CreateAt.After(at) }},
		"before an instant":      {queryOf("createAt.lessThan", m.now().AddDate(0, 0, -1).Format(time.RFC3339Nano)), func(e logged) bool { return e.CreateAt.Before(m.now().AddDate(0, 0, -1)) }},
		"a part of what it says": {queryOf("additionalInfo.contains", "sorry"), func(e logged) bool { return strings.Contains(strings.ToLower(e.AdditionalInfo), "sorry") }},
		"several, all of them": {queryOf("entityId.equals", itoa(subject.ID), "eventSource.equals", "MERCHANT_EXTERNAL_API", "status.equals", "SUCCESS"), func(e logged) bool {
			return e.EntityID == subject.ID && e.EventSource == "MERCHANT_EXTERNAL_API" && e.Status == "SUCCESS"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			rows, total := list(test.query)
			var got, want []int64
			for i, e := range rows {
				got = append(got, e.ID)
				if i > 0 && e.CreateAt.After(rows[i-1].CreateAt) {
					t.Errorf("entry %d of %s comes after one of %s: want the newest first", e.ID, e.CreateAt, rows[i-1].CreateAt)
				}
			}
			for _, e := range all {
				if test.keeps(e) {
					want = append(want, e.ID)
				}
			}
			wantOnly(t, got, want, total, len(all))
		})
	}
}
