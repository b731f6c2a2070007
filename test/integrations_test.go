package test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// lastOrder is the JSON text of lastSuccessfulOrder.
type lastOrder struct {
	OrderID                int64
	OrderName              string
	BillingDate, OrderDate time.Time
	OrderAmount            float64
}

func TestTheLastOrderSaysWhenItWasMadeAndWhatItCost(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-delivery-price?contractId=%d&deliveryPrice=4.90", s.id), nil)
	s.pass("P11D")
	order := s.orders()[0]
	var rows []struct{ LastSuccessfulOrder string }
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
	var last lastOrder
	if err := json.Unmarshal([]byte(rows[0].LastSuccessfulOrder), &last); err != nil {
		t.Fatal(err)
	}
	if last.OrderAmount != 29.90 || fmt.Sprintf("%.2f", last.OrderAmount) != order.Amount || last.OrderDate.IsZero() || !last.OrderDate.Equal(last.BillingDate) {
		t.Errorf("the last order is %s, want one over %s", rows[0].LastSuccessfulOrder, order.Amount)
	}
}
