package test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// privacyRequest is a request for personal data.
type privacyRequest struct {
	ID                                             int64
	Kind                                           string
	CustomerID                                     int64
	Records                                        int
	Available, Open, Reminded, Overdue, Downloaded bool
}

func (s *subscription) requests() (list []privacyRequest) {
	s.t.Helper()
	s.call("GET", "/privacy", nil, &list)
	return list
}

// logged counts the entries of the store that hold a text.
func (s *subscription) logged(text string) (n int) {
	s.t.Helper()
	var entries []struct{ AdditionalInfo any }
	s.get("/activity-logs?entityType.equals=SHOP_INFO&size=100", &entries)
	for _, e := range entries {
		if strings.Contains(fmt.Sprint(e.AdditionalInfo), text) {
			n++
		}
	}
	return n
}

// asksForData has the platform pass on a customer's request for their data.
func (s *subscription) asksForData(customer int64) {
	s.t.Helper()
	s.says("customers/data_request", fmt.Sprintf(`{"shop_domain":"demo.myshopify.com","orders_requested":[],"customer":{"id":%d,"email":"ana@shopper.example"},"data_request":{"id":9}}`, customer))
	s.pass("PT1M")
}

func TestCustomerDataIsExportedAndMerchantIsReminded(t *testing.T) {
	t.Parallel()
	s := subscribeBesideOthers(t, map[string]any{"note": "the blue door", "nextBillingDate": "2026-11-05T14:00:00Z"})
	s.pass("P5D") // an order
	customer := s.payer(s.id)
	s.asksForData(customer)
	list := s.requests()
	if len(list) != 1 || list[0].Kind != "DATA_REQUEST" || list[0].CustomerID != customer || !list[0].Available || !list[0].Open || list[0].Records < 3 {
		t.Fatalf("requests %+v", list)
	}
	s.pass("P20D")
	if list = s.requests(); !list[0].Reminded || list[0].Overdue || s.logged("still open") != 1 {
		t.Errorf("after 20 days: %+v, %d reminders in the log", list[0], s.logged("still open"))
	}
	if mails := s.letters("kind=merchant_notice"); len(mails) != 1 || mails[0].To != "owner@demo.myshopify.com" {
		t.Errorf("e-mails about open requests: %+v", mails)
	}
	s.pass("P10D")
	if list = s.requests(); !list[0].Overdue || s.logged("still open") != 1 {
		t.Errorf("after 30 days: %+v", list[0])
	}
	path := fmt.Sprintf("/privacy/%d/download", list[0].ID)
	if got := s.send("POST", s.urls.Control+path+"?shop=other.myshopify.com", "", nil, nil); got != http.StatusNotFound {
		t.Errorf("another store's download is answered %d", got)
	}
	var a struct {
		Name string
		Zip  []byte
	}
	s.call("POST", path, nil, &a)
	z, err := zip.NewReader(bytes.NewReader(a.Zip), int64(len(a.Zip)))
	if err != nil || len(z.File) != 2 {
		t.Fatalf("%s: %v", a.Name, err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"ana@shopper.example", "Silva", "the blue door", "25.00", fmt.Sprint(s.id)} {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("%s lacks %q", f.Name, want)
			}
		}
	}
	if list = s.requests(); !list[0].Downloaded || list[0].Open || s.logged("was downloaded") != 1 {
		t.Errorf("after the download: %+v", list[0])
	}
	s.pass("PT1H")
	if got := s.send("POST", s.urls.Control+path, "", nil, nil); got < 400 {
		t.Errorf("a download after 30 days is answered %d", got)
	}
}

func TestErasureOfCustomerIsLoggedAndEndsTheirExport(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	customer := s.payer(s.id)
	s.asksForData(customer)
	s.call("POST", fmt.Sprintf("/platform/customers/%d/redact", customer), nil, nil)
	s.pass("PT10M")
	if list := s.requests(); len(list) != 2 || list[0].Kind != "CUSTOMER_REDACT" || !list[0].Open {
		t.Fatalf("requests %+v", list)
	}
	s.pass("PT2H")
	for _, r := range s.requests() {
		if r.Open || r.Available {
			t.Errorf("after the erasure: %+v", r)
		}
	}
	if n := s.logged("was erased"); n != 1 {
		t.Errorf("%d entries about the erasure", n)
	}
	if left := s.rowsWith("ana@shopper.example"); !onPostgres(t) && len(left) > 0 {
		t.Errorf("left in %v", left)
	}
}
