package sheet_test

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/sheet"
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
		if got := sheet.Cell(text); got != want {
			t.Errorf("cell of %q is %q, want %q", text, got, want)
		}
	}
}

func TestTextIsWhatCellWasMadeOf(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"":           "",
		"Ana":        "Ana",
		"'=1+1":      "=1+1",
		"'+49 170 1": "+49 170 1",
		"'s Graven":  "'s Graven",
		"'-12.50":    "'-12.50",
		"=1+1":       "=1+1",
		"''=1+1":     "''=1+1",
		"'\uff1d1+1": "\uff1d1+1",
	} {
		if got := sheet.Text(cell); got != want {
			t.Errorf("text of %q is %q, want %q", cell, got, want)
		}
	}
}
