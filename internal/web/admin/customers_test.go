package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

func (f *fakes) ContractIDs(ctx context.Context, of shop.ID, line shop.Line, customer int64) ([]contract.ID, error) {
	contracts, err := f.ContractsOf(ctx, of, line, customer)
	ids := make([]contract.ID, len(contracts))
	for i, c := range contracts {
		ids[i] = c.ID
	}
	return ids, err
}

func (f *fakes) ContractsOf(_ context.Context, of shop.ID, line shop.Line, customer int64) ([]contract.Contract, error) {
	f.of, f.customer, f.filter.Line = of, customer, line
	return f.contracts, f.err
}

func (f *fakes) Customers(_ context.Context, of shop.ID, c contract.CustomerFilter, p page.Request) ([]contract.CustomerSummary, int, error) {
	f.of, f.customers, f.page = of, c, p
	return f.summaries, f.count(len(f.summaries)), f.err
}

const (
	aCustomer      = "/api/external/v2/subscription-customers"
	allCustomers   = "/api/external/v2/subscription-contract-details/customers"
	rowsOfCustomer = "/api/external/v2/subscription-customers-detail/valid"
)

func TestCustomerContractIDsAnswerNumbers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id        string
		contracts []contract.Contract
		want      string
	}{
		"all of them":            {"5", []contract.Contract{{ID: 42}, {ID: 43}}, "[42,43]"},
		"none is an empty list":  {"5", nil, "[]"},
		"by graph id":            {url.PathEscape("gid://shopify/Customer/5"), []contract.Contract{{ID: 42}}, "[42]"},
		"a slash at the end":     {"5/", []contract.Contract{{ID: 42}}, "[42]"},
		"a leading zero, or two": {"005", nil, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{contracts: test.contracts})
			w := s.ask("GET", aCustomer+"/valid/"+test.id, "")
			if w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != test.want || s.customer != 5 || s.of != 7 || s.filter.Line != shop.Subscriptions {
				t.Errorf("answered %d %s, asked for customer %d of shop %d", w.Code, w.Body, s.customer, s.of)
			}
			if total := w.Header().Get("X-Total-Count"); total != strconv.Itoa(len(test.contracts)) || w.Header().Get("Link") == "" {
				t.Errorf("the headers are %v", w.Header())
			}
		})
	}
}

func TestCustomerContractRowsFilterByCustomer(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{contracts: []contract.Contract{theContract()}})
	w := s.ask("GET", rowsOfCustomer+"/5", "")
	want := contract.Filter{Line: shop.Subscriptions, CustomerID: 5}
	if diff := cmp.Diff(want, s.filter) + cmp.Diff(page.Request{Size: 2000}, s.page); w.Code != http.StatusOK || diff != "" || w.Header().Get("X-Total-Count") != "1" {
		t.Fatalf("answered %d %s:\n%s", w.Code, w.Body, diff)
	}
	if searched := s.ask("GET", searchPath, ""); searched.Body.String() != w.Body.String() {
		t.Error("the rows are not those of the search")
	}
	if w := s.ask("GET", rowsOfCustomer+"/5?page=1&size=3&sort=next_billing_date,desc", ""); w.Code != http.StatusOK || s.page.Offset() != 3 || len(s.page.Sort) != 1 {
		t.Errorf("answered %d, page %+v", w.Code, s.page)
	}
}

// ofOneCustomer are contracts of the fixture's customer, oldest first.
func ofOneCustomer(n int) []contract.Contract {
	list := make([]contract.Contract, n)
	for i := range list {
		list[i] = theContract()
		list[i].ID += contract.ID(i)
		list[i].CreatedAt = list[i].CreatedAt.Add(time.Duration(i/2) * time.Hour) // two at a time
	}
	return list
}

func TestCustomerMatchesGoldenFile(t *testing.T) {
	t.Parallel()
	first, second := theContract(), theContract()
	second.ID, second.Status, second.CreatedAt, second.PaymentMethod, second.Attributes = 43, contract.Cancelled, noon(), "", nil
	s := serve(t, &fakes{contracts: []contract.Contract{first, second}})
	w := s.ask("GET", aCustomer+"/5", "")
	webtest.Golden(t, "customer.json", w.Body.Bytes())
	if s.customer != 5 || s.of != 7 {
		t.Errorf("asked for customer %d of shop %d", s.customer, s.of)
	}
}

func TestUnknownCustomerAnswersEmptyBody(t *testing.T) {
	t.Parallel()
	for _, target := range []string{aCustomer + "/5", aCustomer + "/5?cursor=" + markOf(theContract()).String()} {
		w := serve(t, &fakes{}).ask("GET", target, "")
		if w.Code != http.StatusOK || w.Body.Len() != 0 {
			t.Errorf("answered %d %q", w.Code, w.Body)
		}
	}
}

func TestCustomerCursorsReachEveryContract(t *testing.T) {
	t.Parallel()
	const many = 2*contractsOfCustomer + 50
	s := serve(t, &fakes{contracts: ofOneCustomer(many)})
	var seen []string
	cursor := ""
	for rounds := 1; ; rounds++ {
		var got customerAnswer
		w := s.ask("GET", aCustomer+"/5?cursor="+cursor, "")
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Contracts.Nodes) != len(got.Contracts.Edges) {
			t.Fatalf("answered %d %s: %v", w.Code, w.Body, err)
		}
		info := got.Contracts.PageInfo
		for i, node := range got.Contracts.Nodes {
			seen = append(seen, node.ID)
			if got.Contracts.Edges[i].Node.ID != node.ID {
				t.Errorf("edge %d is not node %d", i, i)
			}
		}
		if info.HasPreviousPage != (rounds > 1) || *info.StartCursor != got.Contracts.Edges[0].Cursor {
			t.Errorf("round %d: %+v", rounds, info)
		}
		if cursor = *info.EndCursor; !info.HasNextPage {
			break
		}
		s.contracts = append(ofOneCustomer(1), s.contracts...) // what is added before the place moves nothing
	}
	want := map[string]bool{}
	for _, id := range seen {
		want[id] = true
	}
	if len(seen) != many || len(want) != many {
		t.Errorf("saw %d contracts, %d different ones", len(seen), len(want))
	}
	w := s.ask("GET", aCustomer+"/5?cursor="+cursor, "")
	if !strings.Contains(w.Body.String(), `"nodes":[],"edges":[],"pageInfo":{"hasPreviousPage":true,"hasNextPage":false,"startCursor":null,"endCursor":null}`) {
		t.Errorf("after the last: %s", w.Body)
	}
}

func TestCustomerListQueryBecomesFilter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		query string
		want  contract.CustomerFilter
		page  page.Request
	}{
		"without filters all are wanted":    {"", contract.CustomerFilter{}, page.Request{Size: 20}},
		"an address":                        {"email=%20Ann@Example.com", contract.CustomerFilter{Email: "Ann@Example.com"}, page.Request{Size: 20}},
		"part of a name":                    {"name=ann&size=2000", contract.CustomerFilter{NamePart: "ann"}, page.Request{Size: 2000}},
		"more than one active contract":     {"activeMoreThanOneSubscription=true&page=2", contract.CustomerFilter{Several: true}, page.Request{Page: 2, Size: 20}},
		"not only more than one":            {"activeMoreThanOneSubscription=false", contract.CustomerFilter{}, page.Request{Size: 20}},
		"sorted, in either spelling":        {"sort=in_active_subscriptions,desc", contract.CustomerFilter{}, page.Request{Size: 20, Sort: []page.Sort{{Field: "inActiveSubscriptions", Desc: true}}}},
		"sorted by what the orders come to": {"sort=lifetimeValue", contract.CustomerFilter{}, page.Request{Size: 20, Sort: []page.Sort{{Field: "lifetimeValue"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{total: 30})
			w := s.ask("GET", allCustomers+"?"+test.query, "")
			test.want.Line = shop.Subscriptions
			if diff := cmp.Diff(test.want, s.customers) + cmp.Diff(test.page, s.page); w.Code != http.StatusOK || diff != "" || s.of != 7 || w.Header().Get("X-Total-Count") != "30" {
				t.Errorf("answered %d %s for shop %d (-want +got):\n%s", w.Code, w.Body, s.of, diff)
			}
		})
	}
}

func TestCustomerListMatchesGoldenFile(t *testing.T) {
	t.Parallel()
	list := []contract.CustomerSummary{
		{ID: 5, Name: "Ann Lee", Email: "ann@example.com", Active: 2, Inactive: 1, NextOrder: noon(), Lifetime: money.Amount{Minor: 6300, Currency: "USD"}},
		{ID: 6, Inactive: 1, Lifetime: money.Amount{Minor: 1, Currency: "USD"}, Mixed: true},
	}
	var f fakes
	f.summaries = list
	webtest.Golden(t, "customers.json", serve(t, &f).ask("GET", allCustomers, "").Body.Bytes())
}

func TestCustomerOperationsRefuseInvalidValues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		target      string
		key, params string
	}{
		"numbers of a name":            {aCustomer + "/valid/ann", "invalid", "id"},
		"numbers of something else":    {aCustomer + "/valid/" + url.PathEscape("gid://shopify/Order/5"), "invalid", "id"},
		"rows of a name":               {rowsOfCustomer + "/ann", "invalid", "customerId"},
		"too many rows":                {rowsOfCustomer + "/5?size=2001", "pageTooLarge", "size"},
		"a customer beyond 64 bits":    {aCustomer + "/99999999999999999999", "invalid", "customerId"},
		"a cursor that is none":        {aCustomer + "/5?cursor=MTI6eA", "cursorInvalid", "cursor"},
		"a cursor with something more": {aCustomer + "/5?cursor=MTI6Mzox", "cursorInvalid", "cursor"},
		"a cursor that is no base64":   {aCustomer + "/5?cursor=%25", "cursorInvalid", "cursor"},
		"a sort that is not possible":  {allCustomers + "?sort=phone", "sortField", "sort"},
		"a flag that is none":          {allCustomers + "?activeMoreThanOneSubscription=some", "invalid", "activeMoreThanOneSubscription"},
		"too many customers":           {allCustomers + "?size=2001", "pageTooLarge", "size"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, &fakes{contracts: ofOneCustomer(1)}).ask("GET", test.target, "")
			checkProblem(t, w, http.StatusBadRequest)
			if p := webtest.Problem(t, w); p.ErrorKey != test.key || deref(p.Params) != test.params {
				t.Errorf("errorKey %q params %q, want %q %q", p.ErrorKey, deref(p.Params), test.key, test.params)
			}
		})
	}
}
