package test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// The number of the next cycle follows orders, skips, declines and the end.
func TestNextCycleIsNumbered(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	wantCycle := func(when string, want int) {
		t.Helper()
		var cycle int
		if s.get(fmt.Sprintf("/subscription-contract-details/current-cycle/%d", s.id), &cycle); cycle != want {
			t.Errorf("%s cycle %d comes next, want %d", when, cycle, want)
		}
	}
	wantCycle("at first", 1)
	s.until("2026-11-12")
	wantCycle("after an order", 2)
	s.skipNumber(0)
	wantCycle("after a skip", 3)
	s.until("2027-01-10")
	s.declines("INSUFFICIENT_FUNDS", 1)
	s.until("2027-01-11")
	wantCycle("while an order is unpaid", 3)
	s.cancel(http.StatusNoContent, "")
	wantCycle("after the end", 4)
	s.refused(http.StatusNotFound, "GET", "/subscription-contract-details/current-cycle/1", nil)
}

func TestContractShowsItsTotals(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"lines": []any{map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "10.01"}}})
	type figures struct {
		ContractID, TotalOrders, Skipped, Failed       int64
		TotalAmount, AverageOrderValue                 float64
		CurrencyCode                                   string
		FirstOrderDate, LastOrderDate, NextBillingDate *time.Time
	}
	read := func() (f figures) {
		t.Helper()
		s.get(fmt.Sprintf("/subscription-contract-details/analytics/%d", s.id), &f)
		return f
	}
	f := read()
	if f.ContractID != s.id || f.TotalOrders != 0 || f.TotalAmount != 0 || f.AverageOrderValue != 0 || f.CurrencyCode != "USD" || f.FirstOrderDate != nil || f.LastOrderDate != nil {
		t.Errorf("at first: %+v", f)
	}
	s.until("2026-11-12")
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item-price?%s&basePrice=20.04", s.line()), nil)
	s.until("2026-12-12")
	s.skipNumber(0)
	s.until("2027-02-10")
	s.declines("INSUFFICIENT_FUNDS", 1)
	s.until("2027-02-11")
	f = read()
	if f.TotalOrders != 2 || f.TotalAmount != 30.05 || f.AverageOrderValue != 15.03 || f.Skipped != 1 || f.Failed != 1 {
		t.Errorf("in the end: %+v", f)
	}
	wantDay(t, "the first order", f.FirstOrderDate, "2026-11-11T14:00:00Z")
	wantDay(t, "the last order", f.LastOrderDate, "2026-12-11T14:00:00Z")
	wantDay(t, "the next order", f.NextBillingDate, "2027-03-11T14:00:00Z")
	s.refused(http.StatusNotFound, "GET", "/subscription-contract-details/analytics/1", nil)
}

func TestLastOrdersFulfillmentsAreShown(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	type shown struct {
		OrderID      *int64  `json:"lastSuccessfulOrderId"`
		OrderName    *string `json:"lastSuccessfulOrderName"`
		Fulfillments struct {
			Nodes []struct {
				ID, Status, DisplayStatus                   string
				CreatedAt, EstimatedDeliveryAt, DeliveredAt *time.Time
				TrackingInfo                                []struct{ Company, Number, URL string }
				Lines                                       struct {
					Nodes []struct {
						Quantity int
						LineItem struct{ Title string }
					}
				} `json:"fulfillmentLineItems"`
			}
			Edges []any
		}
	}
	read := func() (is shown) {
		t.Helper()
		s.get(fmt.Sprintf("/subscription-contract-details/subscription-fulfillments/%d", s.id), &is)
		return is
	}
	if is := read(); is.OrderID != nil || is.OrderName != nil || is.Fulfillments.Nodes == nil || len(is.Fulfillments.Nodes) != 0 {
		t.Errorf("before the first order: %+v", is)
	}
	s.until("2026-11-11")
	is := read()
	if is.OrderID == nil || is.OrderName == nil || len(is.Fulfillments.Nodes) != 0 {
		t.Fatalf("of an order without a fulfillment: %+v", is)
	}
	s.call("POST", fmt.Sprintf("/platform/orders/%d/fulfillment", *is.OrderID), map[string]any{
		"displayStatus": "DELIVERED", "company": "DHL", "number": "42", "url": "https://dhl.example/42",
		"estimatedDeliveryAt": "2026-11-14T17:00:00Z", "deliveredAt": "2026-11-13T10:00:00Z",
	}, nil)
	is = read()
	if len(is.Fulfillments.Nodes) != 1 || len(is.Fulfillments.Edges) != 1 {
		t.Fatalf("sent: %+v", is)
	}
	f := is.Fulfillments.Nodes[0]
	if f.ID == "" || f.Status != "SUCCESS" || f.DisplayStatus != "DELIVERED" || fmt.Sprint(f.TrackingInfo) != "[{DHL 42 https://dhl.example/42}]" ||
		len(f.Lines.Nodes) != 1 || f.Lines.Nodes[0].Quantity != 2 || f.Lines.Nodes[0].LineItem.Title == "" {
		t.Errorf("sent: %+v", f)
	}
	wantDay(t, "the sending", f.CreatedAt, "2026-11-11T20:00:00Z")
	wantDay(t, "the estimate", f.EstimatedDeliveryAt, "2026-11-14T17:00:00Z")
	wantDay(t, "the arrival", f.DeliveredAt, "2026-11-13T10:00:00Z")
	s.until("2026-12-11")
	if next := read(); *next.OrderID == *is.OrderID || len(next.Fulfillments.Nodes) != 0 {
		t.Errorf("of the next order: %+v", next)
	}
	s.refused(http.StatusNotFound, "GET", "/subscription-contract-details/subscription-fulfillments/1", nil)
}
