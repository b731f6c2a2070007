package cancellations

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/report"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// download answers with the numbers of the report: all sessions, and those of each reason, offer,
// plan group and number of completed orders.
func (m *room) download(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	a, err := m.ask(r, v)
	if err != nil {
		return err
	}
	out := web.NewCSV(w, fmt.Sprintf("cancellations-%d-days-%s.csv", a.days, m.Clock.Now().In(v.Zone).Format("2006-01-02")))
	err = out.Row("By", "Of", "Started", "Open", "Offers made", "Accepted", "Kept by choice", "Left", "Cancelled", "Scheduled to end", "Save rate, %", "Kept 60 days ago", "Still there after 60 days", "Survival, %")
	if err != nil {
		return err
	}
	write := func(by, of string, t report.Tally) error {
		row := []string{by, of}
		for _, n := range []int{t.Sessions, t.Open, t.Shown, t.Accepted, t.Kept, t.Abandoned, t.Cancelled, t.Scheduled} {
			row = append(row, strconv.Itoa(n))
		}
		return out.Row(append(row, tenths(t.Saved()), strconv.Itoa(t.Ripe), strconv.Itoa(t.Survived), tenths(t.Lasting()))...)
	}
	if err := write("All", "", a.Tally); err != nil {
		return err
	}
	for _, part := range []struct {
		by    string
		lines []report.Line
		name  func(string) string
	}{
		{"Reason", a.Reasons, a.reason}, {"Offer", a.Offers, func(key string) string { return kindWords[flow.Kind(key)] }},
		{"Plan group", a.Plans, a.plan}, {"Completed orders", a.Ages, a.age},
	} {
		for _, l := range part.lines {
			if err := write(part.by, part.name(l.Key), l.Tally); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

// tenths returns a share in percent with one decimal, or nothing of nothing.
func tenths(s report.Share) string {
	if s.Of == 0 {
		return ""
	}
	return strconv.FormatFloat(s.Value()*100, 'f', 1, 64)
}
