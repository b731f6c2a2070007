package privacy

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func TestNextInstantOfRequest(t *testing.T) {
	t.Parallel()
	days := func(n int) time.Time { return noon.AddDate(0, 0, n) }
	for _, row := range []struct {
		name          string
		r             Request
		want          time.Time
		open, overdue bool // 30 days later
	}{
		{"an export is collected at once", Request{Kind: Export}, noon, true, true},
		{"the merchant is reminded of an export after 20 days", Request{Kind: Export, ReadyAt: noon}, days(20), true, true},
		{"an export that was downloaded is kept for 30 days", Request{Kind: Export, ReadyAt: days(1), DownloadedAt: days(2)}, days(31), false, false},
		{"after the reminder nothing is due", Request{Kind: Export, ReadyAt: noon, RemindedAt: days(20)}, time.Time{}, true, true},
		{"the merchant is reminded of an erasure", Request{Kind: EraseCustomer}, days(20), true, true},
		{"a closed request is never due", Request{Kind: EraseStore, ClosedAt: days(1)}, time.Time{}, false, false},
	} {
		row.r.ReceivedAt, row.r.DueBy = noon, noon.Add(Deadline)
		if got := row.r.next(noon); !got.Equal(row.want) || row.r.Open() != row.open || row.r.Overdue(days(30)) != row.overdue || row.r.Overdue(days(29)) {
			t.Errorf("%s: due at %v, open %t, overdue %t; want %v, %t, %t", row.name, got, row.r.Open(), row.r.Overdue(days(30)), row.want, row.open, row.overdue)
		}
	}
}

func TestArchiveHoldsSameDataForProgramsAndPeople(t *testing.T) {
	t.Parallel()
	a, err := pack(Copy{Store: "demo.myshopify.com", Customer: 7, At: noon, Sections: []Section{
		{Name: "contracts", Title: "Subscriptions", Records: []Record{{{"customer_name", "<b>Ana</b>"}, {"created_at", noon}, {"lines", json.RawMessage(`[{"title":"Tea"}]`)}}}},
		{Name: "messages", Title: "E-mails", Records: []Record{}},
	}})
	if err != nil || a.Name != "customer-7-2026-03-10.zip" {
		t.Fatalf("%q, %v", a.Name, err)
	}
	z, err := zip.NewReader(bytes.NewReader(a.Zip), int64(len(a.Zip)))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	var read struct {
		Sections []struct {
			Records []struct {
				Name string `json:"customer_name"`
			}
		}
	}
	if err := json.Unmarshal([]byte(files["data.json"]), &read); err != nil || len(read.Sections) != 2 || read.Sections[0].Records[0].Name != "<b>Ana</b>" {
		t.Errorf("data.json holds %+v, %v", read, err)
	}
	html := files["data.html"]
	for _, want := range []string{"&lt;b&gt;Ana&lt;/b&gt;", "customer name", "10 March 2026 12:00 UTC", "Tea", "Nothing is stored."} {
		if !strings.Contains(html, want) {
			t.Errorf("data.html lacks %q", want)
		}
	}
	if strings.Contains(html, "<b>") || len(files) != 2 {
		t.Errorf("%d files; the page holds the customer's markup: %t", len(files), strings.Contains(html, "<b>"))
	}
}
