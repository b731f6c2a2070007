package admin

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/command"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/webtest"
)

// upcoming is what the fakes remember of orders that still wait, of reports and
// of customers.
type upcoming struct {
	skippedNext *command.SkipNext
	rescheduled *command.Reschedule
	noted       *command.Note
	survey      billing.Survey
	customer    int64
	customers   contract.CustomerFilter
	summaries   []contract.CustomerSummary
}

func (u upcoming) touched() bool {
	return u.skippedNext != nil || u.rescheduled != nil || u.noted != nil
}

func (f *fakes) SuppressedAddresses(_ context.Context, _ shop.ID, addresses []string) (map[string]bool, error) {
	return map[string]bool{addresses[0]: f.bounced}, nil
}

func (f *fakes) CreatedMails(_ context.Context, _ shop.ID, contracts []contract.ID) (map[contract.ID]notify.Results, error) {
	sent := map[contract.ID]notify.Results{}
	for _, c := range contracts {
		sent[c] = notify.Results{Mail: notify.Result{Status: notify.Sent}}
	}
	return sent, nil
}

func (f *fakes) SkipNext(_ context.Context, of shop.ID, c command.SkipNext) (billing.Record, error) {
	f.of, f.skippedNext = of, &c
	return f.first(), f.err
}

func (f *fakes) Reschedule(_ context.Context, of shop.ID, c command.Reschedule) (billing.Record, error) {
	f.of, f.rescheduled = of, &c
	return f.first(), f.err
}

func (f *fakes) SetNote(_ context.Context, of shop.ID, c command.Note) (billing.Record, error) {
	f.of, f.noted = of, &c
	return f.first(), f.err
}

func (f *fakes) PastAttempts(_ context.Context, of shop.ID, s billing.Survey, p page.Request) ([]billing.Record, int, error) {
	f.of, f.survey, f.page = of, s, p
	return f.records, f.count(len(f.records)), f.err
}

func (f *fakes) Analytics(context.Context, shop.ID, shop.Line, contract.ID) (billing.Analytics, error) {
	return billing.Analytics{}, f.err
}

func TestSkipUpcomingPassesItsContractOn(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{
		"by the interface's name":      "subscriptionContractId=42",
		"by the short name":            "contractId=42",
		"by graph id":                  "contractId=gid://shopify/SubscriptionContract/42",
		"by both names, if they agree": "contractId=gid://shopify/SubscriptionContract/42&subscriptionContractId=42",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{records: []billing.Record{theRecord()}})
			w := s.ask("PUT", ordersPath+"/skip-upcoming-order?"+query, "")
			want := &command.SkipNext{Line: shop.Subscriptions, Contract: 42, Actor: by()}
			if diff := cmp.Diff(want, s.skippedNext); w.Code != http.StatusOK || diff != "" || s.of != 7 || !strings.Contains(w.Body.String(), `"id":9`) {
				t.Errorf("answered %d %s (-want +got):\n%s", w.Code, w.Body, diff)
			}
		})
	}
}

func TestReschedulePassesItsDateOn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		query string
		want  command.Reschedule
	}{
		"an instant is that instant":              {"billingDate=2025-03-10T00:00:00Z", command.Reschedule{BillingDate: time.Date(2025, 3, 10, 0, 0, 0, 0, time.UTC)}},
		"a day is that day at the order time":     {"billingDate=2025-03-10", command.Reschedule{BillingDate: time.Date(2025, 3, 10, 13, 0, 0, 0, time.UTC)}},
		"later orders may follow":                 {"billingDate=2025-03-10&rescheduleFutureOrder=true", command.Reschedule{BillingDate: time.Date(2025, 3, 10, 13, 0, 0, 0, time.UTC), Future: true}},
		"later orders stay without the parameter": {"billingDate=2025-03-10&rescheduleFutureOrder=", command.Reschedule{BillingDate: time.Date(2025, 3, 10, 13, 0, 0, 0, time.UTC)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{records: []billing.Record{theRecord()}})
			w := s.ask("PUT", ordersPath+"/reschedule-order/9?"+test.query, "")
			test.want.Line, test.want.Attempt, test.want.Actor = shop.Subscriptions, 9, by()
			if w.Code != http.StatusOK || s.rescheduled == nil {
				t.Fatalf("answered %d %s", w.Code, w.Body)
			}
			if diff := cmp.Diff(test.want, *s.rescheduled); diff != "" || s.of != 7 {
				t.Errorf("command of shop %d (-want +got):\n%s", s.of, diff)
			}
		})
	}
}

func TestOrderNotePassesItsTextOn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ query, want string }{
		"a note is replaced":              {"orderNote=Ring%20twice%0A%3Cb%3E", "Ring twice\n<b>"},
		"an empty note clears":            {"orderNote=", ""},
		"a name without a value clears":   {"orderNote", ""},
		"a note may have 5000 characters": {"orderNote=" + strings.Repeat("%C3%BC", 5000), strings.Repeat("ü", 5000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{records: []billing.Record{theRecord()}})
			w := s.ask("PUT", notePath+"/9?"+test.query, "")
			if w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != "true" || s.noted == nil {
				t.Fatalf("answered %d %s", w.Code, w.Body)
			}
			if want := (command.Note{Line: shop.Subscriptions, Attempt: 9, Note: test.want, Actor: by()}); *s.noted != want || s.of != 7 {
				t.Errorf("command %+v of shop %d", *s.noted, s.of)
			}
		})
	}
}

const (
	notePath   = "/api/external/v2/subscription-billing-attempts-update-order-note"
	reportPath = ordersPath + "/past-orders/report"
)

func TestPastOrderReportPassesItsFiltersOn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		query string
		want  billing.Survey
		sort  []page.Sort
	}{
		"a status, in any case":           {"status=failure", billing.Survey{Statuses: []billing.Status{billing.Failure}}, nil},
		"another spelling of a status":    {"status=FAILED", billing.Survey{Statuses: []billing.Status{billing.Failure}}, nil},
		"several statuses":                {"status=SUCCESS,skipped", billing.Survey{Statuses: []billing.Status{billing.Success, billing.Skipped}}, nil},
		"a foreign status passes nothing": {"status=refunded", billing.Survey{}, nil},
		"every other filter": {"status=SUCCESS&contractId=gid://shopify/SubscriptionContract/42&fromDay=2025-01-31&toDay=2025-01-31&attemptCount=0&contractStatus=paused",
			billing.Survey{
				Statuses: []billing.Status{billing.Success}, Contract: 42, From: time.Date(2025, 1, 31, 5, 0, 0, 0, time.UTC),
				To: time.Date(2025, 2, 1, 4, 59, 59, 999_000_000, time.UTC), Tries: new(0), ContractStatus: contract.Paused,
			}, nil},
		"instants are instants": {"status=SUCCESS&fromDay=2025-01-31T00:00:00Z&toDay=2025-02-01T00:00:00Z",
			billing.Survey{Statuses: []billing.Status{billing.Success}, From: time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC), To: time.Date(2025, 2, 1, 0, 0, 0, 0, time.UTC)}, nil},
		"sorted": {"status=SUCCESS&sort=attempt_count,desc", billing.Survey{Statuses: []billing.Status{billing.Success}}, []page.Sort{{Field: "attemptCount", Desc: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{total: 30})
			w := s.ask("GET", reportPath+"?size=2000&"+test.query, "")
			if w.Code != http.StatusOK || w.Header().Get("X-Total-Count") != "30" || w.Body.String() != "[]\n" {
				t.Fatalf("answered %d %s", w.Code, w.Body)
			}
			test.want.Line = shop.Subscriptions
			if diff := cmp.Diff(test.want, s.survey) + cmp.Diff(page.Request{Size: 2000, Sort: test.sort}, s.page); diff != "" || s.of != 7 {
				t.Errorf("survey of shop %d (-want +got):\n%s", s.of, diff)
			}
		})
	}
}

func TestPastOrderReportAcceptsEveryForeignStatus(t *testing.T) {
	t.Parallel()
	s := serve(t, &fakes{})
	if w := s.ask("GET", reportPath+"?status="+strings.Join(foreignStatuses, ","), ""); w.Code != http.StatusOK || len(foreignStatuses) != 9 || len(s.survey.Statuses) != 0 {
		t.Errorf("answered %d %s, %v", w.Code, w.Body, s.survey.Statuses)
	}
}

func TestOrderListsAcceptSort(t *testing.T) {
	t.Parallel()
	for spelling, want := range map[string]string{"billingDate": "billingDate", "attempt_time": "attemptTime", "updatedAt": "updatedAt"} {
		s := serve(t, &fakes{})
		w := s.ask("GET", ordersPath+"/top-orders?contractId=42&sort="+spelling+",desc", "")
		if diff := cmp.Diff([]page.Sort{{Field: want, Desc: true}}, s.page.Sort); w.Code != 200 || diff != "" {
			t.Errorf("%s answered %d:\n%s", spelling, w.Code, diff)
		}
	}
}

func TestOrderOperationsRefuseInvalidValues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method, target       string
		status               int
		key, params, message string
	}{
		"a skip without a contract": {"PUT", ordersPath + "/skip-upcoming-order", 400, "parameterMissing", "subscriptionContractId",
			"Required request parameter 'subscriptionContractId' for method parameter type Long is not present"},
		"a contract that is no number":          {"PUT", ordersPath + "/skip-upcoming-order?contractId=x", 400, "invalid", "contractId", ""},
		"two contracts":                         {"PUT", ordersPath + "/skip-upcoming-order?contractId=1&subscriptionContractId=2", 400, "invalid", "subscriptionContractId", "differ"},
		"a reschedule to no date":               {"PUT", ordersPath + "/reschedule-order/9", 400, "parameterMissing", "billingDate", "type String"},
		"a reschedule to what is no date":       {"PUT", ordersPath + "/reschedule-order/9?billingDate=soon", 400, "invalid", "billingDate", "soon"},
		"an attempt of zero":                    {"PUT", ordersPath + "/reschedule-order/0?billingDate=2025-03-10", 400, "invalid", "id", "at least 1"},
		"a flag that is neither true nor false": {"PUT", ordersPath + "/reschedule-order/9?billingDate=2025-03-10&rescheduleFutureOrder=x", 400, "invalid", "rescheduleFutureOrder", ""},
		"no note": {"PUT", notePath + "/9", 400, "parameterMissing", "orderNote",
			"Required request parameter 'orderNote' for method parameter type String is not present"},
		"a note that is too long":           {"PUT", notePath + "/9?orderNote=" + strings.Repeat("x", 5001), 400, "invalid", "orderNote", "5000"},
		"a note that is no text":            {"PUT", notePath + "/9?orderNote=%ff", 400, "invalid", "orderNote", "UTF-8"},
		"a note on no number":               {"PUT", notePath + "/x?orderNote=y", 400, "invalid", "billingAttemptId", ""},
		"a report on no status":             {"GET", reportPath, 400, "parameterMissing", "status", "type String"},
		"a report on an unknown status":     {"GET", reportPath + "?status=SUCCESS,DREAMING", 400, "invalid", "status", "DREAMING"},
		"a report on an unknown contract's": {"GET", reportPath + "?status=SUCCESS&contractStatus=x", 400, "invalid", "contractStatus", "EXPIRED"},
		"a report from no day":              {"GET", reportPath + "?status=SUCCESS&fromDay=x", 400, "invalid", "fromDay", ""},
		"a report to no day":                {"GET", reportPath + "?status=SUCCESS&toDay=x", 400, "invalid", "toDay", ""},
		"a report on a count below 0":       {"GET", reportPath + "?status=SUCCESS&attemptCount=-1", 400, "invalid", "attemptCount", "at least 0"},
		"a report of too much":              {"GET", reportPath + "?status=SUCCESS&size=2001", 400, "pageTooLarge", "size", "2000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, &fakes{records: []billing.Record{theRecord()}})
			w := s.ask(test.method, test.target, "")
			checkProblem(t, w, test.status)
			p := webtest.Problem(t, w)
			if p.ErrorKey != test.key || deref(p.Params) != test.params || !strings.Contains(p.Message, test.message) || s.touched() {
				t.Errorf("errorKey %q params %q message %q, want %q %q %q", p.ErrorKey, deref(p.Params), p.Message, test.key, test.params, test.message)
			}
		})
	}
}
