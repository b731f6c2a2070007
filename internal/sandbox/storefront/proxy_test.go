package storefront

import (
	"net/url"
	"testing"
)

// The queries and signatures are the platform's published example.
func TestSign(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, query, want string }{
		{
			"a signed-in shopper, and a parameter that occurs twice",
			"extra=1&extra=2&shop=shop-name.myshopify.com&logged_in_customer_id=1&path_prefix=%2Fapps%2Fawesome_reviews&timestamp=1317327555",
			"4c68c8624d737112c91818c11017d24d334b524cb5c2b8ba08daa056f7395ddb",
		},
		{
			"an empty value counts too",
			"extra=1&extra=2&shop=shop-name.myshopify.com&logged_in_customer_id=&path_prefix=%2Fapps%2Fawesome_reviews&timestamp=1317327555",
			"e072b6d7e6622d85912a5214b860d3100dc1e73d9bc29f43796ac8c9ff8093cb",
		},
		{
			"a signature in the query is not signed",
			"extra=1&extra=2&shop=shop-name.myshopify.com&logged_in_customer_id=1&path_prefix=%2Fapps%2Fawesome_reviews&timestamp=1317327555&signature=feed",
			"4c68c8624d737112c91818c11017d24d334b524cb5c2b8ba08daa056f7395ddb",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			query, err := url.ParseQuery(row.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := Sign("hush", query); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestSignSortsWholeParametersByTheirBytes(t *testing.T) {
	t.Parallel()
	// "a-b=1" comes before "a=2" although "a" comes before "a-b".
	one, two := url.Values{"a": {"2"}, "a-b": {"1"}}, url.Values{"a-b": {"1a=2"}}
	if Sign("hush", one) != Sign("hush", two) {
		t.Error("the message is not the sorted parameters in a row")
	}
}
