package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/perennialhq/perennial/client"
	"github.com/perennialhq/perennial/client/partner"
	"github.com/perennialhq/perennial/client/portal"
)

// serve answers every request with a status and a text, and shows the last request.
func serve(t *testing.T, status int, text string) (address string, last func() *http.Request) {
	t.Helper()
	var got *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r
		got.Pattern = string(body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Total-Count", "41")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() *http.Request { return got }
}

func TestRequestHasItsPathQueryBodyAndCredentials(t *testing.T) {
	t.Parallel()
	address, last := serve(t, 200, `{}`)
	c := client.New(address+"/", "prn_key")
	day := time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		call func() error
		want string
	}{
		"a path is escaped": {func() error {
			_, err := c.GetContract(t.Context(), "gid://shopify/SubscriptionContract/1")
			return err
		}, "GET /api/external/v2/subscription-contracts/gid:%2F%2Fshopify%2FSubscriptionContract%2F1 "},
		"parameters": {func() error {
			_, err := c.SkipOrder(t.Context(), 7, &client.SkipOrderParams{SubscriptionContractID: new("9 1"), IsPrepaid: new(false)})
			return err
		}, "PUT /api/external/v2/subscription-billing-attempts/skip-order/7?isPrepaid=false&subscriptionContractId=9+1 "},
		"no parameters": {func() error { _, err := c.SkipOrder(t.Context(), 7, nil); return err },
			"PUT /api/external/v2/subscription-billing-attempts/skip-order/7 "},
		"lists: with commas, or repeated": {func() error {
			_, err := c.ListActivityLogs(t.Context(), &client.ListActivityLogsParams{IDIn: []int64{1, 2}, Sort: []string{"id,desc", "shop"}, CreateAtGreaterThan: new(day.Format(time.RFC3339))})
			return ignoreShape(err)
		}, "GET /api/external/v2/activity-logs?createAt.greaterThan=2026-01-31T08%3A00%3A00Z&id.in=1%2C2&sort=id%2Cdesc&sort=shop "},
		"a body": {func() error {
			_, err := c.SplitContract(t.Context(), &client.SplitContractParams{ContractID: "5"}, []string{"a"})
			return err
		}, "POST /api/external/v2/subscription-contract-details/split-existing-contract?contractId=5 [\"a\"]"},
	} {
		if err := tt.call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r := last()
		if got := r.Method + " " + r.URL.RequestURI() + " " + r.Pattern; got != tt.want {
			t.Errorf("%s: sent\n%s, want\n%s", name, got, tt.want)
		}
		if r.Header.Get("X-API-Key") != "prn_key" {
			t.Errorf("%s: the key is not sent", name)
		}
	}
}

// ignoreShape ignores that the server of these tests answers a list with an object.
func ignoreShape(err error) error {
	if _, answered := errors.AsType[*client.Error](err); answered {
		return err
	}
	return nil
}

func TestResponsesAreDecoded(t *testing.T) {
	t.Parallel()
	t.Run("an object, with numbers or texts for ids", func(t *testing.T) {
		t.Parallel()
		address, _ := serve(t, 200, `[{"id":"7","groupId":1001,"unknown":[]}]`)
		plans, err := client.New(address, "k").ListSellingPlans(t.Context(), nil)
		if err != nil || len(plans) != 1 || plans[0].GroupID != "1001" {
			t.Errorf("read %+v, %v", plans, err)
		}
	})
	for name, empty := range map[string]string{"nothing": "", "null": "null"} {
		t.Run(name+" is nil", func(t *testing.T) {
			t.Parallel()
			address, _ := serve(t, 200, empty)
			customer, err := client.New(address, "k").GetCustomer(t.Context(), "4242", nil)
			if err != nil || customer != nil {
				t.Errorf("read %+v, %v", customer, err)
			}
		})
	}
	t.Run("headers that are asked for", func(t *testing.T) {
		t.Parallel()
		address, _ := serve(t, 200, `[]`)
		var header http.Header
		if _, err := client.New(address, "k").SearchContracts(client.WithHeader(t.Context(), &header), nil); err != nil || header.Get("X-Total-Count") != "41" {
			t.Errorf("headers %v, %v", header, err)
		}
	})
}

func TestErrorResponsesAreErrors(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, 400, `{"status":400,"title":"Bad","detail":"is SKIPPED","errorKey":"billingAttemptStatus","entityName":null,"params":"id","path":"/x","requestId":"r1"}`)
	_, err := client.New(address, "k").SkipOrder(t.Context(), 7, nil)
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.Status != 400 || e.Key != "billingAttemptStatus" || e.Title != "Bad" || e.Params != "id" || e.Path != "/x" || e.RetryAfter != 7*time.Second ||
		e.Error() != "400 billingAttemptStatus: is SKIPPED (request r1)" {
		t.Errorf("the failure is %+v", err)
	}
	gateway, _ := serve(t, 502, "<html>bad gateway")
	_, err = client.New(gateway, "k").SkipOrder(t.Context(), 7, nil)
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Status != 502 || e.Title != "Bad Gateway" || e.Detail != "<html>bad gateway" {
		t.Errorf("a gateway's failure is %+v", err)
	}
}

// doer sees what a caller's own HTTP client sends.
type doer struct{ key, user string }

func (d *doer) RoundTrip(r *http.Request) (*http.Response, error) {
	d.key = r.Header.Get("Idempotency-Key")
	d.user, _, _ = r.BasicAuth()
	return http.DefaultTransport.RoundTrip(r)
}

func TestOptionsAndKeysReachEveryInterface(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, 200, `{}`)
	for name, call := range map[string]func(client.Option) error{
		"admin": func(o client.Option) error {
			_, err := client.New(address, "k", o).SkipOrder(client.WithIdempotencyKey(t.Context(), "once"), 7, nil)
			return err
		},
		"portal": func(o client.Option) error {
			_, err := portal.New(address, o).SkipOrder(client.WithIdempotencyKey(t.Context(), "once"), 7, nil)
			return err
		},
		"partner": func(o client.Option) error {
			_, err := partner.New(address, "app", "secret", o).RotateToken(client.WithIdempotencyKey(t.Context(), "once"), "app", 7)
			return err
		},
	} {
		var sent doer
		if err := call(client.WithHTTPClient(&http.Client{Transport: &sent})); err != nil || sent.key != "once" || sent.user != "" && name != "partner" {
			t.Errorf("%s: sent %+v, %v", name, sent, err)
		}
		if name == "partner" && sent.user != "app" {
			t.Errorf("the application's id is not sent")
		}
	}
}
