package words

import (
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// Points writes a number of points with the name that the store's points have: "1,200 Beans".
func Points(v portal.Visit, t loyalty.Terms, n loyalty.Points) string {
	number := n.String()
	if n%loyalty.One == 0 {
		number = v.Words.Number(int64(n / loyalty.One))
	}
	return v.T("rewards.amount", "points", number, "label", t.Label)
}
