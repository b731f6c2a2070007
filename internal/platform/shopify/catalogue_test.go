package shopify

import (
	"errors"
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/platform"
)

// orderLinesJSON is a page of an order's lines, each as JSON.
func orderLinesJSON(more string, lines string) string {
	return `{"data":{"order":{"lineItems":{"nodes":[` + lines + `],"pageInfo":{"hasNextPage":` + more + `,"endCursor":"here"}}}}}`
}

func orderLineJSON(id, contract string) string {
	return `{"id":"` + id + `","quantity":1,"contract":` + contract + `,"originalUnitPriceSet":{"presentmentMoney":{"amount":"9.50","currencyCode":"USD"}}}`
}

func TestOrderNamesItsContractLines(t *testing.T) {
	t.Parallel()
	const ours, another = `{"id":"gid://shopify/SubscriptionContract/9001"}`, `{"id":"gid://shopify/SubscriptionContract/9002"}`
	for name, row := range map[string]struct {
		pages []string
		want  []string // ids; nil: it tells nothing
	}{
		"lines on several pages": {[]string{orderLinesJSON("true", orderLineJSON("1", ours)), orderLinesJSON("false", orderLineJSON("2", ours))}, []string{"1", "2"}},
		"another contract's":     {[]string{orderLinesJSON("false", orderLineJSON("1", another)+","+orderLineJSON("2", ours))}, []string{"2"}},
		"nobody's":               {[]string{orderLinesJSON("false", orderLineJSON("1", "null"))}, nil},
		"an order that is gone":  {[]string{`{"data":{"order":null}}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := scripted(t, row.pages...)
			lines, err := c.OrderLines(t.Context(), demo, 55, 9001)
			var got []string
			for _, l := range lines {
				got = append(got, l.ID)
			}
			if !slices.Equal(got, row.want) || errors.Is(err, platform.ErrNotFound) != (row.want == nil) {
				t.Errorf("lines %v, error %v, want %v", got, err, row.want)
			}
		})
	}
}
