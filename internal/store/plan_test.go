package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/store/storetest"
)

const (
	planned  = 20_000 // contracts
	rareness = 400    // one contract in so many has a rare value
)

// rareContract returns a contract that is like all others but in one thing, which
// depends on its number.
func rareContract(i int) contract.Contract {
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	at := start.Add(time.Duration(i) * time.Minute)
	c := contract.Contract{
		ID: contract.ID(1_000_000 + i), Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", Billing: month, Delivery: month,
		Customer: contract.Customer{ID: int64(i), Name: fmt.Sprintf("Customer %d", i), Email: fmt.Sprintf("c%d@example.com", i)},
		Lines: []contract.Line{{
			ID: "gid://shopify/SubscriptionLine/1", ProductID: int64(1 + i%rareness), VariantID: int64(1 + i%rareness), SellingPlanID: int64(1 + i%rareness), Quantity: 1,
			Price: money.Amount{Minor: int64(1000 + i%rareness), Currency: "EUR"},
		}},
		OriginOrderName: fmt.Sprintf("#%d", 1000+i), CreatedAt: at, UpdatedAt: at, NextBillingDate: at,
	}
	switch i % rareness {
	case 1:
		c.Status = contract.Expired
	case 2:
		c.Delivery.Count, c.Billing.Count = 7, 7
	case 3:
		c.Billing.Count = 6
	case 4:
		c.ImportedID = fmt.Sprint("old-", i)
	}
	return c
}

// plan is a node of PostgreSQL's plan with what it did.
type plan struct {
	Node     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Recheck  float64 `json:"Rows Removed by Index Recheck"`
	Plans    []plan
}

// looked returns how many rows or index entries the plan looked at, and the names
// of tables that it read from end to end.
func (p plan) looked() (rows float64, whole []string) {
	if strings.Contains(p.Node, "Scan") {
		rows = (p.Rows + p.Filtered + p.Recheck) * p.Loops
	}
	if p.Node == "Seq Scan" {
		whole = append(whole, p.Relation)
	}
	for _, under := range p.Plans {
		more, others := under.looked()
		rows, whole = rows+more, append(whole, others...)
	}
	return rows, whole
}

// TestNoSearchOnPostgresReadsMoreThanItFinds asks for rare values by every filter
// and counts what was looked at. A plan that reads a table, or walks through all
// of a shop's contracts, looks at them all.
func TestNoSearchOnPostgresReadsMoreThanItFinds(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	s := shop.Shop{Domain: "planned.myshopify.com"}
	if err := db.Shops().AddShop(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < planned; from += 1000 {
		var list []contract.Contract
		for i := range 1000 {
			list = append(list, rareContract(from+i))
		}
		err := db.Update(t.Context(), s.ID, func(tx *store.Tx) error {
			return tx.PutContracts(t.Context(), append([]contract.Contract(nil), list...))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Raw().ExecContext(t.Context(), "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
	yes := true
	month := cadence.Month
	from, to := start.Add(10_000*time.Minute), start.Add(10_050*time.Minute)
	price := int64(10_070)
	for name, f := range map[string]contract.Filter{
		"created":               {CreatedFrom: from, CreatedTo: to},
		"updated":               {UpdatedFrom: from, UpdatedTo: to},
		"next date":             {NextFrom: from, NextTo: to},
		"number":                {IDPart: "01234"},
		"customer":              {CustomerPart: "mer 1234"},
		"address":               {CustomerPart: "c1234"},
		"order":                 {OrderPart: "#1234"},
		"status":                {Status: contract.Expired},
		"interval":              {DeliveryInterval: &month, DeliveryCount: 7},
		"prepaid":               {Prepaid: &yes},
		"imported":              {Imported: &yes},
		"product":               {ProductID: 77},
		"variant":               {VariantID: 77},
		"selling plan":          {SellingPlanID: 77},
		"amount":                {MinAmount: &price, MaxAmount: &price},
		"customer id":           {CustomerID: 4711},
		"whole address":         {CustomerEmail: "c4711@example.com"},
		"updated, of a status":  {UpdatedFrom: from, UpdatedTo: to, Status: contract.Active},
		"product, of a status":  {ProductID: 77, Status: contract.Active},
		"prepaid, of a product": {ProductID: 4, Prepaid: &yes},
	} {
		t.Run(name, func(t *testing.T) {
			f.Line = shop.Subscriptions
			for _, sorted := range []string{"created_at", "next_billing_date"} {
				p := page.Request{Size: 20, Sort: []page.Sort{{Field: sorted}}}
				if _, total, err := db.Search(t.Context(), s.ID, f, p); err != nil || total == 0 || total > 100 {
					t.Fatalf("finds %d, %v", total, err)
				}
				queries, err := db.SearchQueries(t.Context(), s.ID, f, p)
				if err != nil {
					t.Fatal(err)
				}
				for which, q := range queries {
					var text string
					if err := db.Raw().NewRaw("EXPLAIN (ANALYZE, FORMAT JSON) ?", q).Scan(t.Context(), &text); err != nil {
						t.Fatal(err)
					}
					var explained []struct{ Plan plan }
					if err := json.Unmarshal([]byte(text), &explained); err != nil {
						t.Fatal(err)
					}
					if rows, whole := explained[0].Plan.looked(); rows > planned/20 || len(whole) > 0 {
						t.Errorf("the %s by %s looks at %.0f rows and reads all of %v:\n%s\n%s", which, sorted, rows, whole, q, text)
					}
				}
			}
		})
	}
}
