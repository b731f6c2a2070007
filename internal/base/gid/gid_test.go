package gid

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		want       int64
	}{
		{"a plain number", "42", 42},
		{"a graph id", "gid://shopify/Product/42", 42},
		{"a graph id with parameters", "gid://shopify/Product/42?key=x", 42},
		{"the largest id", "9007199254740991", Max},
		{"an id that a float64 cannot hold", "9007199254740992", 0},
		{"a number beyond 64 bits", "92233720368547758080", 0},
		{"another type", "gid://shopify/Order/42", 0},
		{"no type", "gid://shopify/42", 0},
		{"another platform", "gid://other/Product/42", 0},
		{"zero", "0", 0},
		{"a negative number", "-1", 0},
		{"a signed number", "+1", 0},
		{"white space", " 42", 0},
		{"nothing", "", 0},
		{"digits of another script", "४२", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse("Product", row.text)
			if got != row.want || (row.want == 0) != fault.Is(err, fault.Invalid) {
				t.Errorf("%q is %d (%v), want %d", row.text, got, err, row.want)
			}
		})
	}
}

func TestOfAndNumberAreInverse(t *testing.T) {
	t.Parallel()
	if got := Of("SubscriptionContract", 9001); got != "gid://shopify/SubscriptionContract/9001" || Number(got) != 9001 {
		t.Errorf("%s holds %d", got, Number(got))
	}
	for _, text := range []string{"", "9001", "gid://shopify/SubscriptionLine/0c68-1827"} {
		if got := Number(text); got != 0 {
			t.Errorf("%q holds %d, want none", text, got)
		}
	}
}

func FuzzParseGID(f *testing.F) {
	f.Add("Product", "gid://shopify/Product/42")
	f.Add("Product", "42")
	f.Fuzz(func(t *testing.T, kind, text string) {
		id, err := Parse(kind, text)
		if (err == nil) != (id >= 1 && id <= Max) {
			t.Errorf("%q: %d, %v", text, id, err)
		}
	})
}
