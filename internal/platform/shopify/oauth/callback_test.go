package oauth

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

const (
	client = "5a5f0c1f4b8e4a1d8f3e2b1c0d9e8f70"
	secret = "hush"
	store  = "some-shop.myshopify.com"
)

func newApp() *App { return New(Options{ClientID: client, Secret: secret}) }

// The platform's published example, with its secret.
const published = "code=0907a61c0c8d55e99db179b68161bc00&shop=some-shop.myshopify.com&timestamp=1337178173&hmac=4712bf92ffc2917d15a2f5a273e39f0116667419aa4b6ac0b3baaf26fa3c4d20"

func publishedAt() time.Time { return time.Unix(1337178173, 0) }

func parse(t testing.TB, query string) url.Values {
	t.Helper()
	v, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// signed returns a query with the platform's signature.
func signed(t testing.TB, a *App, query string) url.Values {
	t.Helper()
	v := parse(t, query)
	v.Set("hmac", a.sign(v))
	return v
}

func TestPublishedExampleIsGenuine(t *testing.T) {
	t.Parallel()
	shop, err := newApp().OpenLaunch(parse(t, published), publishedAt())
	if err != nil || shop != store {
		t.Errorf("got %q, %v", shop, err)
	}
}

const good = "code=c0de&state=st4te&shop=some-shop.myshopify.com&timestamp=1337178173&host=YWRtaW4uc2hvcGlmeS5jb20vc3RvcmUvc29tZS1zaG9w"

func TestCallbackIsOpened(t *testing.T) {
	t.Parallel()
	a := newApp()
	for name, at := range map[string]time.Time{"at once": publishedAt(), "90 s later": publishedAt().Add(tolerance), "90 s ahead": publishedAt().Add(-tolerance)} {
		got, err := a.OpenCallback(signed(t, a, good), at)
		if err != nil || got.Shop != store || got.Code != "c0de" || got.State != "st4te" {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestForgedCallbackIsRefused(t *testing.T) {
	t.Parallel()
	a := newApp()
	other := New(Options{ClientID: client, Secret: "other"})
	change := func(change func(url.Values)) url.Values {
		v := signed(t, a, good)
		change(v)
		return v
	}
	resigned := func(from, to string) url.Values { return signed(t, a, strings.Replace(good, from, to, 1)) }
	tests := []struct {
		name  string
		query url.Values
		at    time.Time
		code  string
	}{
		{name: "no signature", query: parse(t, good), code: "signatureInvalid"},
		{name: "signature of another app", query: signed(t, other, good), code: "signatureInvalid"},
		{name: "another shop's callback", query: change(func(v url.Values) { v.Set("shop", "other.myshopify.com") }), code: "signatureInvalid"},
		{name: "changed code", query: change(func(v url.Values) { v.Set("code", "other") }), code: "signatureInvalid"},
		{name: "changed state", query: change(func(v url.Values) { v.Set("state", "other") }), code: "signatureInvalid"},
		{name: "changed host", query: change(func(v url.Values) { v.Set("host", "ZXZpbC5leGFtcGxl") }), code: "signatureInvalid"},
		{name: "added parameter", query: change(func(v url.Values) { v.Set("return_to", "https://evil.example") }), code: "signatureInvalid"},
		{name: "signature in upper case", query: change(func(v url.Values) { v.Set("hmac", strings.ToUpper(v.Get("hmac"))) }), code: "signatureInvalid"},
		{name: "doubled shop", query: change(func(v url.Values) { v.Add("shop", "other.myshopify.com") }), code: "signatureInvalid"},
		{name: "doubled signature", query: change(func(v url.Values) { v.Add("hmac", "0") }), code: "callbackParameter"},
		{name: "doubled and signed shop", query: signed(t, a, good+"&shop=other.myshopify.com"), code: "callbackParameter"},
		{name: "doubled and signed state", query: signed(t, a, good+"&state=other"), code: "callbackParameter"},
		{name: "old", query: signed(t, a, good), at: publishedAt().Add(tolerance + time.Second), code: "signatureExpired"},
		{name: "from the future", query: signed(t, a, good), at: publishedAt().Add(-tolerance - time.Second), code: "signatureExpired"},
		{name: "no timestamp", query: resigned("&timestamp=1337178173", ""), code: "callbackParameter"},
		{name: "timestamp in words", query: resigned("1337178173", "now"), code: "callbackParameter"},
		{name: "timestamp beyond all time", query: resigned("1337178173", "9223372036854775807"), code: "signatureExpired"},
		{name: "shop of another platform", query: resigned("some-shop.myshopify.com", "some-shop.evil.example"), code: "callbackParameter"},
		{name: "shop with a path", query: resigned("some-shop.myshopify.com", "evil.example/some-shop.myshopify.com"), code: "callbackParameter"},
		{name: "shop with a user", query: resigned("some-shop.myshopify.com", "evil%40some-shop.myshopify.com"), code: "callbackParameter"},
		{name: "shop with a port", query: resigned("some-shop.myshopify.com", "some-shop.myshopify.com%3A8080"), code: "callbackParameter"},
		{name: "shop with a line break", query: resigned("some-shop.myshopify.com", "some-shop.myshopify.com%0A"), code: "callbackParameter"},
		{name: "no code", query: resigned("code=c0de&", ""), code: "callbackParameter"},
		{name: "no state", query: resigned("state=st4te&", ""), code: "callbackParameter"},
		{name: "long code", query: resigned("c0de", strings.Repeat("c", maxParam+1)), code: "callbackParameter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			at := tt.at
			if at.IsZero() {
				at = publishedAt()
			}
			_, err := a.OpenCallback(tt.query, at)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Unauthenticated || f.ErrorKey != tt.code {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := New(Options{ClientID: client}).OpenLaunch(signed(t, New(Options{}), good), publishedAt()); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("an app without a secret: %v", err)
	}
}

func TestAddressesStayAtTheStore(t *testing.T) {
	t.Parallel()
	a := newApp()
	got, err := url.Parse(a.ConsentURL(store, []string{"read_products", "write_orders"}, "https://app.example/auth/callback?x=1&y=2", "s&t=a"))
	if err != nil {
		t.Fatal(err)
	}
	q := got.Query()
	if got.Scheme != "https" || got.Host != store || got.Path != "/admin/oauth/authorize" || q.Get("client_id") != client || q.Get("scope") != "read_products,write_orders" ||
		q.Get("redirect_uri") != "https://app.example/auth/callback?x=1&y=2" || q.Get("state") != "s&t=a" || len(q) != 4 {
		t.Errorf("consent at %s", got)
	}
	if got := a.AppURL(store); got != "https://some-shop.myshopify.com/admin/apps/"+client {
		t.Errorf("app at %s", got)
	}
}

func FuzzCallback(f *testing.F) {
	a := newApp()
	f.Add(published, int64(1337178173))
	f.Add(signed(f, a, good).Encode(), int64(1337178173))
	f.Fuzz(func(t *testing.T, query string, at int64) {
		v, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		if _, err := a.OpenCallback(v, time.Unix(at, 0)); err == nil {
			if v.Encode() != signed(t, a, good).Encode() {
				t.Fatalf("%q is genuine", query)
			}
			return
		}
		v.Set("hmac", a.sign(v)) // now it is: nothing else may panic or let a foreign host in
		if c, err := a.OpenCallback(v, time.Unix(at, 0)); err == nil && (!strings.HasSuffix(c.Shop, ".myshopify.com") || strings.ContainsAny(c.Shop, "/@:?#\\ \n")) {
			t.Fatalf("shop %q", c.Shop)
		}
	})
}
