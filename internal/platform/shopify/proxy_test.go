package shopify

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/platform"
)

// The platform's published example, with its secret.
const (
	published   = "extra=1&extra=2&shop=shop-name.myshopify.com&logged_in_customer_id=1&path_prefix=%2Fapps%2Fawesome_reviews&timestamp=1317327555&signature=4c68c8624d737112c91818c11017d24d334b524cb5c2b8ba08daa056f7395ddb"
	publishedBy = "hush"
)

func publishedAt() time.Time { return time.Unix(1317327555, 0) }

func parse(t *testing.T, query string) url.Values {
	t.Helper()
	v, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestProxySignatureOfPublishedExample(t *testing.T) {
	t.Parallel()
	signedOut := strings.NewReplacer("logged_in_customer_id=1", "logged_in_customer_id=",
		"4c68c8624d737112c91818c11017d24d334b524cb5c2b8ba08daa056f7395ddb", "e072b6d7e6622d85912a5214b860d3100dc1e73d9bc29f43796ac8c9ff8093cb").Replace(published)
	for name, row := range map[string]struct {
		query    string
		customer int64
	}{"signed in": {published, 1}, "signed out": {signedOut, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Proxy{publishedBy}.Open(parse(t, row.query), false, publishedAt())
			if err != nil || got.Shop != "shop-name.myshopify.com" || got.Customer != row.customer || got.Prefix != "/apps/awesome_reviews" || got.Elsewhere || got.Query.Encode() != "extra=1&extra=2" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// signedQuery returns a query with the platform's signature.
func signedQuery(t *testing.T, query string) url.Values {
	t.Helper()
	v := parse(t, query)
	v.Set("signature", Proxy{publishedBy}.signature(v))
	return v
}

const plain = "shop=a.myshopify.com&logged_in_customer_id=7&path_prefix=%2Fapps%2Fsubscriptions&timestamp=1317327555"

func TestProxyRefusesInvalidRequests(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		query  func(*testing.T) url.Values
		secret string
		late   time.Duration
		key    string
	}{
		"a changed value": {func(t *testing.T) url.Values {
			return parse(t, strings.Replace(published, "logged_in_customer_id=1", "logged_in_customer_id=2", 1))
		}, publishedBy, 0, "signatureInvalid"},
		"a parameter that was added": {func(t *testing.T) url.Values { return parse(t, published+"&more=1") }, publishedBy, 0, "signatureInvalid"},
		"no signature":               {func(t *testing.T) url.Values { return parse(t, plain) }, publishedBy, 0, "signatureInvalid"},
		"a signature of another app": {func(t *testing.T) url.Values { return parse(t, published) }, "other", 0, "signatureInvalid"},
		"a service without a secret": {func(t *testing.T) url.Values {
			v := parse(t, plain)
			v.Set("signature", Proxy{""}.signature(v))
			return v
		}, "", 0, "signatureInvalid"},
		"a signature before another one": {func(t *testing.T) url.Values {
			v := signedQuery(t, plain)
			v.Add("signature", "00")
			return v
		}, publishedBy, 0, "proxyParameter"},
		"two stores":           {func(t *testing.T) url.Values { return signedQuery(t, "shop=b.myshopify.com&"+plain) }, publishedBy, 0, "proxyParameter"},
		"the same store twice": {func(t *testing.T) url.Values { return signedQuery(t, "shop=a.myshopify.com&"+plain) }, publishedBy, 0, "proxyParameter"},
		"two customers":        {func(t *testing.T) url.Values { return signedQuery(t, "logged_in_customer_id=9&"+plain) }, publishedBy, 0, "proxyParameter"},
		"two prefixes":         {func(t *testing.T) url.Values { return signedQuery(t, "path_prefix=x&"+plain) }, publishedBy, 0, "proxyParameter"},
		"two times":            {func(t *testing.T) url.Values { return signedQuery(t, "timestamp=1317327555&"+plain) }, publishedBy, 0, "proxyParameter"},
		"no store":             {func(t *testing.T) url.Values { return signedQuery(t, strings.Replace(plain, "shop=", "shops=", 1)) }, publishedBy, 0, "proxyParameter"},
		"no customer, not even an empty one": {func(t *testing.T) url.Values {
			return signedQuery(t, strings.Replace(plain, "logged_in_customer_id=7&", "", 1))
		}, publishedBy, 0, "proxyParameter"},
		"a store that is none":      {func(t *testing.T) url.Values { return signedQuery(t, strings.Replace(plain, "a.my", "a/../b.my", 1)) }, publishedBy, 0, "proxyParameter"},
		"a customer who is none":    {func(t *testing.T) url.Values { return signedQuery(t, strings.Replace(plain, "_id=7", "_id=-7", 1)) }, publishedBy, 0, "proxyParameter"},
		"a time that is none":       {func(t *testing.T) url.Values { return signedQuery(t, strings.Replace(plain, "1317327555", "now", 1)) }, publishedBy, 0, "proxyParameter"},
		"91 s later":                {func(t *testing.T) url.Values { return signedQuery(t, plain) }, publishedBy, 91 * time.Second, "signatureExpired"},
		"91 s before it was signed": {func(t *testing.T) url.Values { return signedQuery(t, plain) }, publishedBy, -91 * time.Second, "signatureExpired"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Proxy{row.secret}.Open(row.query(t), false, publishedAt().Add(row.late))
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Kind != fault.Unauthenticated || f.ErrorKey != row.key || got.Shop != "" || got.Customer != 0 {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	for _, late := range []time.Duration{90 * time.Second, -90 * time.Second} {
		if _, err := (Proxy{publishedBy}).Open(signedQuery(t, plain), false, publishedAt().Add(late)); err != nil {
			t.Errorf("%s away: %v", late, err)
		}
	}
}

func TestShopParameterIsAllowedWhereRequested(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		query string
		want  platform.Visit
	}{
		"not at all":            {plain, platform.Visit{Shop: "a.myshopify.com", Customer: 7}},
		"the store":             {"shop=A.myshopify.com&" + plain, platform.Visit{Shop: "a.myshopify.com", Customer: 7}},
		"another store, before": {"shop=b.myshopify.com&" + plain, platform.Visit{Elsewhere: true, Customer: 7}},
		"another store, after":  {plain + "&shop=b.myshopify.com", platform.Visit{Elsewhere: true, Customer: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Proxy{publishedBy}.Open(signedQuery(t, row.query), true, publishedAt())
			if err != nil || got.Elsewhere != row.want.Elsewhere || got.Customer != row.want.Customer || !got.Elsewhere && got.Shop != row.want.Shop || len(got.Query) != 0 {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	if _, err := (Proxy{publishedBy}).Open(signedQuery(t, "logged_in_customer_id=9&"+plain), true, publishedAt()); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("a second customer beside the store: %v", err)
	}
}
