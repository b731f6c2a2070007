package platform_test

import (
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/platform"
)

func TestScopeThatPermitsWritingIncludesReading(t *testing.T) {
	t.Parallel()
	list := []platform.Scope{{Name: "read_orders"}, {Name: "write_products"}, {Name: "unauthenticated_read_checkouts"}, {Name: "read_locations"}}
	tests := []struct {
		granted string
		missing string
	}{
		{"read_orders,write_products,unauthenticated_read_checkouts,read_locations", ""},
		{"write_orders, write_products,unauthenticated_write_checkouts ,read_locations", ""},
		{"write_orders,read_products,write_checkouts,write_locations", "write_products unauthenticated_read_checkouts"},
		{"", "read_orders write_products unauthenticated_read_checkouts read_locations"},
		{"xwrite_orders,write_products_more", "read_orders write_products unauthenticated_read_checkouts read_locations"},
	}
	for _, tt := range tests {
		missing := platform.ScopeNames(platform.MissingScopes(list, platform.ParseScopes(tt.granted)))
		if got := strings.Join(missing, " "); got != tt.missing {
			t.Errorf("%q lacks %q, want %q", tt.granted, got, tt.missing)
		}
	}
}

func TestEveryScopeHasAReason(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range platform.Scopes() {
		if s.Name == "" || s.Feature == "" || !strings.HasSuffix(s.Why, ".") || seen[s.Name] {
			t.Errorf("%+v", s)
		}
		seen[s.Name] = true
	}
	for _, s := range platform.ProxyScopes() {
		if !seen[s.Name] {
			t.Errorf("%s is only in the second list", s.Name)
		}
	}
}

func TestDomainOfAStoreIsParsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"some-shop.myshopify.com": "some-shop.myshopify.com", "Some-Shop.myshopify.com/": "some-shop.myshopify.com", "some-shop.MyShopify.com": "", "a_b.myshopify.com//": "a_b.myshopify.com",
		"admin.shopify.com/store/some-shop": "some-shop.myshopify.com",
		"":                                  "", "myshopify.com": "", ".myshopify.com": "", "-a.myshopify.com": "", "_a.myshopify.com": "", "a.b.myshopify.com": "", "a.myshopify.com.evil.example": "",
		"evil.example/a.myshopify.com": "", "a.myshopify.com/admin": "", "a.myshopify.com\n": "", "a%2emyshopify.com": "", "ä.myshopify.com": "", "admin.shopify.com/store/a/b": "",
		"admin.shopify.com/store/a/": "", strings.Repeat("a", 300) + ".myshopify.com": "", "a.myshopify.com:80": "", "u@a.myshopify.com": "", "\u212a.myshopify.com": "",
	} {
		got, ok := platform.ParseDomain(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q is read as %q, %t", text, got, ok)
		}
	}
}
