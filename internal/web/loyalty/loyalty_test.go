package loyalty

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

func TestCommittedDocumentMatchesCode(t *testing.T) {
	t.Parallel()
	webtest.Committed(t, "loyalty.yaml", "loyalty", newAPI(options(&fakes{})))
}

func TestDocumentDescribesEveryField(t *testing.T) {
	t.Parallel()
	webtest.Described(t, newAPI(options(&fakes{})).Document())
}

func TestDocumentListsExactlyTheRoutes(t *testing.T) {
	t.Parallel()
	want := []string{
		"GET /api/external/customer-loyalty", "GET /api/external/point-earn-rules", "GET /api/external/point-redeem-rules",
		"GET /api/external/point-transaction-history/{id}", "GET /api/external/top-customers",
		"POST /api/external/add-credits", "POST /api/external/add-points", "POST /api/external/enroll-customer", "POST /api/external/redeem-points", "POST /api/external/remove-points",
		"PUT /api/external/approve-pending-transactions", "PUT /api/external/update-discount-code-status",
	}
	s := serve(t, &fakes{})
	doc := webtest.Valid(t, s.ask("GET", Docs+"/openapi.json", "").Body.Bytes())
	var got []string
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			got = append(got, method+" "+path)
			if op.Extensions["x-scope"] == nil {
				t.Errorf("%s %s names no scope", method, path)
			}
			for key, status := range map[string]int{"": http.StatusUnauthorized, otherKey: http.StatusForbidden} {
				if w := s.ask(method, strings.ReplaceAll(path, "{id}", "1"), "{}", "X-API-Key", key); w.Code != status {
					t.Errorf("%s %s with the key %q answered %d, want %d", method, path, key, w.Code, status)
				}
			}
			if w := s.ask(method, strings.ReplaceAll(path, "{id}", "1"), "{}", "X-API-Key", readKey); (w.Code == http.StatusForbidden) != (method != "GET") {
				t.Errorf("%s %s with a key that may read answered %d", method, path, w.Code)
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

func TestReferenceShowsOperations(t *testing.T) {
	t.Parallel()
	o := options(&fakes{})
	api := newAPI(o)
	pages := webtest.Reference(t, api.Handler(o.Frame), Docs, api.Document())
	for _, want := range []string{"/api/external/customer-loyalty", "loyalty:write", "rewardedForNewsLetter", `-H &#34;X-API-Key: $API_KEY&#34;`} {
		if !strings.Contains(pages, want) {
			t.Errorf("the reference does not show %q", want)
		}
	}
}

func TestMemberMatchesGoldenFile(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{member: theMember()})
	webtest.Golden(t, "member.json", s.ask("GET", Base+"/customer-loyalty?customerId=7001", "").Body.Bytes())
	bare := serve(t, &fakes{member: loyalty.Member{Account: loyalty.Account{Person: loyalty.Person{Customer: 7}, Status: loyalty.Excluded, EnrolledAt: noon()}}})
	webtest.Golden(t, "member-bare.json", bare.ask("GET", Base+"/customer-loyalty?customerId=7", "").Body.Bytes())
}

func TestMemberHasEveryField(t *testing.T) {
	t.Parallel()
	var got struct {
		Rewards []map[string]json.RawMessage `json:"rewards"`
	}
	var all map[string]json.RawMessage
	body := serve(t, &fakes{member: theMember()}).ask("GET", Base+"/customer-loyalty?customerId=7001", "").Body.Bytes()
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(`availablePoints pendingPoints creditedPoints spentAmount storeCreditBalance expiringPointsAmount achievableTierId
		referredCompleted currentVipTier referralLink vipTierExpiredAt createAt pointsExpireAt dob customerStatus rewardedForFacebook rewardedForInstagram rewardedForTwitter
		rewardedForPinterest rewardedForYoutube rewardedForTiktok rewardedForNewsLetter rewardedForSms rewardedForCreatingAccount rewardedForSharingOnFacebook rewardedForSharingOnX rewards`) {
		if _, ok := all[field]; !ok {
			t.Errorf("the member lacks %s", field)
		}
	}
	for _, field := range strings.Fields("id shop customerId discountCode description status amount createAt usedAt expireDate pointTransactionId pointRedeemRuleId orderId orderName variantId discountCodeId usageCount") {
		if _, ok := got.Rewards[0][field]; !ok {
			t.Errorf("the reward lacks %s", field)
		}
	}
}

func TestCustomerIsNamedByIDOrEmail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		query    string
		who      loyalty.CustomerRef
		standing loyalty.RewardStatus
	}{
		"by number":                         {"customerId=7001", loyalty.CustomerRef{Customer: 7001}, ""},
		"by number, as the interface says":  {"shop=Demo.myshopify.com&customer_id=7001", loyalty.CustomerRef{Customer: 7001}, ""},
		"by graph id":                       {"customerId=gid://shopify/Customer/7001", loyalty.CustomerRef{Customer: 7001}, ""},
		"by address":                        {"customerEmail=Ada@Example.com", loyalty.CustomerRef{Email: "Ada@Example.com"}, ""},
		"by address, in the other spelling": {"customer_email=ada@example.com", loyalty.CustomerRef{Email: "ada@example.com"}, ""},
		"by both":                           {"customerId=7001&customerEmail=ada@example.com", loyalty.CustomerRef{Customer: 7001, Email: "ada@example.com"}, ""},
		"both spellings may agree":          {"customerId=7001&customer_id=7001", loyalty.CustomerRef{Customer: 7001}, ""},
		"rewards of one status":             {"customerId=7001&status=unused", loyalty.CustomerRef{Customer: 7001}, loyalty.Unused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{member: theMember()})
			w := s.ask("GET", Base+"/customer-loyalty?"+test.query, "")
			if w.Code != http.StatusOK || s.of != 7 || s.who != test.who || s.standing != test.standing {
				t.Errorf("answered %d for shop %d: %+v %q", w.Code, s.of, s.who, s.standing)
			}
		})
	}
}

func TestChangesSendCommands(t *testing.T) {
	t.Parallel()
	ada := loyalty.CustomerRef{Customer: 7001}
	for name, test := range map[string]struct {
		method, path, body string
		want               any
	}{
		"points are added":                    {"POST", "/add-points", `{"customerId":7001,"points":150.5,"note":"thanks"}`, loyalty.PointsCommand{Who: ada, Points: 15050, Note: "thanks", Actor: by()}},
		"a rule says how many":                {"POST", "/add-points", `{"customerId":"7001","earnRuleId":5}`, loyalty.PointsCommand{Who: ada, Rule: 5, Actor: by()}},
		"points are removed":                  {"POST", "/remove-points", `{"customerId":"gid://shopify/Customer/7001","points":3,"shop":"demo.myshopify.com"}`, loyalty.PointsCommand{Who: ada, Points: 300, Actor: by()}},
		"a transaction is taken back":         {"POST", "/remove-points", `{"customerEmail":" ada@example.com ","transactionId":29}`, loyalty.PointsCommand{Who: loyalty.CustomerRef{Email: "ada@example.com"}, Entry: 29, Actor: by()}},
		"a reward is taken":                   {"POST", "/redeem-points", `{"customerId":7001,"pointRedeemRuleId":1}`, loyalty.RedeemCommand{Who: ada, Rule: 1, Actor: by()}},
		"a reward for so many points":         {"POST", "/redeem-points", `{"customerId":7001,"points":500}`, loyalty.RedeemCommand{Who: ada, Points: 50000, Actor: by()}},
		"a reward is taken by the other name": {"POST", "/redeem-points", `{"customerId":7001,"redeemRuleId":1}`, loyalty.RedeemCommand{Who: ada, Rule: 1, Actor: by()}},
		"a reward of chosen size is taken":    {"POST", "/redeem-points", `{"customerId":7001,"pointRedeemRuleId":3,"points":250}`, loyalty.RedeemCommand{Who: ada, Rule: 3, Points: 25000, Actor: by()}},
		"a customer is enrolled":              {"POST", "/enroll-customer", `{"customerId":7001,"firstName":"Ada","dob":"1990-02-28"}`, loyalty.EnrolCommand{Who: ada, FirstName: "Ada", Born: "1990-02-28", Actor: by()}},
		"store credit is given":               {"POST", "/add-credits", `{"customerId":7001,"amount":7.5}`, loyalty.CreditCommand{Who: ada, Amount: 750, Actor: by()}},
		"store credit in the other word":      {"POST", "/add-credits", `{"customerId":7001,"points":7.5}`, loyalty.CreditCommand{Who: ada, Amount: 750, Actor: by()}},
		"store credit in both words":          {"POST", "/add-credits", `{"customerId":7001,"points":7.5,"amount":7.50}`, loyalty.CreditCommand{Who: ada, Amount: 750, Actor: by()}},
		"pending points are approved":         {"PUT", "/approve-pending-transactions", `{"customerId":7001}`, loyalty.ApproveCommand{Who: ada, Actor: by()}},
		"some of them":                        {"PUT", "/approve-pending-transactions", `{"customerId":7001,"transactionIds":[29,30]}`, loyalty.ApproveCommand{Who: ada, Entries: []loyalty.EntryID{29, 30}, Actor: by()}},
		"a code was used":                     {"PUT", "/update-discount-code-status", `{"discountCode":"LOYAL-1","status":"used","orderId":"gid://shopify/Order/77","orderName":"#77"}`, loyalty.RewardCommand{Code: "LOYAL-1", Status: loyalty.StatusUsed, Order: 77, OrderName: "#77", Actor: by()}},
		"a reward is given back":              {"PUT", "/update-discount-code-status", `{"id":31,"status":"REFUNDED"}`, loyalty.RewardCommand{Reward: 31, Status: loyalty.Refunded, Actor: by()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{member: theMember()})
			w := s.ask(test.method, Base+test.path, test.body)
			if diff := cmp.Diff(test.want, s.command); diff != "" || w.Code != http.StatusOK || s.of != 7 {
				t.Errorf("answered %d %s for shop %d (-want +got):\n%s", w.Code, w.Body, s.of, diff)
			}
			if !strings.Contains(w.Body.String(), `"availablePoints":1840.5`) {
				t.Errorf("the answer is not the member: %s", w.Body)
			}
		})
	}
}

func TestInvalidRequestIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 501)
	for name, test := range map[string]struct {
		method, path, body string
		key, param         string
	}{
		"no customer":                     {"GET", "/customer-loyalty", "", "parameterMissing", "customerId"},
		"a customer without digits":       {"GET", "/customer-loyalty?customerId=ada", "", "invalid", "customerId"},
		"two customers":                   {"GET", "/customer-loyalty?customerId=1&customer_id=2", "", "invalid", "customerId"},
		"an address without @":            {"GET", "/customer-loyalty?customerEmail=ada", "", "emailInvalid", "customerEmail"},
		"another store":                   {"GET", "/customer-loyalty?customerId=1&shop=other.myshopify.com", "", "shopMismatch", "shop"},
		"an unknown status":               {"GET", "/customer-loyalty?customerId=1&status=NEW", "", "invalid", "status"},
		"a page that is too large":        {"GET", "/top-customers?size=101", "", "pageTooLarge", "size"},
		"an unknown order":                {"GET", "/top-customers?sort=email", "", "sortField", "sort"},
		"an order of rules":               {"GET", "/point-earn-rules?sort=id", "", "sortField", "sort"},
		"a history without a customer":    {"GET", "/point-transaction-history/ada", "", "invalid", "id"},
		"a body without a customer":       {"POST", "/add-points", `{"points":1}`, "bodyField", "customerId"},
		"a customer of another type":      {"POST", "/add-points", `{"customerId":"gid://shopify/Order/1","points":1}`, "invalid", "customerId"},
		"a body's other store":            {"POST", "/add-points", `{"customerId":1,"points":1,"shop":"other.myshopify.com"}`, "shopMismatch", "shop"},
		"no points":                       {"POST", "/add-points", `{"customerId":1}`, "bodyField", "points"},
		"points of nothing":               {"POST", "/add-points", `{"customerId":1,"points":0}`, "pointsInvalid", "points"},
		"points that are no number":       {"POST", "/add-points", `{"customerId":1,"points":"10"}`, "bodyField", "points"},
		"thousandths of points":           {"POST", "/remove-points", `{"customerId":1,"points":0.001}`, "pointsInvalid", "points"},
		"no rule of that number":          {"POST", "/add-points", `{"customerId":1,"earnRuleId":0}`, "bodyField", "earnRuleId"},
		"a long note":                     {"POST", "/add-points", `{"customerId":1,"points":1,"note":"` + long + `"}`, "bodyField", "note"},
		"two redeem rules":                {"POST", "/redeem-points", `{"customerId":1,"pointRedeemRuleId":1,"redeemRuleId":2}`, "bodyField", "redeemRuleId"},
		"no redeem rule":                  {"POST", "/redeem-points", `{"customerId":1}`, "bodyField", "pointRedeemRuleId"},
		"a day that is none":              {"POST", "/enroll-customer", `{"customerId":1,"dob":"1990-02-30"}`, "bodyField", "dob"},
		"a birth before 1900":             {"POST", "/enroll-customer", `{"customerId":1,"dob":"1899-12-31"}`, "bodyField", "dob"},
		"a birth tomorrow":                {"POST", "/enroll-customer", `{"customerId":1,"dob":"2026-02-01"}`, "bodyField", "dob"},
		"a number and no address":         {"POST", "/add-points", `{"customerId":1,"customerEmail":"ada","points":1}`, "emailInvalid", "customerEmail"},
		"no amount":                       {"POST", "/add-credits", `{"customerId":1}`, "amountInvalid", "amount"},
		"more decimals than the currency": {"POST", "/add-credits", `{"customerId":1,"amount":7.555}`, "amountInvalid", "amount"},
		"an amount below nothing":         {"POST", "/add-credits", `{"customerId":1,"amount":-1}`, "amountInvalid", "amount"},
		"two amounts":                     {"POST", "/add-credits", `{"customerId":1,"amount":7,"points":8}`, "amountInvalid", "amount"},
		"a reward that is not named":      {"PUT", "/update-discount-code-status", `{"status":"USED"}`, "bodyField", "id"},
		"a reward without a status":       {"PUT", "/update-discount-code-status", `{"id":1}`, "bodyField", "status"},
		"a reward with an unknown status": {"PUT", "/update-discount-code-status", `{"id":1,"status":"LOST"}`, "invalid", "status"},
		"a list":                          {"PUT", "/approve-pending-transactions", `[]`, "bodyMalformed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{})
			w := s.ask(test.method, Base+test.path, test.body)
			p := webtest.Problem(t, w)
			param := ""
			if p.Params != nil {
				param = *p.Params
			}
			if w.Code != http.StatusBadRequest || p.ErrorKey != test.key || param != test.param || s.command != nil {
				t.Errorf("answered %d %s at %q: %s", w.Code, p.ErrorKey, param, p.Detail)
			}
		})
	}
}

func TestCustomerWhoIsNoMemberIsNotFound(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{err: loyalty.NotEnrolled(loyalty.CustomerRef{Customer: 1})})
	for _, path := range []string{"/customer-loyalty?customerId=1", "/point-transaction-history/1"} {
		if w := s.ask("GET", Base+path, ""); w.Code != http.StatusNotFound || webtest.Problem(t, w).ErrorKey != "customerNotEnrolled" {
			t.Errorf("%s answered %d %s", path, w.Code, w.Body)
		}
	}
}

func TestTopCustomersArePagedAndSorted(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{top: []loyalty.Account{theMember().Account}, total: 41})
	w := s.ask("GET", Base+"/top-customers/?page=1&size=20", "")
	webtest.Golden(t, "top-customers.json", w.Body.Bytes())
	if w.Header().Get("X-Total-Count") != "41" || strings.Count(w.Header().Get("Link"), "rel=") != 4 || s.page.Page != 1 || s.page.Size != 20 || len(s.page.Sort) != 0 {
		t.Errorf("headers %v, page %+v", w.Header(), s.page)
	}
	for text, want := range map[string]string{
		"customerId": loyalty.FieldCustomer, "customer_id": loyalty.FieldCustomer, "first_name": loyalty.FieldFirstName, "lastName": loyalty.FieldLastName,
		"points_earned": loyalty.FieldEarned, "activities_completed": loyalty.FieldActivities,
	} {
		s.ask("GET", Base+"/top-customers?pageable.sort="+text+",desc", "")
		if diff := cmp.Diff([]page.Sort{{Field: want, Desc: true}}, s.page.Sort); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestListsMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	terms := loyalty.DefaultTerms()
	terms.Earn, terms.Redeem = terms.Earn[1:3], terms.Redeem[1:3]
	terms.Earn[0].Ladder = []loyalty.CycleBonus{{Cycle: 6, Points: 25000}}
	s := serve(t, &fakes{total: 2, program: loyalty.Program{Terms: terms}, entries: []loyalty.Entry{
		{ID: 29, Seq: 2, Kind: loyalty.Spend, Available: -50000, Source: loyalty.Source{Type: loyalty.RewardSource, ID: "31"}, Reward: 31, Description: "5 off an order", Actor: "API key ERP", OccurredAt: noon(), RecordedAt: noon()},
		{ID: 28, Seq: 1, Kind: loyalty.Pend, Pending: 2500, Source: loyalty.Source{Type: loyalty.Renewal, ID: "9"}, Rule: 2, Description: "Renew", Note: "n", AvailableAt: noon(), ExpiresAt: noon(), OccurredAt: noon(), RecordedAt: noon()},
	}})
	webtest.Golden(t, "history.json", s.ask("GET", Base+"/point-transaction-history/gid:%2F%2Fshopify%2FCustomer%2F7001", "").Body.Bytes())
	if s.who.Customer != 7001 {
		t.Errorf("asked for %+v", s.who)
	}
	earn := s.ask("GET", Base+"/point-earn-rules", "")
	webtest.Golden(t, "earn-rules.json", earn.Body.Bytes())
	webtest.Golden(t, "redeem-rules.json", s.ask("GET", Base+"/point-redeem-rules", "").Body.Bytes())
	if earn.Header().Get("X-Total-Count") != "2" {
		t.Errorf("headers %v", earn.Header())
	}
	if w := s.ask("GET", Base+"/point-earn-rules?page=5", ""); w.Body.String() != "[]\n" {
		t.Errorf("beyond the last page: %s", w.Body)
	}
}

func TestDomainErrorsKeepTheirKind(t *testing.T) {
	t.Parallel()
	for kind, status := range map[fault.Kind]int{fault.FailedPrecondition: 400, fault.Conflict: 409, fault.Unavailable: 503, fault.Internal: 500} {
		s := serve(t, &fakes{err: fault.New(kind, "no")})
		if w := s.ask("POST", Base+"/add-points", `{"customerId":1,"points":1}`); w.Code != status {
			t.Errorf("%s answered %d", kind, w.Code)
		}
	}
}

func FuzzBodies(f *testing.F) {
	f.Add("/add-points", `{"customerId":7001,"points":150.5,"note":"x"}`)
	f.Add("/redeem-points", `{"customerId":"7001","pointRedeemRuleId":1,"points":1e300}`)
	f.Add("/add-credits", `{"customerEmail":"a@b","amount":7.5}`)
	f.Add("/enroll-customer", `{"customerId":{},"dob":"0000-00-00"}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		if !slices.Contains([]string{"/add-points", "/remove-points", "/redeem-points", "/add-credits", "/enroll-customer"}, path) {
			return
		}
		if w := serve(t, &fakes{member: theMember()}).ask("POST", Base+path, body); w.Code >= 500 {
			t.Errorf("%s %q answered %d %s", path, body, w.Code, w.Body)
		}
	})
}
