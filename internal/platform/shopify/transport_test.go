package shopify

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

var _ platform.Platform = (*Client)(nil)

var demo = platform.Shop{Domain: "demo.myshopify.com", Token: "shpat_secret"}

// wire is a network of one answer.
type wireFunc func(*http.Request) (*http.Response, error)

func (f wireFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newClient(f wireFunc) *Client {
	return New(Options{HTTP: &http.Client{Transport: f}, Log: slog.New(slog.DiscardHandler)})
}

func answers(status int, body string) wireFunc {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func loses(err error) wireFunc {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// isRefusal reports whether err is a refusal with the code.
func isRefusal(err error, code string) bool {
	r, ok := errors.AsType[*platform.Refusal](err)
	return ok && r.Code == code
}

func topLevel(code string) string {
	return `{"errors":[{"message":"no","extensions":{"code":"` + code + `"}}]}`
}

func TestMutationAnswers(t *testing.T) {
	t.Parallel()
	const cut = `{"data":{"subscriptionContractSetNextBillingDate":{"userErr`
	rows := []struct {
		name    string
		network wireFunc
		want    func(error) bool
	}{
		{"an answer without user errors is a success",
			answers(200, `{"data":{"subscriptionContractSetNextBillingDate":{"userErrors":[]}}}`), func(err error) bool { return err == nil }},
		{"a user error is a refusal with its code in upper case",
			answers(200, `{"data":{"subscriptionContractSetNextBillingDate":{"userErrors":[{"code":"invalid","field":["date"],"message":"no"}]}}}`), refusal("INVALID")},
		{"a lost connection leaves the outcome unknown", loses(io.ErrUnexpectedEOF), is(platform.ErrUnknown)},
		{"a refused connection counts as a lost one", loses(errors.New("connection refused")), is(platform.ErrUnknown)},
		{"HTTP 500 leaves the outcome unknown", answers(500, ``), is(platform.ErrUnknown)},
		{"HTTP 503 leaves the outcome unknown", answers(503, `<html>`), is(platform.ErrUnknown)},
		{"a redirect is not followed and leaves the outcome unknown", answers(302, ``), is(platform.ErrUnknown)},
		{"a truncated answer leaves the outcome unknown", answers(200, cut), is(platform.ErrUnknown)},
		{"a page of HTML leaves the outcome unknown", answers(200, `<html>maintenance</html>`), is(platform.ErrUnknown)},
		{"an empty answer leaves the outcome unknown", answers(200, ``), is(platform.ErrUnknown)},
		{"an answer with neither data nor errors leaves the outcome unknown", answers(200, `{}`), is(platform.ErrUnknown)},
		{"null data without errors leaves the outcome unknown", answers(200, `{"data":null}`), is(platform.ErrUnknown)},
		{"a null payload leaves the outcome unknown", answers(200, `{"data":{"subscriptionContractSetNextBillingDate":null}}`), is(platform.ErrUnknown)},
		{"an internal error leaves the outcome unknown", answers(200, topLevel("INTERNAL_SERVER_ERROR")), is(platform.ErrUnknown)},
		{"an error without a code leaves the outcome unknown", answers(200, `{"errors":[{"message":"?"}]}`), is(platform.ErrUnknown)},
		{"of two errors the uncertain one counts",
			answers(200, `{"errors":[{"message":"a","extensions":{"code":"ACCESS_DENIED"}},{"message":"b"}]}`), is(platform.ErrUnknown)},
		{"HTTP 401 means that the connection is gone", answers(401, `{"errors":"[API] Invalid API key"}`), is(platform.ErrDisconnected)},
		{"HTTP 402 means that the connection is gone", answers(402, ``), is(platform.ErrDisconnected)},
		{"HTTP 403 means that the connection is gone", answers(403, ``), is(platform.ErrDisconnected)},
		{"HTTP 423 means that the connection is gone", answers(423, ``), is(platform.ErrDisconnected)},
		{"an inactive shop means that the connection is gone", answers(200, topLevel("SHOP_INACTIVE")), is(platform.ErrDisconnected)},
		{"a missing scope is a refusal", answers(200, `{"data":{"subscriptionContractSetNextBillingDate":null},"errors":[{"message":"no","path":["subscriptionContractSetNextBillingDate"],"extensions":{"code":"ACCESS_DENIED"}}]}`), refusal("ACCESS_DENIED")},
		{"a document that is too expensive is a refusal", answers(200, topLevel("MAX_COST_EXCEEDED")), refusal("MAX_COST_EXCEEDED")},
		{"a failed static check is a refusal", answers(200, `{"errors":[{"message":"Field 'x' doesn't exist","path":["query X","x",0],"extensions":{"code":"undefinedField"}}]}`), refusal("UNDEFINEDFIELD")},
		{"an invalid variable is a refusal", answers(200, topLevel("INVALID_VARIABLE")), refusal("INVALID_VARIABLE")},
		{"an unknown object is not found", answers(200, `{"data":{"subscriptionContractSetNextBillingDate":null},"errors":[{"message":"Invalid id","path":["subscriptionContractSetNextBillingDate"],"extensions":{"code":"RESOURCE_NOT_FOUND"}}]}`), is(platform.ErrNotFound)},
		{"an answer that is too long leaves the outcome unknown", answers(200, `{"data":{"subscriptionContractSetNextBillingDate":{"userErrors":[]}}}`+strings.Repeat(" ", maxAnswer)), is(platform.ErrUnknown)},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			err := newClient(row.network).SetNextBillingDate(t.Context(), demo, 42, time.Unix(0, 0))
			if !row.want(err) {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), string(demo.Token)) {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func refusal(code string) func(error) bool {
	return func(err error) bool {
		return isRefusal(err, code) && !errors.Is(err, platform.ErrUnknown) && !errors.Is(err, platform.ErrNotFound)
	}
}

func TestRequestHasPathHeadersAndBody(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	c := newClient(func(r *http.Request) (*http.Response, error) {
		got = r
		body, _ = io.ReadAll(r.Body)
		return answers(200, `{"data":{"subscriptionContractSetNextBillingDate":{"userErrors":[]}}}`)(r)
	})
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.FixedZone("", 3600))
	if err := c.SetNextBillingDate(t.Context(), demo, 42, at); err != nil {
		t.Fatal(err)
	}
	if want := "https://demo.myshopify.com/admin/api/2026-10/graphql.json"; got.URL.String() != want || got.Method != http.MethodPost {
		t.Errorf("%s %s, want POST %s", got.Method, got.URL, want)
	}
	if got.Header.Get("X-Shopify-Access-Token") != string(demo.Token) {
		t.Error("the token is missing")
	}
	if want := `"variables":{"contract":"gid://shopify/SubscriptionContract/42","date":"2026-01-31T11:00:00Z"}}`; !bytes.HasSuffix(body, []byte(want)) {
		t.Errorf("body %s, want the end %s", body, want)
	}
}

func TestForeignDomainIsNeverRequested(t *testing.T) {
	t.Parallel()
	c := newClient(func(r *http.Request) (*http.Response, error) {
		t.Errorf("a request was sent to %s", r.URL)
		return nil, io.EOF
	})
	for _, domain := range []string{"", "evil.example", "evil.example/.myshopify.com", "a.b.myshopify.com", "-a.myshopify.com", "x@y.myshopify.com", ".myshopify.com", "demo.myshopify.com.evil.example"} {
		if _, err := c.Store(t.Context(), platform.Shop{Domain: domain, Token: "x"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v, want an Invalid fault", domain, err)
		}
	}
}

func TestTokenIsNotSentAfterRedirect(t *testing.T) {
	t.Parallel()
	c := newClient(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host != demo.Domain {
			t.Errorf("a request went to %s with the token %q", r.URL.Host, r.Header.Get("X-Shopify-Access-Token"))
		}
		res, err := answers(http.StatusTemporaryRedirect, ``)(r)
		res.Header.Set("Location", "https://evil.example/")
		return res, err
	})
	if _, err := c.Store(t.Context(), demo); !errors.Is(err, platform.ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

func TestOtherAPIVersionIsLoggedOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := New(Options{Log: slog.New(slog.NewTextHandler(&log, nil)), HTTP: &http.Client{Transport: wireFunc(func(r *http.Request) (*http.Response, error) {
		res, err := answers(200, `{"data":{"shop":{"id":"gid://shopify/Shop/1"}}}`)(r)
		res.Header.Set("X-Shopify-API-Version", "2027-01")
		return res, err
	})}})
	for range 3 {
		if _, err := c.Store(t.Context(), demo); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "answered=2027-01"); n != 1 {
		t.Errorf("%d warnings, want 1:\n%s", n, &log)
	}
}

func TestTooExpensiveDocumentIsSentOnceAndLogged(t *testing.T) {
	t.Parallel()
	sent := 0
	var log bytes.Buffer
	c := New(Options{Log: slog.New(slog.NewTextHandler(&log, nil)), HTTP: &http.Client{Transport: wireFunc(func(r *http.Request) (*http.Response, error) {
		sent++
		return answers(200, topLevel(codeMaxCost))(r)
	})}})
	if _, err := c.Store(t.Context(), demo); !isRefusal(err, codeMaxCost) {
		t.Errorf("got %v", err)
	}
	if sent != 1 {
		t.Errorf("sent %d times, want once", sent)
	}
	if !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("nothing was logged as an error: %s", &log)
	}
}

func TestContextEndedBeforeSendingIsNotUnknown(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := newClient(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, io.EOF
	})
	err := c.SetNextBillingDate(ctx, demo, 42, time.Unix(0, 0))
	if !errors.Is(err, context.Canceled) || errors.Is(err, platform.ErrUnknown) {
		t.Errorf("got %v, want only that the context was cancelled", err)
	}
}

func TestTimeoutLeavesOutcomeUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClient(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		before := time.Now()
		err := c.SetNextBillingDate(t.Context(), demo, 42, time.Unix(0, 0))
		if !errors.Is(err, platform.ErrUnknown) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(before); took != DefaultTimeout {
			t.Errorf("it took %v, want %v", took, DefaultTimeout)
		}
	})
}
