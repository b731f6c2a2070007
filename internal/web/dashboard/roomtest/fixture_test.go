package roomtest_test

import (
	"regexp"
	"testing"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
)

// canary is a text of a customer or a user that pages must show as text, neither as HTML nor as a template.
const canary = "<script>alert(1)</script>{{7*7}}"

func eur(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "EUR"} }

// hiddenField returns the value of a hidden field of a page.
func hiddenField(t *testing.T, p dashboardtest.Page, name string) string {
	t.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(p.Text)
	if found == nil {
		t.Fatalf("%s has no field %s:\n%s", p.Path, name, p.Text)
	}
	return found[1]
}
