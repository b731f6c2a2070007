package admin

import (
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"

	"github.com/google/go-cmp/cmp"
)

func TestQueryOfListIsReadAsWhatTheSearchFinds(t *testing.T) {
	t.Parallel()
	month := cadence.Month
	for query, want := range map[string]contract.Filter{
		"":                                {Line: shop.Subscriptions},
		"page=3&size=50&sort=id,desc":     {Line: shop.Subscriptions},
		"failing=true&ending=true":        {Line: shop.Subscriptions, Failing: true, Ending: true},
		"line=membership&status=paused":   {Line: shop.Memberships, Status: contract.Paused},
		"customerName=Ada&orderName=&":    {Line: shop.Subscriptions, CustomerPart: "Ada"},
		"minOrderAmount=10.5&variantId=7": {Line: shop.Subscriptions, MinAmount: new(int64(10500)), VariantID: 7},
		"billingPolicyInterval=MONTH&billingPolicyIntervalCount=2":  {Line: shop.Subscriptions, DeliveryInterval: &month, DeliveryCount: 2},
		"fromNextDate=2026-03-01&toNextDate=2026-03-01":             {Line: shop.Subscriptions, NextFrom: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), NextTo: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC).Add(-time.Millisecond)},
		"planType=prepaid&recordType=nonImported&customerEmail=a@b": {Line: shop.Subscriptions, Prepaid: new(true), Imported: new(false), CustomerEmail: "a@b"},
	} {
		got, err := ContractFilter(query, time.UTC)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v, %s", query, err, diff)
		}
	}
	for _, query := range []string{"view=failing", "failing=yes", "status=ACTIVE&status=PAUSED", "status=GONE", "line=loyalty", "minOrderAmount=NaN", "maxOrderAmount=x", "billingPolicyIntervalCount=0", "fromNextDate=2026-03-01", "%zz", "customerName=" + strings.Repeat("a", 256)} {
		if _, err := ContractFilter(query, time.UTC); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", query, err)
		}
	}
}
