package contractedit

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestPaidLineIsThatOfLastOrder(t *testing.T) {
	t.Parallel()
	dollars := func(cents int64) money.Amount { return money.Amount{Minor: cents, Currency: "USD"} }
	line := func(id string, variant, cents int64) contract.LineItem {
		return contract.LineItem{ID: id, VariantID: variant, Quantity: 2, Price: dollars(cents)}
	}
	order := func(id int64, status billing.Status, lines ...contract.LineItem) billing.Attempt {
		return billing.Attempt{OrderID: id, Status: status, Lines: lines}
	}
	renewed := contract.Contract{LastOrderAt: time.Unix(1, 0), LastOrderID: 7, Lines: []contract.LineItem{line("a", 1, 1500)}}
	bought := contract.Contract{FirstAmount: dollars(3000), Currency: "USD", Lines: []contract.LineItem{line("a", 1, 1500)}}
	raised := bought
	raised.Lines = []contract.LineItem{line("a", 1, 9900)}
	for _, row := range []struct {
		name     string
		of       contract.Contract
		attempts []billing.Attempt
		want     int64 // 0: not known
	}{
		{"what the last order charged, not what the line costs now", renewed, []billing.Attempt{order(6, billing.Success, line("a", 1, 1000)), order(7, billing.Success, line("b", 2, 500), line("a", 1, 1200))}, 1200},
		{"another product of the line", renewed, []billing.Attempt{order(7, billing.Success, line("a", 2, 1200))}, 0},
		{"a line that came after the order", renewed, []billing.Attempt{order(7, billing.Success, line("b", 1, 1200))}, 0},
		{"an order that is not known here", renewed, nil, 0},
		{"an order that was not made", renewed, []billing.Attempt{order(7, billing.Skipped, line("a", 1, 1200))}, 0},
		{"what the checkout charged for lines that have not changed", bought, nil, 1500},
		{"a price that was raised after the checkout", raised, nil, 0},
		{"a checkout whose amount is not known", contract.Contract{Lines: bought.Lines}, nil, 0},
	} {
		got, ok := paidLine(row.of, row.of.Lines[0], row.attempts)
		if ok != (row.want != 0) || ok && got.Price != dollars(row.want) {
			t.Errorf("%s: %s, %t", row.name, got.Price, ok)
		}
	}
}
