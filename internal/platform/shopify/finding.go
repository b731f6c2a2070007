package shopify

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
)

// anyOf returns a search for what has one of the values; what the syntax gives a meaning within
// quotes is left out (https://shopify.dev/docs/api/usage/search-syntax).
func anyOf(key string, values []string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = key + `:"` + strings.NewReplacer(`"`, "", `\`, "").Replace(v) + `"`
	}
	return strings.Join(parts, " OR ")
}

// find reads what a search finds, with one of the documents that have $query.
func (s session) find(ctx context.Context, name, text, query string, into any) error {
	variables, err := json.Marshal(struct {
		Query string `json:"query"`
	}{query})
	if err != nil {
		return fmt.Errorf("encode the search: %w", err)
	}
	errs, err := s.ask(ctx, s.client.document(name, text), variables, into)
	if err != nil {
		return err
	}
	return failure(besidesRights(errs))
}

// CustomersByEmail returns the customers with e-mail addresses.
func (c *Client) CustomersByEmail(ctx context.Context, shop platform.Shop, emails []string) ([]platform.Customer, error) {
	if len(emails) > platform.MaxIDs {
		return nil, fmt.Errorf("find customers by %d e-mail addresses: at most %d at once", len(emails), platform.MaxIDs)
	}
	if len(emails) == 0 {
		return nil, nil
	}
	var got struct {
		Customers struct {
			Nodes []customerNode `json:"nodes"`
		} `json:"customers"`
	}
	if err := c.session(shop).find(ctx, "FindCustomers", admin.FindCustomers_Operation, anyOf("email", emails), &got); err != nil {
		return nil, fmt.Errorf("find customers by their e-mail addresses: %w", err)
	}
	list := make([]platform.Customer, 0, len(got.Customers.Nodes))
	for _, n := range got.Customers.Nodes {
		k := newCustomer(&n.Customer)
		k.Tags = n.Tags
		list = append(list, k)
	}
	return list, nil
}

// VariantsBySKU returns the variants with SKUs. When one page does not hold them, they are found
// in two halves.
func (c *Client) VariantsBySKU(ctx context.Context, shop platform.Shop, skus []string) ([]platform.Variant, error) {
	if len(skus) > platform.MaxIDs {
		return nil, fmt.Errorf("find variants by %d SKUs: at most %d at once", len(skus), platform.MaxIDs)
	}
	if len(skus) == 0 {
		return nil, nil
	}
	var got struct {
		Variants struct {
			Nodes    []variantNode `json:"nodes"`
			PageInfo struct {
				More bool `json:"hasNextPage"`
			} `json:"pageInfo"`
		} `json:"productVariants"`
		Shop struct {
			Currency money.Currency `json:"currencyCode"`
		} `json:"shop"`
	}
	if err := c.session(shop).find(ctx, "FindVariants", admin.FindVariants_Operation, anyOf("sku", skus), &got); err != nil {
		return nil, fmt.Errorf("find variants by their SKUs: %w", err)
	}
	if half := len(skus) / 2; got.Variants.PageInfo.More && half > 0 {
		some, err := c.VariantsBySKU(ctx, shop, skus[:half])
		if err != nil {
			return nil, err
		}
		others, err := c.VariantsBySKU(ctx, shop, skus[half:])
		return append(some, others...), err
	}
	list := make([]platform.Variant, 0, len(got.Variants.Nodes))
	for _, n := range got.Variants.Nodes {
		v, err := newVariant(&n, got.Shop.Currency)
		if err != nil {
			return nil, fmt.Errorf("read variant %s: %w", n.ID, err)
		}
		list = append(list, v)
	}
	return list, nil
}

// UsablePaymentMethods returns the payment methods of customers that can be charged.
func (c *Client) UsablePaymentMethods(ctx context.Context, shop platform.Shop, customers []int64) (map[int64][]string, error) {
	var got struct {
		Nodes []*struct {
			ID      string `json:"id"`
			Methods struct {
				Nodes []struct {
					ID        string     `json:"id"`
					RevokedAt *time.Time `json:"revokedAt"`
				} `json:"nodes"`
			} `json:"paymentMethods"`
		} `json:"nodes"`
	}
	if err := c.session(shop).byIDs(ctx, "UsablePaymentMethods", admin.UsablePaymentMethods_Operation, typeCustomer, customers, &got); err != nil {
		return nil, fmt.Errorf("read the payment methods of %d customers: %w", len(customers), err)
	}
	usable := make(map[int64][]string, len(customers))
	for _, n := range got.Nodes {
		if n == nil || n.ID == "" {
			continue
		}
		list := []string{}
		for _, m := range n.Methods.Nodes {
			if m.RevokedAt == nil {
				list = append(list, m.ID)
			}
		}
		usable[gid.Number(n.ID)] = list
	}
	return usable, nil
}
