package admin

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/web"
)

// send serves a request that a client could send, or reports false.
func send(t *testing.T, f *fakes, method, path, query, body string) (*httptest.ResponseRecorder, bool) {
	t.Helper()
	s := serve(t, f)
	r := &http.Request{
		Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{"X-Api-Key": {fullKey}, "X-Request-Id": {"req-1"}},
		Body: http.NoBody, RemoteAddr: "192.0.2.1:1", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if body != "" {
		r.Body = io.NopCloser(strings.NewReader(body))
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r.WithContext(t.Context()))
	if w.Code != 200 && w.Code != 400 && w.Code != 404 {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	if w.Code != 200 {
		checkProblem(t, w, w.Code)
	}
	return w, w.Code == 200
}

// Whatever the query, the answer is a success or names what is wrong, and the
// store is asked only for what it knows, in words that a database keeps.
func FuzzActivityLogQuery(f *testing.F) {
	for _, seed := range []string{
		"", "entityId.in=1,2&status.equals=success", "createAt.equals=2025-01-31", "createAt.greaterThan=2025-01-31T10:00:00+02:00",
		"page=1&size=10&sort=createAt,desc", "pageable.sort=entity_id,asc", "additionalInfo.contains=%00", "status.like=x", "a=%zz", "id.equals=99999999999999999999", "createAt.lessThan=9999-12-31",
	} {
		f.Add(seed)
	}
	known := map[string]bool{}
	for _, field := range entryFields() {
		known[field.Name] = true
	}
	f.Fuzz(func(t *testing.T, query string) {
		asked := &fakes{}
		if _, ok := send(t, asked, "GET", activityPath, query, ""); !ok {
			return
		}
		if asked.page.Size < 1 || asked.page.Size > 100 || asked.page.Page < 0 || asked.page.Offset() < 0 || len(asked.page.Sort) == 0 {
			t.Errorf("page %+v", asked.page)
		}
		for _, c := range asked.where {
			if !known[c.Field] || len(c.Texts)+len(c.Numbers) == 0 && c.Op != page.Specified {
				t.Errorf("criterion %+v", c)
			}
			for _, text := range c.Texts {
				if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
					t.Errorf("text %q", text)
				}
			}
		}
	})
}

func FuzzContractQuery(f *testing.F) {
	for _, seed := range []string{
		"", "status=active&planType=prepaid", "fromNextDate=2025-01-31&toNextDate=2025-02-28T00:00:00Z", "minOrderAmount=1e11", "productId=gid://shopify/Product/9007199254740991",
		"subscriptionContractId=gid://shopify/SubscriptionContract/42?x", "page=2147483647&size=2000", "sort=orderName,order_amount,desc", "billingPolicyIntervalCount=365",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		asked := &fakes{}
		if _, ok := send(t, asked, "GET", searchPath, query, ""); !ok {
			return
		}
		got := asked.filter
		if asked.page.Size < 1 || asked.page.Size > 2000 || asked.page.Offset() < 0 {
			t.Errorf("page %+v", asked.page)
		}
		if got.NextFrom.IsZero() != got.NextTo.IsZero() || got.ProductID < 0 || got.CustomerID < 0 || got.DeliveryCount < 0 || got.DeliveryCount > 365 || strings.Contains(got.IDPart, "/") && strings.HasPrefix(got.IDPart, "gid:") {
			t.Errorf("filter %+v", got)
		}
	})
}

func FuzzAttemptBody(f *testing.F) {
	for _, seed := range []string{
		`{"id":9}`, `{"id":9,"orderNote":null,"status":"SKIPPED"}`, `{"id":9,"billingDate":"2025-03-10"}`, `{"id":9,"variantList":[{"variantId":12}]}`,
		`{"ID":9,"retryingNeeded":true}`, `{"id":9,"orderNote":"\ud800"}`, `{"id":9,"shop":"demo.myshopify.com","orderAmount":21.0}`, `[]`, `{"id":9}}`, `{"id":9,"id":8}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		asked := &fakes{records: []billing.Record{theRecord()}}
		if _, ok := send(t, asked, "PUT", ordersPath, "", body); !ok {
			if asked.edited != nil {
				t.Error("a refused body was carried out")
			}
			return
		}
		c := asked.edited
		if c.Attempt != 9 || c.Note != nil && (!utf8.ValidString(*c.Note) || strings.ContainsRune(*c.Note, 0)) {
			t.Errorf("command %+v", c)
		}
		if c.BillingDate != nil && (c.BillingDate.Year() < 1900 || c.BillingDate.Location() != time.UTC) {
			t.Errorf("date %v", c.BillingDate)
		}
	})
}

func FuzzMoment(f *testing.F) {
	for _, seed := range []string{"2025-01-31", "2025-01-31T10:00:00Z", "2025-01-31T10:00+0200", "2011-12-30", "0000-01-01", "2025-13-01", "9998-12-31"} {
		f.Add(seed)
	}
	apia, err := time.LoadLocation("Pacific/Apia")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := web.ParseMoment("date", text, apia)
		if err != nil {
			return
		}
		if m.To.Before(m.From) || m.IsDay != (len(text) == len(time.DateOnly)) {
			// A day that a zone left out has no instants: nothing lies within it.
			if text != "2011-12-30" {
				t.Errorf("%q is from %v to %v", text, m.From, m.To)
			}
		}
	})
}
