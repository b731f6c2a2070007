package admin

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

const (
	site         = "http://example.com" // of requests that tests make
	searchPath   = "/api/external/v2/subscription-contract-details"
	activityPath = "/api/external/v2/activity-logs"
	ordersPath   = "/api/external/v2/subscription-billing-attempts"
)

func TestInvalidRequestIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	for name, test := range map[string]struct {
		method, target, body string
		headers              []string
		status               int
		key, params, message string // message: a part of it
	}{
		"a request without a key":                       {"GET", searchPath, "", []string{"X-API-Key", ""}, 401, "apiKeyMissing", "", "X-API-Key"},
		"a key that is not known":                       {"GET", searchPath, "", []string{"X-API-Key", "unknown"}, 401, "apiKeyInvalid", "", "not valid"},
		"a bearer token is no key":                      {"GET", searchPath, "", []string{"X-API-Key", "", "Authorization", "Bearer " + fullKey}, 401, "apiKeyMissing", "", ""},
		"the header counts when both are sent":          {"GET", searchPath + "?api_key=" + fullKey, "", []string{"X-API-Key", "unknown"}, 401, "apiKeyInvalid", "", ""},
		"a key given twice in the query is none":        {"GET", searchPath + "?api_key=" + fullKey + "&api_key=" + fullKey, "", []string{"X-API-Key", ""}, 401, "apiKeyMissing", "", ""},
		"a missing scope is named":                      {"GET", searchPath, "", []string{"X-API-Key", noneKey}, 403, "insufficientScope", "contracts:read", "contracts:read"},
		"charging needs its own scope":                  {"PUT", ordersPath + "/attempt-billing/9", "", []string{"X-API-Key", memberKey}, 403, "insufficientScope", "billing:charge", ""},
		"the scope is checked before the parameters":    {"GET", searchPath + "?page=x", "", []string{"X-API-Key", noneKey}, 403, "insufficientScope", "contracts:read", ""},
		"an unknown path":                               {"GET", "/api/external/v2/nothing", "", nil, 404, "pathNotFound", "", "/nothing"},
		"an untidy path":                                {"GET", "/api/external/v2//activity-logs", "", nil, 404, "pathNotFound", "", ""},
		"a path with dots":                              {"GET", "/api/../api/external/v2/activity-logs", "", nil, 404, "pathNotFound", "", ""},
		"the wrong method":                              {"DELETE", searchPath, "", nil, 405, "methodNotAllowed", "", "GET"},
		"a preflight is a wrong method":                 {"OPTIONS", searchPath, "", nil, 405, "methodNotAllowed", "", ""},
		"a page that is no number":                      {"GET", searchPath + "?page=x", "", nil, 400, "invalid", "page", "whole number"},
		"a negative page":                               {"GET", searchPath + "?page=-1", "", nil, 400, "invalid", "page", "at least 0"},
		"a page beyond 64 bits":                         {"GET", searchPath + "?page=99999999999999999999", "", nil, 400, "invalid", "page", "64-bit"},
		"a size of zero":                                {"GET", searchPath + "?size=0", "", nil, 400, "invalid", "size", "at least 1"},
		"a size past the search's maximum":              {"GET", searchPath + "?size=2001", "", nil, 400, "pageTooLarge", "size", "2000"},
		"a size past the log's maximum":                 {"GET", activityPath + "?pageable.size=101", "", nil, 400, "pageTooLarge", "size", "100"},
		"two spellings that differ":                     {"GET", searchPath + "?size=1&pageable.size=2", "", nil, 400, "invalid", "size", "differ"},
		"a scalar that is repeated":                     {"GET", searchPath + "?status=ACTIVE&status=PAUSED", "", nil, 400, "invalid", "status", "2 times"},
		"a sort without a field":                        {"GET", searchPath + "?sort=,asc", "", nil, 400, "sortField", "sort", "names no field"},
		"a sort field that is not on the list":          {"GET", searchPath + "?sort=password,desc", "", nil, 400, "sortField", "sort", "next_billing_date"},
		"a name that is not UTF-8":                      {"GET", searchPath + "?customerName=%ff", "", nil, 400, "invalid", "customerName", "UTF-8"},
		"a name with a NUL":                             {"GET", searchPath + "?customerName=a%00b", "", nil, 400, "invalid", "customerName", "NUL"},
		"an unknown parameter that is not UTF-8":        {"GET", searchPath + "?whatever=%ff", "", nil, 400, "invalid", "whatever", "UTF-8"},
		"a query that is not well formed":               {"GET", searchPath + "?status=%zz", "", nil, 400, "invalid", "", "percent"},
		"a NUL in the path":                             {"PUT", ordersPath + "/skip-order/9%00", "", nil, 400, "invalid", "", "NUL"},
		"a path id that is no number":                   {"PUT", ordersPath + "/skip-order/nine", "", nil, 400, "invalid", "id", "whole number"},
		"a path id beyond 64 bits":                      {"PUT", ordersPath + "/skip-order/9223372036854775808", "", nil, 400, "invalid", "id", "64-bit"},
		"a path id beyond 53 bits":                      {"PUT", ordersPath + "/skip-order/9007199254740992", "", nil, 400, "invalid", "id", "at most 9007199254740991"},
		"a path id of zero":                             {"PUT", ordersPath + "/attempt-billing/0", "", nil, 400, "invalid", "id", "at least 1"},
		"an unknown contract status":                    {"GET", searchPath + "?status=SLEEPING", "", nil, 400, "invalid", "status", "ACTIVE"},
		"an interval that is none":                      {"GET", searchPath + "?billingPolicyInterval=DECADE", "", nil, 400, "invalid", "billingPolicyInterval", "WEEK"},
		"an interval count of 366":                      {"GET", searchPath + "?billingPolicyIntervalCount=366", "", nil, 400, "invalid", "billingPolicyIntervalCount", "365"},
		"an interval count of 0":                        {"GET", searchPath + "?billingPolicyIntervalCount=0", "", nil, 400, "invalid", "billingPolicyIntervalCount", "at least 1"},
		"a plan type that is none":                      {"GET", searchPath + "?planType=paid", "", nil, 400, "invalid", "planType", "non-prepaid"},
		"a record type that is none":                    {"GET", searchPath + "?recordType=stolen", "", nil, 400, "invalid", "recordType", "nonImported"},
		"an amount that is no number":                   {"GET", searchPath + "?minOrderAmount=NaN", "", nil, 400, "invalid", "minOrderAmount", "number"},
		"an amount beyond all prices":                   {"GET", searchPath + "?maxOrderAmount=1e300", "", nil, 400, "invalid", "maxOrderAmount", ""},
		"a negative amount":                             {"GET", searchPath + "?minOrderAmount=-1", "", nil, 400, "invalid", "minOrderAmount", ""},
		"a date that is none":                           {"GET", searchPath + "?fromCreatedDate=yesterday", "", nil, 400, "invalid", "fromCreatedDate", "2025-01-31"},
		"a date without a zone":                         {"GET", searchPath + "?fromCreatedDate=2025-01-31T10:00:00", "", nil, 400, "invalid", "fromCreatedDate", ""},
		"a day that does not exist":                     {"GET", searchPath + "?toCreatedDate=2025-02-30", "", nil, 400, "invalid", "toCreatedDate", ""},
		"fromNextDate alone":                            {"GET", searchPath + "?fromNextDate=2025-01-31", "", nil, 400, "nextDateRange", "toNextDate", "together"},
		"toNextDate alone":                              {"GET", searchPath + "?toNextDate=2025-01-31", "", nil, 400, "nextDateRange", "fromNextDate", "together"},
		"a graph id of something else":                  {"GET", searchPath + "?productId=gid://shopify/Order/1", "", nil, 400, "invalid", "productId", "Product"},
		"a contract's graph id of something else":       {"GET", searchPath + "?subscriptionContractId=gid://shopify/Order/1", "", nil, 400, "invalid", "subscriptionContractId", ""},
		"a name that is too long":                       {"GET", searchPath + "?customerName=" + long, "", nil, 400, "invalid", "customerName", "255"},
		"an unknown suffix":                             {"GET", activityPath + "?status.like=x", "", nil, 400, "criterion", "status.like", "notEquals"},
		"a suffix that the field's type does not allow": {"GET", activityPath + "?eventType.contains=x", "", nil, 400, "criterion", "eventType.contains", "specified"},
		"an unknown value of an enum":                   {"GET", activityPath + "?eventType.in=EMAIL,GHOST", "", nil, 400, "invalid", "eventType.in", "GHOST"},
		"an entity id that is no number":                {"GET", activityPath + "?entityId.equals=x", "", nil, 400, "invalid", "entityId.equals", ""},
		"a criterion that is repeated":                  {"GET", activityPath + "?entityId.equals=1&entityId.equals=2", "", nil, 400, "invalid", "entityId.equals", "2 times"},
		"a criterion without a value":                   {"GET", activityPath + "?activityBy.contains=", "", nil, 400, "invalid", "activityBy.contains", "empty"},
		"specified is neither true nor false":           {"GET", activityPath + "?clientIp.specified=maybe", "", nil, 400, "invalid", "clientIp.specified", "true"},
		"another shop's log":                            {"GET", activityPath + "?shop.equals=other.myshopify.com", "", nil, 400, "shopMismatch", "shop.equals", "demo.myshopify.com"},
		"orders without contract or customer": {"GET", ordersPath + "/top-orders", "", nil, 400, "parameterMissing", "contractId",
			"Required request parameter 'contractId' for method parameter type Long is not present"},
		"a change to no variant": {"PUT", base + "/subscription-contract-update-variant?contractId=9001&oldLineId=l1", "", nil, 400, "parameterMissing", "newVariantId",
			"Required request parameter 'newVariantId' for method parameter type String is not present"},
		"orders of a contract and a customer":       {"GET", ordersPath + "/past-orders?contractId=1&customerId=2", "", nil, 400, "invalid", "customerId", "not both"},
		"orders of a contract that is no number":    {"GET", ordersPath + "/past-orders?contractId=abc", "", nil, 400, "invalid", "contractId", ""},
		"orders sorted by what is not on the list":  {"GET", ordersPath + "/past-orders?contractId=1&sort=note", "", nil, 400, "sortField", "sort", "billingDate"},
		"isPrepaid is neither true nor false":       {"PUT", ordersPath + "/skip-order/9?isPrepaid=maybe", "", nil, 400, "invalid", "isPrepaid", ""},
		"a contract to skip that is no number":      {"PUT", ordersPath + "/skip-order/9?subscriptionContractId=x", "", nil, 400, "invalid", "subscriptionContractId", ""},
		"a body is needed":                          {"PUT", ordersPath, "  ", nil, 400, "bodyMissing", "", "JSON body"},
		"a body that is a list":                     {"PUT", ordersPath, "[]", nil, 400, "bodyMalformed", "", "object"},
		"a body that is cut off":                    {"PUT", ordersPath, `{"id":9`, nil, 400, "bodyMalformed", "", "ends too early"},
		"two bodies":                                {"PUT", ordersPath, `{"id":9}{"id":10}`, nil, 400, "bodyMalformed", "", "JSON"},
		"a body that is not UTF-8":                  {"PUT", ordersPath, "{\"id\":9,\"orderNote\":\"\xff\"}", nil, 400, "invalid", "", "UTF-8"},
		"a body that claims to be XML":              {"PUT", ordersPath, `{"id":9}`, []string{"Content-Type", "application/xml"}, 415, "contentType", "Content-Type", "application/xml"},
		"a body that claims to be text":             {"PUT", ordersPath, `{"id":9}`, []string{"Content-Type", "text/plain"}, 415, "contentType", "Content-Type", "application/json"},
		"a form in the place of JSON":               {"PUT", ordersPath, `id=9`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 400, "bodyMalformed", "", "JSON object"},
		"a media type that is none":                 {"PUT", ordersPath, `{"id":9}`, []string{"Content-Type", ";"}, 415, "contentType", "Content-Type", "application/json"},
		"JSON under a name of its own":              {"PUT", ordersPath, `{"id":"9"}`, []string{"Content-Type", "application/merge-patch+json; charset=utf-8"}, 400, "bodyField", "id", "a string"},
		"a body with a character too many":          {"PUT", ordersPath, `{"id":}`, nil, 400, "bodyMalformed", "", "unexpected character at byte 7"},
		"a truth value for an id":                   {"PUT", ordersPath, `{"id":true}`, nil, 400, "bodyField", "id", "a boolean"},
		"an object for an id":                       {"PUT", ordersPath, `{"id":{}}`, nil, 400, "bodyField", "id", "an object"},
		"a body that is compressed":                 {"PUT", ordersPath, "\x1f\x8b\x08\x00", []string{"Content-Encoding", "gzip"}, 415, "contentEncoding", "Content-Encoding", "gzip"},
		"a body that is compressed twice":           {"PUT", ordersPath, `{"id":9}`, []string{"Content-Encoding", "identity, br"}, 415, "contentEncoding", "Content-Encoding", "br"},
		"a note with an escaped NUL":                {"PUT", ordersPath, `{"id":9,"orderNote":"a\u0000b"}`, nil, 400, "invalid", "orderNote", "NUL"},
		"a body over the limit":                     {"PUT", ordersPath, `{"id":9,"x":"` + strings.Repeat("x", web.MaxBody) + `"}`, nil, 413, "bodyTooLarge", "", "1048576"},
		"a body without an id":                      {"PUT", ordersPath, `{"orderNote":"x"}`, nil, 400, "bodyField", "id", "required"},
		"a body with an id beyond 64 bits":          {"PUT", ordersPath, `{"id":99999999999999999999}`, nil, 400, "bodyField", "id", "number"},
		"a body with an id in quotes":               {"PUT", ordersPath, `{"id":"9"}`, nil, 400, "bodyField", "id", "string"},
		"a body of another shop":                    {"PUT", ordersPath, `{"id":9,"shop":"other.myshopify.com"}`, nil, 400, "shopMismatch", "shop", ""},
		"an unknown attempt status":                 {"PUT", ordersPath, `{"id":9,"status":"DREAMING"}`, nil, 400, "invalid", "status", "DREAMING"},
		"a status of null":                          {"PUT", ordersPath, `{"id":9,"status":null}`, nil, 400, "bodyField", "status", "empty"},
		"a billing date of null":                    {"PUT", ordersPath, `{"id":9,"billingDate":null}`, nil, 400, "bodyField", "billingDate", "empty"},
		"a year that is too far away":               {"PUT", ordersPath, `{"id":9,"billingDate":"9999-12-31"}`, nil, 400, "invalid", "billingDate", "from 1900 to 9998"},
		"an instant that is too far away":           {"GET", searchPath + "?toCreatedDate=9999-12-31T00:00:00Z", "", nil, 400, "invalid", "toCreatedDate", "from 1900 to 9998"},
		"a billing date that is none":               {"PUT", ordersPath, `{"id":9,"billingDate":"soon"}`, nil, 400, "invalid", "billingDate", "soon"},
		"an attempt that does not exist":            {"PUT", ordersPath, `{"id":10,"orderNote":"x"}`, nil, 404, "billingAttemptNotFound", "", "10"},
		"a field that belongs to the service":       {"PUT", ordersPath, `{"id":9,"orderAmount":1}`, nil, 400, "fieldReadOnly", "orderAmount", "orderAmount"},
		"a variant that belongs to the service":     {"PUT", ordersPath, `{"id":9,"variantList":[{"variantId":99}]}`, nil, 400, "fieldReadOnly", "variantList", ""},
		"a time that belongs to the service":        {"PUT", ordersPath, `{"id":9,"attemptTime":"2025-01-31T00:00:00Z"}`, nil, 400, "fieldReadOnly", "attemptTime", ""},
		"a flag that is no boolean":                 {"PUT", ordersPath, `{"id":9,"retryingNeeded":"yes"}`, nil, 400, "bodyField", "retryingNeeded", "string"},
		"an e-mail status belongs to the service":   {"PUT", ordersPath, `{"id":9,"upcomingOrderEmailSentStatus":"SENT"}`, nil, 400, "fieldReadOnly", "upcomingOrderEmailSentStatus", ""},
		"the validation comes before the existence": {"PUT", ordersPath, `{"id":10,"status":"DREAMING"}`, nil, 400, "invalid", "status", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{records: []billing.Record{theRecord()}})
			w := s.ask(test.method, test.target, test.body, test.headers...)
			checkProblem(t, w, test.status)
			p := webtest.Problem(t, w)
			if p.ErrorKey != test.key || deref(p.Params) != test.params || !strings.Contains(p.Message, test.message) {
				t.Errorf("errorKey %q params %q message %q, want %q %q %q", p.ErrorKey, deref(p.Params), p.Message, test.key, test.params, test.message)
			}
			if s.skipped != nil || s.edited != nil || s.trigger != nil || s.touched() {
				t.Error("the domain was asked to change something")
			}
		})
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// checkProblem checks what every refusal has in common.
func checkProblem(t *testing.T, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	if w.Code != status || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("answered %d %s %s, want %d", w.Code, w.Header().Get("Content-Type"), w.Body, status)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"type", "title", "status", "detail", "message", "error", "errorKey", "entityName", "params", "path", "requestId"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("the body has no %s", name)
		}
		delete(fields, name)
	}
	if status == http.StatusForbidden { // names what is missing
		delete(fields, "required")
	}
	if len(fields) > 0 {
		t.Errorf("the body has more fields: %v", fields)
	}
	p := webtest.Problem(t, w)
	if p.Status != status || p.Detail != p.Message || p.Message == "" || p.Title == "" || p.Reason != http.StatusText(status) ||
		p.Type != "urn:perennial:problem:"+p.ErrorKey || p.RequestID != "req-1" || w.Header().Get("X-Request-Id") != "req-1" || p.Path == "" {
		t.Errorf("problem %+v", p)
	}
	if w.Header().Get("RateLimit-Limit") != "40" || w.Header().Get("RateLimit-Remaining") == "" || w.Header().Get("RateLimit-Reset") == "" {
		t.Errorf("rate limit headers %v", w.Header())
	}
	if (status == 401 || status == 403) != (w.Header().Get("WWW-Authenticate") != "") {
		t.Errorf("WWW-Authenticate %q", w.Header().Get("WWW-Authenticate"))
	}
	if (status == 405) != (w.Header().Get("Allow") != "") {
		t.Errorf("Allow %q", w.Header().Get("Allow"))
	}
}

func TestDomainFaultBecomesProblem(t *testing.T) {
	t.Parallel()
	busy := "Another billing operation is already in progress"
	for name, test := range map[string]struct {
		err        error
		status     int
		key        string
		message    string
		retryAfter bool
	}{
		"a broken rule":                       {fault.New(fault.FailedPrecondition, "attempt 9 is SUCCESS").Entity("subscriptionBillingAttempt").Code("billingAttemptStatus"), 400, "billingAttemptStatus", "attempt 9 is SUCCESS", false},
		"a change in the way":                 {fault.New(fault.Conflict, "%s", busy), 409, "conflict", busy, true},
		"something that is away":              {fault.New(fault.Unavailable, "the database is away"), 503, "unavailable", "the database is away", true},
		"a used up quota":                     {fault.New(fault.RateLimited, "later"), 429, "tooMany", "later", true},
		"a bug shows nothing of itself":       {errors.New("secret dsn"), 500, "internal", "request id", false},
		"a known bug shows nothing of itself": {fault.Because(fault.Internal, errors.New("secret dsn"), "secret zone"), 500, "internal", "request id", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{err: test.err})
			w := s.ask("PUT", ordersPath+"/attempt-billing/9", "")
			checkProblem(t, w, test.status)
			if p := webtest.Problem(t, w); p.ErrorKey != test.key || !strings.Contains(p.Message, test.message) || strings.Contains(p.Message, "secret") {
				t.Errorf("errorKey %q message %q", p.ErrorKey, p.Message)
			}
			if (w.Header().Get("Retry-After") != "") != test.retryAfter {
				t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
			}
			if log := s.log.String(); strings.Count(log, "msg=request") != 1 || strings.Contains(log, "level=ERROR") != (test.status >= 500) || !strings.Contains(log, "error=") {
				t.Errorf("log %s", log)
			}
		})
	}
}

func TestProblemMediaTypeFollowsAcceptHeader(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/nothing", searchPath + "?page=x", ordersPath + "/attempt-billing/9"} {
		s := serve(t, &fakes{err: fault.New(fault.FailedPrecondition, "no")})
		method := "GET"
		if strings.HasPrefix(target, ordersPath) {
			method = "PUT"
		}
		w := s.ask(method, target, "", "Accept", "application/problem+json, application/json;q=0.5")
		if got := w.Header().Get("Content-Type"); got != "application/problem+json" || w.Code < 400 {
			t.Errorf("%s answered %d as %s", target, w.Code, got)
		}
	}
	if got := serve(t, &fakes{}).ask("GET", "/nothing", "", "Accept", "application/json, application/problem+json;q=0").Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("a client that refuses problems got %s", got)
	}
	w := serve(t, &fakes{}).ask("GET", searchPath, "", "Accept", "application/problem+json")
	if got := w.Header().Get("Content-Type"); got != "application/json" || w.Code != 200 {
		t.Errorf("a success answered %d as %s", w.Code, got)
	}
}

func TestPanicAnswersInternalError(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{block: func() { panic("secret") }})
	w := s.ask("GET", searchPath, "")
	checkProblem(t, w, 500)
	if strings.Contains(w.Body.String(), "secret") || !strings.Contains(s.log.String(), "secret") || !strings.Contains(s.log.String(), "status=500") {
		t.Errorf("body %s\nlog %s", w.Body, s.log)
	}
}

func TestKeysAreAbsentFromLogAndLinks(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{total: 100})
	w := s.ask("GET", searchPath+"/?api_key="+fullKey+"&size=10&status=active", "", "X-API-Key", "")
	if w.Code != 200 || w.Header().Get("Deprecation") == "" {
		t.Errorf("answered %d, Deprecation %q", w.Code, w.Header().Get("Deprecation"))
	}
	if log := s.log.String(); strings.Contains(log, fullKey) || !strings.Contains(log, "shop=7") || !strings.Contains(log, "key=3") || !strings.Contains(log, "requestId=req-1") {
		t.Errorf("log %s", log)
	}
	link := w.Header().Get("Link")
	want := `<` + site + searchPath + `/?page=0&size=10&status=active>; rel="first", <` + site + searchPath + `/?page=9&size=10&status=active>; rel="last", <` + site + searchPath + `/?page=1&size=10&status=active>; rel="next"`
	if link != want {
		t.Errorf("Link\n%s, want\n%s", link, want)
	}
	if s.ask("GET", searchPath, "").Header().Get("Deprecation") != "" {
		t.Error("the header is not deprecated")
	}
}

func TestRateLimitPrecedesScopeCheck(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{})
	for i := range 40 {
		w := s.ask("GET", searchPath, "", "X-API-Key", noneKey)
		if w.Code != 403 || w.Header().Get("RateLimit-Remaining") != []string{"39", "38"}[min(i, 1)] && i < 2 {
			t.Fatalf("request %d answered %d with %s left", i, w.Code, w.Header().Get("RateLimit-Remaining"))
		}
	}
	w := s.ask("GET", searchPath, "", "X-API-Key", noneKey)
	checkProblem(t, w, 429)
	if w.Header().Get("Retry-After") != "1" || w.Header().Get("RateLimit-Remaining") != "0" || w.Header().Get("RateLimit-Reset") != "4" {
		t.Errorf("headers %v", w.Header())
	}
	if w := s.ask("GET", searchPath, "", "X-API-Key", "unknown"); w.Code != 401 {
		t.Errorf("an unknown key answered %d: it must not reveal the rate limit of other keys", w.Code)
	}
	s.clock.Set(noon().Add(1e9))
	if w := s.ask("GET", searchPath, "", "X-API-Key", noneKey); w.Code != 403 {
		t.Errorf("after a second: %d", w.Code)
	}
}

func TestEachLineReadsItsOwnData(t *testing.T) {
	t.Parallel()
	f := &fakes{}
	s := serveLine(t, f, shop.Memberships)
	if w := s.ask("GET", searchPath, "", "X-API-Key", memberKey); w.Code != 200 || f.filter.Line != shop.Memberships {
		t.Errorf("answered %d for the line %q", w.Code, f.filter.Line)
	}
	if w := s.ask("GET", ordersPath+"/top-orders?contractId=1", "", "X-API-Key", memberKey); w.Code != 200 || f.question.Line != shop.Memberships {
		t.Errorf("answered %d for the line %q", w.Code, f.question.Line)
	}
	if w := s.ask("PUT", ordersPath+"/skip-order/9", ""); w.Code != 200 || f.skipped.Line != shop.Memberships {
		t.Errorf("answered %d: %+v", w.Code, f.skipped)
	}
	if w := s.ask("PUT", ordersPath, `{"id":9}`); w.Code != 404 {
		t.Errorf("another line's attempt answered %d", w.Code)
	}
	w := serve(t, &fakes{}).ask("GET", searchPath, "", "X-API-Key", memberKey)
	if p := webtest.Problem(t, w); w.Code != 403 || deref(p.Params) != "contracts:read" {
		t.Errorf("answered %d %v", w.Code, p)
	}
}

func TestMissingOrInvalidRequestIDIsReplaced(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{})
	made := s.ask("GET", searchPath, "", "X-Request-Id", "").Header().Get("X-Request-Id")
	again := s.ask("GET", searchPath, "", "X-Request-Id", "").Header().Get("X-Request-Id")
	if len(made) < 20 || made == again {
		t.Errorf("made %q and %q", made, again)
	}
	for _, bad := range []string{"a b", "x\"y", strings.Repeat("x", 129), "é"} {
		if got := s.ask("GET", searchPath, "", "X-Request-Id", bad).Header().Get("X-Request-Id"); got == bad {
			t.Errorf("repeated %q", bad)
		}
	}
}

func TestResponseForbidsOtherOriginsAndCaching(t *testing.T) {
	t.Parallel()
	w := serve(t, &fakes{}).ask("GET", searchPath, "", "Origin", "https://evil.example")
	for name := range w.Header() {
		if strings.HasPrefix(name, "Access-Control") {
			t.Errorf("%s is set", name)
		}
	}
	if !slices.Contains(w.Header()["Cache-Control"], "no-store") {
		t.Error("customers' data may be cached")
	}
}
