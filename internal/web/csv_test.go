package web_test

import (
	"net/http/httptest"
	"testing"

	"github.com/perennialhq/perennial/internal/web"
)

func TestCSVIsDownloadWithSafeRows(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	out := web.NewCSV(w, "mrr \"2026\"\r\n.csv")
	for _, row := range [][]string{{"Day", "MRR"}, {"2026-01-01", "-5.00"}, {`=HYPERLINK("x")`, "a,b"}} {
		if err := out.Row(row...); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	const want = "Day,MRR\r\n2026-01-01,-5.00\r\n\"'=HYPERLINK(\"\"x\"\")\",\"a,b\"\r\n"
	if got := w.Body.String(); got != want {
		t.Errorf("the body is %q, want %q", got, want)
	}
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="mrr--2026---.csv"` {
		t.Errorf("Content-Disposition is %q", got)
	}
	if got := w.Header().Get("Content-Type"); got != "text/csv; charset=utf-8" {
		t.Errorf("Content-Type is %q", got)
	}
}
