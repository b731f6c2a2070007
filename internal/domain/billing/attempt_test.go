package billing

import (
	"testing"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestSuccessIsFinal(t *testing.T) {
	t.Parallel()
	for _, to := range Statuses {
		a := Attempt{Status: Success}
		if err := a.ChangeStatus(to); err == nil {
			t.Errorf("a successful attempt became %s", to)
		}
	}
}

func TestEveryStatusCanSucceed(t *testing.T) {
	t.Parallel()
	for _, from := range Statuses {
		a := Attempt{Status: from}
		if err := a.ChangeStatus(Success); err != nil && from != Success {
			t.Errorf("an order found for an attempt that is %s cannot be adopted: %v", from, err)
		}
	}
}

func TestIdempotencyKeysNeverChange(t *testing.T) {
	t.Parallel()
	// These values are stored at the platform: changing them charges customers twice.
	if got := KeyOf("demo.myshopify.com", 9001, 3, 1); got != "prn1-siic52cy5vpf5lowtgkh6v2ib3n2ywru" {
		t.Errorf("the key of a charge changed to %s", got)
	}
	seen := make(map[string]bool)
	for _, domain := range []string{"a.myshopify.com", "b.myshopify.com"} {
		for _, c := range []contract.ID{1, 11} {
			for _, cycle := range []int{1, 2, 11} {
				for try := 1; try < 4; try++ {
					key := KeyOf(domain, c, cycle, try)
					if seen[key] {
						t.Errorf("two charges share the key %s", key)
					}
					seen[key] = true
				}
			}
		}
	}
}
