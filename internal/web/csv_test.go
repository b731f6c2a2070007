package web_test

import (
	"net/http/httptest"
	"testing"

	"github.com/perennialhq/perennial/internal/web"
)

func TestCellIsNeverFormula(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                     "",
		"Ana":                  "Ana",
		"=1+1":                 "'=1+1",
		"+1+1":                 "'+1+1",
		"-1+1":                 "'-1+1",
		"@SUM(A1)":             "'@SUM(A1)",
		"\t=1":                 "'\t=1",
		"\r=1":                 "'\r=1",
		"\n=1":                 "'\n=1",
		"  =1":                 "'  =1",
		"\ufeff=1":             "'\ufeff=1",
		"\uff1d1+1":            "'\uff1d1+1",
		"-":                    "'-",
		"+":                    "'+",
		"-12.50":               "-12.50",
		"+3":                   "+3",
		"-4.5%":                "-4.5%",
		"-1,234.50":            "-1,234.50",
		"+49 170 1":            "'+49 170 1",
		"-2+3+cmd|' /C calc'!": "'-2+3+cmd|' /C calc'!",
		"a=1":                  "a=1",
		"'=1":                  "'=1",
		"-5\n=1":               "'-5\n=1",
	} {
		if got := web.Cell(text); got != want {
			t.Errorf("cell of %q is %q, want %q", text, got, want)
		}
	}
}

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
