package table_test

import (
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
)

// No bytes break the reader, every row has its line, and a contract without findings is whole.
func FuzzContracts(f *testing.F) {
	for _, seed := range []string{
		string(table.Template(table.ContractRows)), withValues(nil), withValues(map[string]string{"price": "1.234,50 €", "next order date": "31.12.2026", "billing interval": "every 2 weeks"}),
		short + "7,ana@example.com,46387.5,P1M,44,\"1,5\"\n7,,,,44,=1\n", "\xef\xbb\xbfid;email\n1;a\n", "\xff\xfei\x00d\x00\n\x00", "sep=|\nid|price\n1|Zo\xeb\n",
		short + "7,\"ana\n", short + "7,a\"b,,,,\n", "", "\x00", "PK\x03\x04",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := table.Open(strings.NewReader(string(text)))
		if err != nil {
			return
		}
		m := table.Guess(table.ContractRows, file.Header)
		for _, field := range []string{"id", "email", "sku", "variantId", "price", "billingInterval", "nextOrderDate", "attributes", "discountPercent", "billingCount"} {
			if m[field] == "" {
				m[field] = file.Header[len(file.Header)-1]
			}
		}
		if m["id"] == "" {
			return
		}
		scan, err := file.Scan(table.ContractRows, m)
		if err != nil {
			return
		}
		if file, err = table.Open(strings.NewReader(string(text))); err != nil {
			t.Fatal(err)
		}
		last := 0
		for r, err := range table.Contracts(file, scan, euros) {
			if err != nil {
				return
			}
			if r.Line <= last {
				t.Fatalf("line %d comes after line %d", r.Line, last)
			}
			last = r.Line
			if len(r.Findings) == 0 {
				whole(t, r.Contract)
			}
			for _, found := range r.Findings {
				if found.Text == "" || found.Code == "" || found.Fit != moving.Stays && found.Fit != moving.Changes {
					t.Fatalf("the finding says nothing: %+v", found)
				}
			}
		}
	})
}

func whole(t *testing.T, c moving.Contract) {
	t.Helper()
	if c.ID < 1 || c.ImportedID == "" || c.Status == "" || c.Currency == "" || c.Billing.Validate() != nil || c.Delivery.Validate() != nil ||
		c.Customer.ID == 0 && c.Customer.Email == "" || len(c.Lines) == 0 || c.Status == "ACTIVE" && c.Next.IsZero() {
		t.Fatalf("the contract has no findings and is not whole: %+v", c)
	}
	for _, l := range c.Lines {
		if l.Variant < 1 || l.Quantity < 1 || l.Price.Minor < 0 || l.Price.Currency != c.Currency {
			t.Fatalf("the line has no findings and is not whole: %+v", l)
		}
	}
}
