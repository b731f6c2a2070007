package admin

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

func TestActivityLogQueryBecomesCriteria(t *testing.T) {
	t.Parallel()
	ms := func(s string) int64 {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return at.UnixMilli()
	}
	const (
		jan31 = "2025-01-31T05:00:00Z"     // midnight in New York
		feb1  = "2025-02-01T04:59:59.999Z" // the last millisecond of the day
	)
	one := func(field string, op page.Op, numbers ...int64) page.Criterion {
		return page.Criterion{Field: field, Op: op, Numbers: numbers}
	}
	words := func(field string, op page.Op, texts ...string) page.Criterion {
		return page.Criterion{Field: field, Op: op, Texts: texts}
	}
	for name, test := range map[string]struct {
		query string
		want  []page.Criterion
	}{
		"without criteria everything is wanted":     {"", nil},
		"numbers are compared":                      {"id.greaterThan=1&entityId.lessThanOrEqual=9", []page.Criterion{one("id", page.GreaterThan, 1), one("entityId", page.LessThanOrEqual, 9)}},
		"a list is split at commas":                 {"entityId.in=1,2,3", []page.Criterion{one("entityId", page.In, 1, 2, 3)}},
		"a list may be repeated":                    {"entityId.notIn=1&entityId.notIn=2", []page.Criterion{one("entityId", page.NotIn, 1, 2)}},
		"enum values are read in any case":          {"status.equals=success&entityType.notEquals=Shop_Info", []page.Criterion{words("entityType", page.NotEquals, "SHOP_INFO"), words("status", page.Equals, "SUCCESS")}},
		"event types are listed":                    {"eventType.in=EMAIL,webhook&eventSource.equals=SYSTEM_EVENT", []page.Criterion{words("eventSource", page.Equals, "SYSTEM_EVENT"), words("eventType", page.In, "EMAIL", "WEBHOOK")}},
		"texts are searched as they are":            {"additionalInfo.contains=50%25_Off&activityBy.doesNotContain=ERP", []page.Criterion{words("additionalInfo", page.Contains, "50%_Off"), words("activityBy", page.DoesNotContain, "ERP")}},
		"absence can be asked for":                  {"activityBy.specified=false&clientIp.specified=true", []page.Criterion{{Field: "activityBy", Op: page.Specified}, {Field: "clientIp", Op: page.Specified, Present: true}}},
		"an instant keeps its milliseconds":         {"createAt.greaterThan=2025-01-31T10:00:00.123Z", []page.Criterion{one("createAt", page.GreaterThan, ms("2025-01-31T10:00:00.123Z"))}},
		"an instant has a zone":                     {"createAt.lessThan=2025-01-31T10:00:00%2B02:00", []page.Criterion{one("createAt", page.LessThan, ms("2025-01-31T08:00:00Z"))}},
		"a plus sign that was not encoded is one":   {"createAt.lessThan=2025-01-31T10:00:00+02:00", []page.Criterion{one("createAt", page.LessThan, ms("2025-01-31T08:00:00Z"))}},
		"a day is a day of the store's zone":        {"createAt.equals=2025-01-31", []page.Criterion{one("createAt", page.GreaterThanOrEqual, ms(jan31)), one("createAt", page.LessThanOrEqual, ms(feb1))}},
		"after a day is after its end":              {"createAt.greaterThan=2025-01-31", []page.Criterion{one("createAt", page.GreaterThan, ms(feb1))}},
		"from a day on is from its start":           {"createAt.greaterThanOrEqual=2025-01-31", []page.Criterion{one("createAt", page.GreaterThanOrEqual, ms(jan31))}},
		"before a day is before its start":          {"createAt.lessThan=2025-01-31", []page.Criterion{one("createAt", page.LessThan, ms(jan31))}},
		"up to a day is up to its end":              {"createAt.lessThanOrEqual=2025-01-31", []page.Criterion{one("createAt", page.LessThanOrEqual, ms(feb1))}},
		"unknown parameters are ignored":            {"colour=red&statusText.like=x", nil},
		"the key's own shop may be named":           {"shop.equals=demo.myshopify.com", nil},
		"a parameter's name may be percent-encoded": {"entity%49d.equals=4", []page.Criterion{one("entityId", page.Equals, 4)}},
		"criteria on one field all hold":            {"entityId.greaterThan=1&entityId.notEquals=5", []page.Criterion{one("entityId", page.NotEquals, 5), one("entityId", page.GreaterThan, 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{})
			w := s.ask("GET", activityPath+"?"+test.query, "")
			if w.Code != http.StatusOK {
				t.Fatalf("answered %d %s", w.Code, w.Body)
			}
			if diff := cmp.Diff(test.want, s.where); diff != "" || s.of != 7 {
				t.Errorf("criteria of shop %d (-want +got):\n%s", s.of, diff)
			}
		})
	}
}

func TestActivityLogShopCriterionKeepsAllEntriesOrNone(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]struct {
		code  int
		total string
	}{
		"shop.equals=demo.myshopify.com":                    {200, "1"},
		"shop.in=other.myshopify.com,demo.myshopify.com":    {200, "1"},
		"shop.in=other.myshopify.com":                       {200, "0"},
		"shop.notEquals=demo.myshopify.com":                 {200, "0"},
		"shop.notIn=other.myshopify.com":                    {200, "1"},
		"shop.contains=DEMO":                                {200, "1"},
		"shop.contains=other":                               {200, "0"},
		"shop.doesNotContain=demo":                          {200, "0"},
		"shop.specified=true":                               {200, "1"},
		"shop.specified=false":                              {200, "0"},
		"shop.specified=true&shop.notIn=demo.myshopify.com": {200, "0"},
		"shop.equals=other.myshopify.com":                   {400, ""},
		"shop.lessThan=z":                                   {400, ""},
		"shop.specified=maybe":                              {400, ""},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{entries: []activity.Entry{{ID: 1, At: noon()}}, total: 1})
			w := s.ask("GET", activityPath+"?"+query, "")
			if w.Code != want.code || w.Header().Get("X-Total-Count") != want.total {
				t.Errorf("answered %d, %q in all, want %d, %q: %s", w.Code, w.Header().Get("X-Total-Count"), want.code, want.total, w.Body)
			}
		})
	}
}

func TestActivityLogPagesLinkToEachOther(t *testing.T) {
	t.Parallel()
	newest := []page.Sort{{Field: "createAt", Desc: true}, {Field: "id", Desc: true}}
	for name, test := range map[string]struct {
		query, total string
		elements     int
		want         page.Request
		link         string
	}{
		"the first twenty, newest first": {"", "0", 0, page.Request{Size: 20, Sort: newest}, `<` + site + activityPath + `?page=0>; rel="first", <` + site + activityPath + `?page=0>; rel="last"`},
		"a page in the middle": {"page=1&size=10&sort=event_type,asc", "25", 25, page.Request{Page: 1, Size: 10, Sort: []page.Sort{{Field: "eventType"}}},
			`<` + site + activityPath + `?page=0&size=10&sort=event_type%2Casc>; rel="first", <` + site + activityPath + `?page=2&size=10&sort=event_type%2Casc>; rel="last", ` +
				`<` + site + activityPath + `?page=2&size=10&sort=event_type%2Casc>; rel="next", <` + site + activityPath + `?page=0&size=10&sort=event_type%2Casc>; rel="prev"`},
		"the other spelling": {"pageable.page=2&pageable.size=100&pageable.sort=createAt,desc", "250", 250, page.Request{Page: 2, Size: 100, Sort: []page.Sort{{Field: "createAt", Desc: true}}},
			`<` + site + activityPath + `?page=0&pageable.size=100&pageable.sort=createAt%2Cdesc>; rel="first", <` + site + activityPath + `?page=2&pageable.size=100&pageable.sort=createAt%2Cdesc>; rel="last", ` +
				`<` + site + activityPath + `?page=1&pageable.size=100&pageable.sort=createAt%2Cdesc>; rel="prev"`},
		"links hold what the operation knows": {"size=10&utm_source=erp&entityId.equals=4", "5", 5, page.Request{Size: 10, Sort: newest},
			`<` + site + activityPath + `?entityId.equals=4&page=0&size=10>; rel="first", <` + site + activityPath + `?entityId.equals=4&page=0&size=10>; rel="last"`},
		"several fields, each once": {"sort=status,DESC&sort=entityId&sort=status,asc", "0", 0, page.Request{Size: 20, Sort: []page.Sort{{Field: "status", Desc: true}, {Field: "entityId"}}}, ""},
		"a page beyond the end leads back": {"page=9&size=1", "3", 3, page.Request{Page: 9, Size: 1, Sort: newest},
			`<` + site + activityPath + `?page=0&size=1>; rel="first", <` + site + activityPath + `?page=2&size=1>; rel="last", <` + site + activityPath + `?page=2&size=1>; rel="prev"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{total: test.elements})
			w := s.ask("GET", activityPath+"?"+test.query, "")
			if w.Code != http.StatusOK || w.Header().Get("X-Total-Count") != test.total || w.Body.String() != "[]\n" {
				t.Fatalf("answered %d, %s in all: %s", w.Code, w.Header().Get("X-Total-Count"), w.Body)
			}
			if diff := cmp.Diff(test.want, s.page); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
			if test.link != "" && w.Header().Get("Link") != test.link {
				t.Errorf("Link\n%s, want\n%s", w.Header().Get("Link"), test.link)
			}
		})
	}
}

// A query that is understood can be too long to be repeated in a header.
func TestActivityLogOmitsLinksForVeryLongQuery(t *testing.T) {
	t.Parallel()
	for letters, linked := range map[int]bool{1000: true, 5000: false} {
		s := serve(t, &fakes{total: 50})
		w := s.ask("GET", activityPath+"?additionalInfo.contains="+strings.Repeat("x", letters), "")
		if link := w.Header().Get("Link"); w.Code != http.StatusOK || w.Header().Get("X-Total-Count") != "50" || (link != "") != linked || len(link) > 8<<10 {
			t.Errorf("%d letters: answered %d, %d bytes of links", letters, w.Code, len(link))
		}
	}
}

func TestActivityLogMatchesGoldenFile(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{entries: []activity.Entry{
		{
			ID: 2, EntityID: 9, EntityType: activity.EntitySubscriptionBillingAttempt, Event: activity.BillingAttemptSkipped, Status: activity.Success,
			Actor: activity.Actor{Source: activity.MerchantExternalAPI, By: "API key ERP", ClientIP: "192.0.2.1"}, At: noon(), Info: `{"cycle":4,"note":"<b>"}`,
		},
		{
			ID: 1, EntityID: 42, EntityType: activity.EntitySubscriptionContractDetails, Event: activity.ContractCreated, Status: activity.Info,
			Actor: activity.System, At: noon().Add(-time.Millisecond),
		},
	}})
	webtest.Golden(t, "activity-logs.json", s.ask("GET", activityPath, "").Body.Bytes())
}
