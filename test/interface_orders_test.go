package test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

func TestAttemptIsSkippedAndUnskippedByStatus(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first := s.upcoming()[0]
	set := func(status string) (int, attempt) {
		var a attempt
		return s.put("/subscription-billing-attempts", map[string]any{"id": first.ID, "status": status}, &a), a
	}
	if got, a := set("skipped"); got != http.StatusOK || a.Status != "SKIPPED" {
		t.Errorf("skipping answered %d %+v", got, a)
	}
	if next := s.upcoming()[0]; next.ID == first.ID {
		t.Errorf("the skipped order still is to come: %+v", next)
	}
	if got, a := set("QUEUED"); got != http.StatusOK || a.Status != "QUEUED" || s.upcoming()[0].ID != first.ID {
		t.Errorf("taking it back answered %d %+v", got, a)
	}
	for _, other := range []string{"SUCCESS", "FAILURE", "LOST"} {
		if got, _ := set(other); got != http.StatusBadRequest {
			t.Errorf("setting %s answered %d", other, got)
		}
	}
	if got, _ := set("SKIPPED"); got != http.StatusOK {
		t.Errorf("skipping again answered %d", got)
	}
	s.pass("P45D")
	if orders := s.orders(); len(orders) != 1 || orders[0].Cycle != 2 {
		t.Errorf("orders %+v, want that of cycle 2 alone", orders)
	}
}

func TestSkipRequiresRightPrepaidFlag(t *testing.T) {
	t.Parallel()
	for name, prepaid := range map[string]bool{"paid as it comes": false, "paid ahead": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := map[string]any{}
			if prepaid {
				change["billingPolicy"] = map[string]any{"interval": "MONTH", "intervalCount": 3}
				change["deliveryPolicy"] = map[string]any{"interval": "MONTH", "intervalCount": 1}
			}
			s := subscribe(t, change)
			skip := func(word bool) (int, attempt) {
				var a attempt
				return s.put(fmt.Sprintf("/subscription-billing-attempts/skip-order/%d?isPrepaid=%t", s.upcoming()[0].ID, word), nil, &a), a
			}
			if got, _ := skip(!prepaid); got != http.StatusBadRequest {
				t.Errorf("saying the opposite answered %d", got)
			}
			if got, a := skip(prepaid); got != http.StatusOK || a.Status != "SKIPPED" {
				t.Errorf("saying what it is answered %d %+v", got, a)
			}
			if got := s.put(fmt.Sprintf("/subscription-billing-attempts/skip-order/%d?isPrepaid=perhaps", s.upcoming()[0].ID), nil, nil); got != http.StatusBadRequest {
				t.Errorf("saying nothing clear answered %d", got)
			}
		})
	}
}

func TestRemovingOneOffAnswersTheOthers(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	first, second := s.upcoming()[0], s.upcoming()[1]
	for _, add := range []string{
		oneOffPath(s.id, first.ID, v[1].VariantID, ""), oneOffPath(s.id, first.ID, v[2].VariantID, "&quantity=2&variantHandle=cold-brew"), oneOffPath(s.id, second.ID, v[3].VariantID, ""),
	} {
		if got := s.put(add, nil, nil); got != http.StatusOK {
			t.Fatalf("adding answered %d", got)
		}
	}
	var left []oneOff
	if got := s.delete(oneOffPath(s.id, first.ID, v[1].VariantID, ""), &left); got != http.StatusOK || len(left) != 2 {
		t.Fatalf("removing answered %d with %+v, want two that are left", got, left)
	}
	for i, listed := range s.upcomingOneOffs() {
		if listed.ID != left[i].ID {
			t.Errorf("answered %+v, and the list says %+v", left[i], listed)
		}
	}
	for i, want := range []struct {
		attempt  int64
		article  article
		quantity int
	}{{first.ID, v[2], 2}, {second.ID, v[3], 1}} {
		got := left[i]
		if got.ID == 0 || got.Shop != "demo.myshopify.com" || *got.Attempt != want.attempt || got.Contract != s.id || got.VariantID != want.article.VariantID ||
			got.Quantity != want.quantity || fmt.Sprintf("%.2f", got.Price) != want.article.Price || got.VariantHandle == nil {
			t.Errorf("one-time product %d is %+v, want %+v", i, got, want)
		}
	}
	if handle := *left[0].VariantHandle; handle != "cold-brew" {
		t.Errorf("the handle is %q, want the one that was given", handle)
	}
}

// A record is answered whole: that of an order that was made, when it is sent back
// as it was read, and that of one that is skipped, with its note and its pictures.
func TestOrderRecordIsAnsweredWhole(t *testing.T) {
	t.Parallel()
	s := illustrate(t)
	type record struct {
		ID           int64
		Status       string
		GraphOrderID *string
		OrderID      *int64
		OrderName    *string
		OrderNote    *string
		VariantList  []struct{ Image *string }
	}
	var past []map[string]any
	s.get(fmt.Sprintf("/subscription-billing-attempts/past-orders?contractId=%d", s.id), &past)
	if len(past) != 1 {
		t.Fatalf("past orders %v, want one", past)
	}
	orders := s.orders()
	var again record
	if got := s.put("/subscription-billing-attempts", past[0], &again); got != http.StatusOK {
		t.Fatalf("a record sent back as it was read answered %d", got)
	}
	if again.Status != "SUCCESS" || again.OrderID == nil || *again.OrderID != orders[0].ID || again.OrderName == nil || again.GraphOrderID == nil || *again.GraphOrderID != fmt.Sprintf("gid://shopify/Order/%d", orders[0].ID) {
		t.Errorf("the record of an order is %+v, want order %d", again, orders[0].ID)
	}

	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item?contractId=%d&lineId=%s&variantId=%d&quantity=2", s.id, url.QueryEscape(s.line), s.pictured), nil)
	next := s.upcoming()[0].ID
	var noted, gone record
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": next, "orderNote": "Ring twice"}, &noted); got != http.StatusOK {
		t.Fatalf("changing the note answered %d", got)
	}
	if got := s.put(fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", next), nil, &gone); got != http.StatusOK || gone.Status != "SKIPPED" {
		t.Fatalf("skipping answered %d %+v", got, gone)
	}
	for _, r := range []record{noted, gone} {
		if r.OrderNote == nil || *r.OrderNote != "Ring twice" || len(r.VariantList) != 1 || r.VariantList[0].Image == nil || *r.VariantList[0].Image != picture {
			t.Errorf("record %+v, want the note and the picture", r)
		}
	}
}
