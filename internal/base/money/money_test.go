package money

import (
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
)

func TestParseUsesMinorUnitOfCurrency(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text     string
		currency Currency
		minor    int64
		shown    string
	}{
		{"10.0", "USD", 1000, "10.00"},
		{"408", "USD", 40800, "408.00"},
		{"0.05", "EUR", 5, "0.05"},
		{"-1.5", "USD", -150, "-1.50"},
		{"1200", "JPY", 1200, "1200"},
		{"1.234", "KWD", 1234, "1.234"},
		{"0.125", "USD", 12, "0.12"}, // half to even
		{"0.135", "USD", 14, "0.14"},
		{"999999999999.99", "USD", 99999999999999, "999999999999.99"},
	} {
		got, err := Parse(row.text, row.currency)
		if err != nil || got.Minor != row.minor || got.String() != row.shown {
			t.Errorf("%s %s: %d shown as %s (%v), want %d shown as %s", row.text, row.currency, got.Minor, got, err, row.minor, row.shown)
		}
	}
}

func TestParseRejectsInvalidAmount(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "ten", "1,5", "1e99", "99999999999999999999", "9223372036854775807", "0x10", "NaN"} {
		if got, err := Parse(text, "USD"); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q was read as %v (%v)", text, got, err)
		}
	}
}

func TestDiscountRoundsHalfForBuyer(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		minor   int64
		percent float64
		want    int64
	}{
		{1250, 25, 937}, {1850, 25, 1387}, {1495, 15, 1271}, {1000, 33.3, 667}, {1999, 100, 0}, {1999, 0, 1999}, {1, 50, 0}, {1099, 12.5, 962},
		{1_000_000, 0.0001, 999_999}, {99_999_999_999, 10, 89_999_999_999},
	} {
		if got := (Amount{row.minor, "USD"}).PercentOff(row.percent); got != (Amount{row.want, "USD"}) {
			t.Errorf("%v %% off %d leaves %v, want %d", row.percent, row.minor, got, row.want)
		}
	}
	for _, row := range []struct{ minor, part, whole, want int64 }{
		{200, 100, 300, 67}, {25, 1, 2, 12}, {900, 8999, 9999, 810}, {200, 0, 300, 0}, {200, 300, 300, 200}, {600, 300, 200, 900},
		{1_000_000_000_000, 999_999_999_999, 1_000_000_000_000, 999_999_999_999},
	} {
		if got := (Amount{row.minor, "USD"}).Share(row.part, row.whole); got != (Amount{row.want, "USD"}) {
			t.Errorf("%d/%d of %d is %v, want %d", row.part, row.whole, row.minor, got, row.want)
		}
	}
}

func TestMilliComparesFaceValues(t *testing.T) {
	t.Parallel()
	for _, a := range []Amount{{150, "USD"}, {1500, "KWD"}} {
		if a.Milli() != 1500 {
			t.Errorf("%v is %d thousandths, want 1500", a, a.Milli())
		}
	}
	if got := (Amount{2, "JPY"}).Milli(); got != 2000 {
		t.Errorf("2 yen are %d thousandths, want 2000", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"10.0", "-0.01", "1e5", "999999999999999999", ".5", "5."} {
		f.Add(s, "USD")
		f.Add(s, "JPY")
	}
	f.Fuzz(func(t *testing.T, text, currency string) {
		a, err := Parse(text, Currency(currency))
		if err != nil {
			return
		}
		again, err := Parse(a.String(), Currency(currency))
		if err != nil || again != a {
			t.Errorf("%q became %v, which reads as %v (%v)", text, a, again, err)
		}
	})
}

func TestGivenAmountHasCurrencyDecimals(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text     string
		currency Currency
		want     int64
		ok       bool
	}{
		{"12.5", "USD", 1250, true}, {"12.500", "USD", 1250, true}, {"12.505", "USD", 0, false}, {"12", "JPY", 12, true},
		{"12.0", "JPY", 12, true}, {"12.5", "JPY", 0, false}, {"1.234", "KWD", 1234, true}, {"1.2345", "KWD", 0, false}, {"x", "USD", 0, false},
	} {
		got, err := ParseExact(row.text, row.currency)
		if (err == nil) != row.ok || err == nil && got.Minor != row.want {
			t.Errorf("%s %s: %v, %v", row.text, row.currency, got, err)
		}
	}
}
