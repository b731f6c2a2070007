package roomtest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/savedview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/store"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	pages "github.com/perennialhq/perennial/internal/web/dashboard/contracts"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

const contractsPath = dashboardtest.At + "/contracts"

// searchContracts reads the query of a list as far as the tests need it.
func searchContracts(query string, _ *time.Location) (contract.Filter, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return contract.Filter{}, err
	}
	if from := values.Get("fromNextDate"); from != "" && values.Get("toNextDate") == "" {
		return contract.Filter{}, fault.New(fault.Invalid, "fromNextDate and toNextDate must be given together").Code("nextDateRange").Field("toNextDate")
	}
	if len(values["status"]) > 1 {
		return contract.Filter{}, fault.New(fault.Invalid, "the search has the parameter status more than once").Field("query")
	}
	return contract.Filter{
		Line: shop.Subscriptions, Status: contract.Status(values.Get("status")), CustomerPart: values.Get("customerName"), OrderPart: values.Get("orderName"),
		IDPart: values.Get("subscriptionContractId"), Failing: values.Has("failing"), Ending: values.Has("ending"),
	}, nil
}

func openContracts(t *testing.T, list ...contract.Contract) *dashboardtest.Site {
	t.Helper()
	t.Parallel()
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		o.Rooms = append(o.Rooms, pages.New(pages.Options{
			Directory: s.DB, Views: &savedview.Service{Store: s.DB.SavedViews(), Clock: s.Clock}, Clock: s.Clock, Search: searchContracts, PublicURL: "https://perennial.example/",
		}))
	})
	if len(list) > 0 {
		err := s.DB.Update(t.Context(), s.First.ID, func(tx *store.Tx) error { return tx.PutContracts(t.Context(), slices.Clone(list)) })
		if err != nil {
			t.Fatal(err)
		}
	}
	s.SignIn(dashboardtest.Owner)
	return s
}

func monthlyContract(id contract.ID, name string) contract.Contract {
	noon := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	month := contract.Policy{Interval: cadence.Month, Count: 1}
	return contract.Contract{
		ID: id, Line: shop.Subscriptions, Status: contract.Active, Currency: "EUR", Billing: month, Delivery: month,
		Customer: contract.Customer{ID: 900 + int64(id), Name: name, Email: fmt.Sprintf("c%d@shopper.example", id)}, OriginOrderName: fmt.Sprintf("#%d", id-8000),
		Lines:     []contract.LineItem{{ID: "x", Title: "Coffee", Quantity: 2, Price: money.Amount{Minor: 1250, Currency: "EUR"}}},
		CreatedAt: noon.Add(time.Duration(id) * time.Minute), UpdatedAt: noon, NextBillingDate: noon.AddDate(0, 0, 11), AutoCharge: true,
	}
}

func TestListShowsContractsNewestFirst(t *testing.T) {
	paused, failing, ending := monthlyContract(9002, "Bo"), monthlyContract(9003, canary), monthlyContract(9004, "Cy")
	paused.Status, paused.NextBillingDate = contract.Paused, time.Time{}
	failing.Dunning = &contract.Dunning{Attempt: 1, Cycle: 2, Code: "INSUFFICIENT_FUNDS", RetryAt: time.Date(2026, time.December, 3, 9, 0, 0, 0, time.UTC)}
	failing.Lines[0].Title = canary
	ending.Ending = &contract.Ending{Why: contract.EndOfTerm, At: time.Date(2026, time.December, 24, 9, 0, 0, 0, time.UTC)}
	s := openContracts(t, monthlyContract(9001, "Ada"), paused, failing, ending)
	p := s.Get(contractsPath)
	s.Want(p, http.StatusOK, "Active <span>3</span>", "Paused <span>1</span>", "Payment failing <span>1</span>", "Ending soon <span>1</span>", "1–4", "Retry 3 Dec 2026", "Ends 24 Dec 2026",
		"1 Dec 2026", "25.00", "Every month", "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}", `name="action" value="PAUSE"`, `action="/admin/stores/first/bulk/new"`)
	if strings.Contains(p.Text, "<script>alert") {
		t.Error("a name of the store is a script")
	}
	if first, last := strings.Index(p.Text, "contracts/9004"), strings.Index(p.Text, "contracts/9001"); first < 0 || last < first {
		t.Errorf("the newest is at %d, the oldest at %d", first, last)
	}
	s.Want(s.Get(contractsPath+"?failing=true"), http.StatusOK, "contracts/9003", `aria-current="page">Payment failing`, `name="query" value="failing=true"`, "has no filter for this view")
	s.Want(s.Get(contractsPath+"?q=9002"), http.StatusOK, "contracts/9002", `name="q" value="9002"`, "subscriptionContractId=9002", "https://perennial.example/api/external/v2/subscription-contract-details?page=0")
	p = s.Get(contractsPath + "?q=bo&status=PAUSED&sort=customer_name,asc&columns=status,created&size=50")
	s.Want(p, http.StatusOK, "contracts/9002", `aria-sort="ascending"`, `<td class="f">`, `aria-label="50 rows"`)
	if strings.Contains(p.Text, "Every month") {
		t.Error("a column is shown that was not chosen")
	}
	s.Want(s.Get(contractsPath+"?q=nothing"), http.StatusOK, "No contract matches", "Clear filters")
	s.Want(s.Get(contractsPath+"?page=7"), http.StatusOK, "The list ends before this page")
}

// otherEntries is about how many bytes the entries of other rooms have in the navigation.
const otherEntries = 2_000

// A hundred contracts whose texts are as long as those of a store.
func TestListOfHundredContractsHasAtMost60KB(t *testing.T) {
	var list []contract.Contract
	first := []string{"Alexandra", "Noah", "Christopher", "Mia"}
	last := []string{"Montgomery", "van den Berg", "Nguyen", "Ó Súilleabháin"}
	items := []string{"Ethiopia Yirgacheffe, 1 kg", "Daily greens refill", "Sensitive skin starter set", "Adult dry food, salmon & rice"}
	for i := range 100 {
		c := monthlyContract(contract.ID(31_415_926_500+i), first[i%4]+" "+last[i/4%4])
		c.Customer.Email = fmt.Sprintf("%s.family%d@mail.example", strings.ToLower(first[i%4]), 100+i)
		c.OriginOrderName, c.Lines[0].Title, c.Lines[0].Price.Minor = fmt.Sprintf("#%d", 104_500+i), items[i%4], 123_456
		c.Billing.Count, c.Delivery.Count = 3, 3
		if i%5 == 1 {
			c.Lines = append(c.Lines, contract.LineItem{ID: "y", Title: "Filter papers", Quantity: 1, Price: money.Amount{Minor: 500, Currency: "EUR"}})
		}
		switch i % 12 {
		case 3:
			c.Dunning = &contract.Dunning{Attempt: 1, Cycle: 2, Code: "INSUFFICIENT_FUNDS", RetryAt: time.Date(2026, time.December, 13, 9, 0, 0, 0, time.UTC)}
		case 4:
			c.Ending = &contract.Ending{Why: contract.EndOfTerm, At: time.Date(2026, time.December, 24, 9, 0, 0, 0, time.UTC)}
		case 5:
			c.Status = contract.Cancelled
		}
		list = append(list, c)
	}
	s := openContracts(t, list...)
	p := s.Get(contractsPath + "?size=100")
	if n := len(p.Text) + otherEntries; n > 60<<10 || strings.Count(p.Text, `aria-label="Select `) != 101 {
		t.Errorf("the page has %d bytes and %d rows", n, strings.Count(p.Text, `aria-label="Select `))
	}
	for _, query := range []string{"?size=100&status=ACTIVE&q=montgomery&columns=contract,status,plan,items,next,amount", "?size=100&failing=true"} {
		if p := s.Get(contractsPath + query); len(p.Text)+otherEntries > 60<<10 {
			t.Errorf("%s has %d bytes", query, len(p.Text))
		}
	}
	foreign := regexp.MustCompile(`(?:src|srcset|poster|data|rel="stylesheet" href)="(?:https?:)?//`)
	if found := foreign.FindString(p.Text); found != "" {
		t.Errorf("the page loads %s", found)
	}
}

func TestListWithoutContractsSaysHowTheyArrive(t *testing.T) {
	s := openContracts(t)
	s.Want(s.Get(contractsPath), http.StatusOK, "No contracts yet", "All <span>0</span>")
}

func TestBadQueryIsRefusedAtItsField(t *testing.T) {
	s := openContracts(t, monthlyContract(9001, "Ada"))
	s.Want(s.Get(contractsPath+"?fromNextDate=2026-12-01"), http.StatusUnprocessableEntity, "Give both days between which the next order falls", `id="e-toNextDate"`, `<details class="panel" open>`)
	s.Want(s.Get(contractsPath+"?status=ACTIVE&status=PAUSED"), http.StatusUnprocessableEntity, "more than once", "banner crit")
	for _, query := range []string{"size=21", "page=-1", "page=x", "sort=mood", "sort=id,status", "columns=mood"} {
		s.Want(s.Get(contractsPath+"?"+query), http.StatusBadRequest, "That did not work")
	}
	s.Want(s.Get(contractsPath+"?view=x"), http.StatusNotFound)
	s.Want(s.Get(contractsPath+".csv?sort=mood"), http.StatusBadRequest)
}

func TestAnalystSeesListWithoutActions(t *testing.T) {
	s := openContracts(t, monthlyContract(9001, "Ada"))
	s.Add("al@staff.example", staff.Analyst)
	s.SignIn("al@staff.example")
	p := s.Get(contractsPath)
	if s.Want(p, http.StatusOK, "contracts/9001"); strings.Contains(p.Text, "bulk/new") || strings.Contains(p.Text, `name="id"`) {
		t.Error("an analyst is offered actions")
	}
	if p := s.Get(dashboardtest.At + "/views/new?query="); strings.Contains(p.Text, `name="shared"`) {
		t.Error("an analyst may share views")
	}
	s.Want(s.Post(dashboardtest.At+"/views", "name", "Mine", "query", "", "shared", "on"), http.StatusUnprocessableEntity, "does not permit to share views")
}

func TestExportHasAllContractsThatMatchAndNoFormula(t *testing.T) {
	list := make([]contract.Contract, 1203)
	for i := range list {
		list[i] = monthlyContract(contract.ID(9001+i), "=1+1")
	}
	list[7].Status = contract.Paused
	s := openContracts(t, list...)
	p := s.Get(contractsPath + ".csv?status=ACTIVE&columns=status&sort=id,desc")
	if n := strings.Count(p.Text, "\r\n"); p.Status != http.StatusOK || n != 1203 || strings.Contains(p.Text, "9008,") {
		t.Errorf("%d rows, %d", n, p.Status)
	}
	s.Want(p, http.StatusOK, "9001,'=1+1,c9001@shopper.example,ACTIVE,#1001,1 MONTH,1 MONTH,2 Coffee,25.00,EUR,2026-12-01T12:00:00Z")
	if got := p.Header.Get("Content-Disposition"); got != `attachment; filename="contracts-2026-11-25.csv"` {
		t.Error(got)
	}
	whole := s.Get(contractsPath)
	s.Want(whole, http.StatusOK, "of <strong>1203</strong>", `rel="next"`)
	if len(whole.Text) > 60<<10 {
		t.Errorf("the page has %d bytes", len(whole.Text))
	}
	t.Logf("a page of 100 has %d bytes", len(s.Get(contractsPath+"?size=100").Text))
}

func TestViewIsSavedChangedAndDeleted(t *testing.T) {
	s := openContracts(t, monthlyContract(9001, "Ada"), monthlyContract(9002, "Bo"))
	views := dashboardtest.At + "/views"
	s.Want(s.Get(views+"/new?query=customerName%3DAda%26page%3D3"), http.StatusOK, "Save view", `name="query" value="customerName=Ada"`)
	s.Want(s.Post(views, "name", " ", "query", "customerName=Ada"), http.StatusUnprocessableEntity, "A view needs a name", `id="e-name"`)
	p := s.Post(views, "name", canary, "query", "customerName=Ada&columns=status", "shared", "on")
	s.Want(p, http.StatusOK, "The view was saved.", "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}", "shared view", "contracts/9001")
	if strings.Contains(p.Text, "contracts/9002") {
		t.Error("the view shows what it does not find")
	}
	id := regexp.MustCompile(`/views/(\d+)/delete`).FindStringSubmatch(p.Text)
	if id == nil {
		t.Fatalf("the view cannot be deleted:\n%s", p.Text)
	}
	view := views + "/" + id[1]
	s.Want(s.Post(views, "name", canary, "query", ""), http.StatusUnprocessableEntity, "exists already")
	s.Want(s.Get(contractsPath+"?view="+id[1]+"&customerName=Bo"), http.StatusOK, "with changes that are not saved", "contracts/9002")
	s.Want(s.Post(view, "name", "Bo", "query", "customerName=Bo"), http.StatusOK, "The view was changed.", "your view", "contracts/9002")
	s.Want(s.Get(view), http.StatusOK, "Rename view", `value="Bo"`)

	s.Add("al@staff.example", staff.Analyst)
	s.SignIn("al@staff.example")
	s.Want(s.Get(view), http.StatusNotFound, "no longer exists")
	s.Want(s.Post(view+"/delete"), http.StatusNotFound)

	s.SignIn(dashboardtest.Owner)
	s.Want(s.Get(view+"/delete"), http.StatusOK, "Contracts are not changed.")
	s.Want(s.Post(view+"/delete"), http.StatusOK, "The view was deleted.")
	s.Want(s.Post(view+"/delete"), http.StatusNotFound)
}

func TestFindLeadsToContractThatIsNamed(t *testing.T) {
	s := openContracts(t, monthlyContract(9001, "Ada Khan"), monthlyContract(9002, canary))
	find := dashboardtest.At + "/find?find="
	for _, words := range []string{"9001", "%231001", "1001", "gid://shopify/SubscriptionContract/9001"} {
		if p := s.Get(find + words); p.Path != contractsPath+"/9001" {
			t.Errorf("%s leads to %s", words, p.Path)
		}
	}
	s.Want(s.Get(find+"khan"), http.StatusOK, "Ada Khan", "9001 · #1001 · c9001@shopper.example", `href="/admin/stores/first/contracts?q=khan"`)
	s.Want(s.Get(find+"alert"), http.StatusOK, "&lt;script&gt;alert(1)&lt;/script&gt;{{7*7}}")
	s.Want(s.Get(find+"contr"), http.StatusOK, "Pages", `href="/admin/stores/first/contracts"`)
	s.Want(s.Get(find+"nothing+here"), http.StatusOK, "Nothing found")
	s.Want(s.Get(find), http.StatusOK, "Search for a name")
	s.Want(s.Get(find+strings.Repeat("x", 201)), http.StatusBadRequest, "At most 200 characters")
	part := s.Get(find + "9001&part=1")
	if s.Want(part, http.StatusOK, "Ada Khan", `data-count="1 contract, 0 pages"`); strings.Contains(part.Text, "<html") {
		t.Error("the part of the page is a whole page")
	}
}

func TestContractsOfAnotherStoreAreNotFound(t *testing.T) {
	s := openContracts(t)
	err := s.DB.Update(context.Background(), s.Second.ID, func(tx *store.Tx) error {
		return tx.PutContracts(context.Background(), []contract.Contract{monthlyContract(9001, "Theirs")})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/contracts", "/contracts?q=9001", "/find?find=9001", "/find?find=theirs", "/contracts.csv"} {
		if p := s.Get(dashboardtest.At + path); p.Status != http.StatusOK || strings.Contains(p.Text, "Theirs") {
			t.Errorf("%s shows a contract of another store: %d", path, p.Status)
		}
	}
	s.Want(s.Get("/admin/stores/second/contracts"), http.StatusNotFound, "Store not found")
}
