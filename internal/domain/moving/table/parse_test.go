package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

// column returns the values of a column of a contract, and what was found in them.
func column[T any](t testing.TB, field string, values []string, o Options, read func(*cells) T) (list []T, found []moving.Finding) {
	t.Helper()
	text := "id;" + field + "\n"
	for i, v := range values {
		text += fmt.Sprintf("%d;\"%s\"\n", i+1, strings.ReplaceAll(v, `"`, `""`))
	}
	m := Mapping{"id": "id", "email": "id", "sku": "id", "price": "id", "billingInterval": "id", field: field}
	scan, err := opened(t, text).Scan(ContractRows, m)
	if err != nil {
		t.Fatal(err)
	}
	shared := scan.with(o)
	for r, err := range opened(t, text).all() {
		if err != nil {
			t.Fatal(err)
		}
		c := &cells{columns: shared, row: r}
		list = append(list, read(c))
		found = append(found, c.findings...)
	}
	return list, found
}

func opened(t testing.TB, text string) *File {
	t.Helper()
	f, err := Open(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func codes(findings []moving.Finding) string {
	var list []string
	for _, f := range findings {
		list = append(list, fmt.Sprintf("%s %s", f.Fit, f.Code))
	}
	return strings.Join(list, ", ")
}

func TestAmountsAreReadByTheirColumn(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, row := range []struct {
		name     string
		currency money.Currency
		comma    *bool
		values   []string
		want     []int64
		codes    string
	}{
		{"whole numbers", "EUR", nil, []string{"5", "0", "1200"}, []int64{500, 0, 120000}, ""},
		{"decimal points", "EUR", nil, []string{"5.5", "1,234.50", ".5", "+3"}, []int64{550, 123450, 50, 300}, ""},
		{"decimal commas", "EUR", nil, []string{"5,5", "1.234,50", "1.234.567,00", ",5"}, []int64{550, 123450, 123456700, 50}, ""},
		{"signs of currencies", "EUR", nil, []string{"1.234,50 €", "€1.234,50", "EUR 1,50", "1,50EUR", "1,50 eur"}, []int64{123450, 123450, 150, 150, 150}, ""},
		{"other signs", "USD", nil, []string{"$12.50", "US$ 12.50", "USD12.50", "12.50 $"}, []int64{1250, 1250, 1250, 1250}, ""},
		{"abbreviations", "NOK", nil, []string{"12,50 kr", "kr. 12,50", "12,-"}, []int64{1250, 1250, 1200}, ""},
		{"another currency", "USD", nil, []string{"12.50 €", "12.50 GBP", "12.50 kg"}, []int64{0, 0, 0}, "STAYS valueInvalid, STAYS valueInvalid, STAYS valueInvalid"},
		{"spaces between thousands", "EUR", nil, []string{"1 234,50", "1\u00a0234,50", "1\u202f234,50"}, []int64{123450, 123450, 123450}, ""},
		{"apostrophes between thousands", "CHF", nil, []string{"1'234.50", "1’234.50", "CHF 12.–"}, []int64{123450, 123450, 1200}, ""},
		{"groups of India", "INR", nil, []string{"1,23,456.50", "12,34,567"}, []int64{12345650, 123456700}, ""},
		{"the column decides for a comma", "EUR", nil, []string{"1.234", "2,50"}, []int64{123400, 250}, ""},
		{"the column decides for a point", "EUR", nil, []string{"1,234", "2.50"}, []int64{123400, 250}, ""},
		{"three decimals in a column with a comma", "EUR", nil, []string{"12,50", "1,250"}, []int64{1250, 0}, "STAYS amountAmbiguous"},
		{"three decimals in a column with a point", "EUR", nil, []string{"12.50", "1.250", "1,250"}, []int64{1250, 0, 125000}, "STAYS amountAmbiguous"},
		{"three decimals that the options decide", "EUR", &yes, []string{"12,50", "1,250"}, []int64{1250, 125}, ""},
		{"nothing decides", "EUR", nil, []string{"1.234", "1,234"}, []int64{0, 0}, "STAYS amountAmbiguous, STAYS amountAmbiguous"},
		{"the column contradicts itself", "EUR", nil, []string{"2.50", "2,50", "1,234"}, []int64{250, 250, 0}, "STAYS amountAmbiguous"},
		{"a zero before the sign", "EUR", nil, []string{"0.500", "0,500"}, []int64{50, 50}, ""},
		{"the options decide for a comma", "EUR", &yes, []string{"1.234", "1,234"}, []int64{123400, 123}, "CHANGES amountRounded"},
		{"the options decide for a point", "EUR", &no, []string{"1.234", "1,234"}, []int64{123, 123400}, "CHANGES amountRounded"},
		{"no decimals", "JPY", nil, []string{"1,200", "¥1,200,000", "12.5"}, []int64{1200, 1200000, 12}, "CHANGES amountRounded"},
		{"three decimals", "KWD", nil, []string{"1.234", "2.5"}, []int64{1234, 2500}, ""},
		{"negative", "EUR", nil, []string{"-5", "−5.00", "- 5"}, []int64{0, 0, 0}, "STAYS valueInvalid, STAYS valueInvalid, STAYS valueIsFormula"},
		{"no numbers", "EUR", nil, []string{"free", "1..5", "1,2,3", "1.5.", "12 50", "1e5"}, make([]int64, 6), strings.TrimSuffix(strings.Repeat("STAYS valueInvalid, ", 6), ", ")},
		{"formulas", "EUR", nil, []string{"=1+1", "@A1", "+A1", "'=2"}, make([]int64, 4), strings.TrimSuffix(strings.Repeat("STAYS valueIsFormula, ", 4), ", ")},
		{"apostrophe before a number", "EUR", nil, []string{"'5.00"}, []int64{500}, ""},
		{"too large", "EUR", nil, []string{"99999999999999", "999999999999999999999"}, []int64{0, 0}, "STAYS valueInvalid, STAYS valueInvalid"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, found := column(t, "price", row.values, Options{DecimalComma: row.comma}, func(c *cells) int64 {
				a, _ := c.amount("price", row.currency)
				return a.Minor
			})
			if !slices.Equal(got, row.want) || codes(found) != row.codes {
				t.Errorf("%q: got %v with %s, want %v with %s", row.values, got, codes(found), row.want, row.codes)
			}
		})
	}
}

// Every way of writing an amount is read as that amount, where the column says which sign decimals
// follow.
func TestAmountsSurviveTheirSpelling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		currency := rapid.SampledFrom([]money.Currency{"EUR", "JPY", "KWD"}).Draw(rt, "currency")
		asComma := rapid.Bool().Draw(rt, "comma")
		minors := rapid.SliceOfN(rapid.Int64Range(0, maxMinor), 1, 20).Draw(rt, "amounts")
		var values []string
		for _, minor := range minors {
			group := rapid.SampledFrom([]string{"", "x", " ", "'", "\u00a0"}).Draw(rt, "group")
			before, after := rapid.SampledFrom([]string{"", "¤", "CUR ", "+"}).Draw(rt, "before"), rapid.SampledFrom([]string{"", " ¤", "CUR"}).Draw(rt, "after")
			if strings.Contains(before, "CUR") {
				after = ""
			}
			text := strings.ReplaceAll(before+spelling(money.Amount{Minor: minor, Currency: currency}.String(), group, asComma)+after, "CUR", string(currency))
			if strings.HasPrefix(text, "+") && strings.Trim(text[1:], "0123456789.,") != "" {
				text = text[1:] // a spreadsheet would take it for a formula
			}
			values = append(values, text)
		}
		got, found := column(t, "price", values, Options{DecimalComma: &asComma}, func(c *cells) int64 {
			a, _ := c.amount("price", currency)
			return a.Minor
		})
		if !slices.Equal(got, minors) || len(found) > 0 {
			rt.Fatalf("%q: got %v, want %v, %v", values, got, minors, found)
		}
	})
}

// spelling writes a number with groups of three digits; x is the sign that decimals do not follow.
func spelling(number, group string, asComma bool) string {
	sign, other := ".", ","
	if asComma {
		sign, other = ",", "."
	}
	whole, decimals, has := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + strings.Replace(group, "x", other, 1) + whole[i:]
	}
	if has {
		whole += sign + decimals
	}
	return whole
}

func TestDatesAreReadByTheirColumn(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const none = "0001-01-01T00:00:00Z"
	for _, row := range []struct {
		name         string
		values, want []string
		codes        string
	}{
		{"ISO 8601", []string{"2026-12-31", "2026-07-31T10:00", "2026-12-31 10:00:05", "20261231", "2026/12/31"},
			[]string{"2026-12-30T23:00:00Z", "2026-07-31T08:00:00Z", "2026-12-31T09:00:05Z", "2026-12-30T23:00:00Z", "2026-12-30T23:00:00Z"}, ""},
		{"ISO 8601 with a zone", []string{"2026-12-31T10:00:00Z", "2026-12-31T10:00:00.123456+05:30", "2026-12-31 10:00:00 -0500", "2026-12-31 10:00:00 UTC", "2026-12-31 10:00:00+00"},
			[]string{"2026-12-31T10:00:00Z", "2026-12-31T04:30:00.123Z", "2026-12-31T15:00:00Z", "2026-12-31T10:00:00Z", "2026-12-31T10:00:00Z"}, ""},
		{"points", []string{"31.12.2026", "01.02.2026", "1.2.26 09:30"}, []string{"2026-12-30T23:00:00Z", "2026-01-31T23:00:00Z", "2026-02-01T08:30:00Z"}, ""},
		{"month first", []string{"01/02/2026", "12/31/2026", "1/2/2026 3:04 PM"}, []string{"2026-01-01T23:00:00Z", "2026-12-30T23:00:00Z", "2026-01-02T14:04:00Z"}, ""},
		{"day first", []string{"01/02/2026", "31/12/2026", "01-02-2026"}, []string{"2026-01-31T23:00:00Z", "2026-12-30T23:00:00Z", "2026-01-31T23:00:00Z"}, ""},
		{"nothing decides", []string{"01/02/2026", "05/05/2026", "01-02-2026"}, []string{none, "2026-05-04T22:00:00Z", none}, "STAYS dateAmbiguous, STAYS dateAmbiguous"},
		{"the column contradicts itself", []string{"12/31/2026", "31/12/2026", "01/02/2026"}, []string{"2026-12-30T23:00:00Z", "2026-12-30T23:00:00Z", none}, "STAYS dateAmbiguous"},
		{"numbers of spreadsheets", []string{"46387", "46387.5", "46387,25"}, []string{"2026-12-30T23:00:00Z", "2026-12-31T11:00:00Z", "2026-12-31T05:00:00Z"}, ""},
		{"names of months", []string{"31 Dec 2026", "Dec 31, 2026", "December 31, 2026", "31-dec-2026"}, slices.Repeat([]string{"2026-12-30T23:00:00Z"}, 4), ""},
		{"no dates", []string{"soon", "2026-02-30", "31.02.2026", "13/13/2026", "2026", "1.2", "0000-00-00", "2026-12-31 25:00", "2026-12-31 10:00:00 EST"},
			slices.Repeat([]string{none}, 9), strings.TrimSuffix(strings.Repeat("STAYS valueInvalid, ", 9), ", ")},
		{"formula", []string{"=TODAY()"}, []string{none}, "STAYS valueIsFormula"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, found := column(t, "nextOrderDate", row.values, Options{Zone: berlin}, func(c *cells) string {
				at, _ := c.instant("nextOrderDate")
				return at.Format(time.RFC3339Nano)
			})
			if !slices.Equal(got, row.want) || codes(found) != row.codes {
				t.Errorf("%q: got %q with %s, want %q with %s", row.values, got, codes(found), row.want, row.codes)
			}
		})
	}
}

// Every way of writing a day is read as that day, where the column says which part comes first.
func TestDatesSurviveTheirSpelling(t *testing.T) {
	t.Parallel()
	layouts := map[order][]string{
		dayFirst:   {"2006-01-02", "2006-01-02T15:04:05", "02.01.2006", "2.1.2006 15:04", "02/01/2006", "2/1/2006", "02-01-2006 15:04:05", "2006-01-02T15:04:05Z07:00", "2 Jan 2006"},
		monthFirst: {"2006-01-02 15:04", "02.01.2006", "01/02/2006", "1/2/2006 3:04:05 PM", "01-02-2006", "2006-01-02 15:04:05 -0700", "Jan 2, 2006"},
	}
	decides := map[order]string{dayFirst: "31/12/2026", monthFirst: "12/31/2026"}
	rapid.Check(t, func(rt *rapid.T) {
		o := rapid.SampledFrom([]order{dayFirst, monthFirst}).Draw(rt, "order")
		zone := time.FixedZone("", rapid.IntRange(-12, 14).Draw(rt, "zone")*3600)
		values, want := []string{decides[o]}, []string{"2026-12-31"}
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 50_000), 1, 20).Draw(rt, "days") {
			at := time.Date(1970, time.January, 1+n, 15, 4, 5, 0, zone)
			values = append(values, at.Format(rapid.SampledFrom(layouts[o]).Draw(rt, "layout")))
			want = append(want, at.Format(time.DateOnly))
		}
		got, found := column(t, "nextOrderDate", values, Options{Zone: zone}, func(c *cells) string {
			at, _ := c.moment("nextOrderDate")
			return at.In(zone).Format(time.DateOnly)
		})
		if !slices.Equal(got, want) || len(found) > 0 {
			rt.Fatalf("%q: got %v, want %v, %v", values, got, want, found)
		}
	})
}

func TestIntervalsAreReadInWords(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text  string
		count int
		want  cadence.Policy
	}{
		{"MONTH", 0, cadence.Policy{Interval: cadence.Month, Count: 1}},
		{"month", 3, cadence.Policy{Interval: cadence.Month, Count: 3}},
		{"monthly", 2, cadence.Policy{Interval: cadence.Month, Count: 2}},
		{"2 weeks", 0, cadence.Policy{Interval: cadence.Week, Count: 2}},
		{"2 weeks", 2, cadence.Policy{Interval: cadence.Week, Count: 2}},
		{"2_WEEKS", 0, cadence.Policy{Interval: cadence.Week, Count: 2}},
		{"30-day", 0, cadence.Policy{Interval: cadence.Day, Count: 30}},
		{"every 30 days", 0, cadence.Policy{Interval: cadence.Day, Count: 30}},
		{"Every other week", 0, cadence.Policy{Interval: cadence.Week, Count: 2}},
		{"Delivery every month", 0, cadence.Policy{}},
		{"every two months", 0, cadence.Policy{Interval: cadence.Month, Count: 2}},
		{"bi-weekly", 0, cadence.Policy{Interval: cadence.Week, Count: 2}},
		{"Quarterly", 0, cadence.Policy{Interval: cadence.Month, Count: 3}},
		{"Quarterly", 1, cadence.Policy{Interval: cadence.Month, Count: 3}},
		{"annual", 0, cadence.Policy{Interval: cadence.Year, Count: 1}},
		{"P1M", 0, cadence.Policy{Interval: cadence.Month, Count: 1}},
		{"P14D", 0, cadence.Policy{Interval: cadence.Day, Count: 14}},
		{"alle 4 Wochen", 0, cadence.Policy{Interval: cadence.Week, Count: 4}},
		{"tous les 2 mois", 0, cadence.Policy{Interval: cadence.Month, Count: 2}},
		{"2 weeks", 3, cadence.Policy{}},
		{"quarterly", 2, cadence.Policy{}},
		{"weekly monthly", 0, cadence.Policy{}},
		{"0 weeks", 0, cadence.Policy{}},
		{"400 days", 0, cadence.Policy{}},
		{"2 3 weeks", 0, cadence.Policy{}},
		{"2.5 weeks", 0, cadence.Policy{}},
		{"often", 0, cadence.Policy{}},
		{"2", 0, cadence.Policy{}},
		{"", 0, cadence.Policy{}},
	} {
		got, reason := policyOf(row.text, row.count)
		if got.Interval != row.want.Interval || got.Count != row.want.Count || (reason == "") != (row.want.Count > 0) {
			t.Errorf("%q with %d: got %d %s (%s), want %d %s", row.text, row.count, got.Count, got.Interval, reason, row.want.Count, row.want.Interval)
		}
	}
}

// Two fields with one spelling would take the same column.
func TestSpellingsNameOneField(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds {
		of := make(map[string]string)
		for _, f := range Fields(kind) {
			for _, s := range append([]string{spell(f.Name), spell(f.Label)}, f.spellings...) {
				if of[s] != "" && of[s] != f.Name {
					t.Errorf("%s: %q names %s and %s", kind, s, of[s], f.Name)
				}
				of[s] = f.Name
			}
		}
	}
}

func TestAttributesAreReadInEachForm(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want []contract.Attribute
		ok   bool
	}{
		{"", nil, true},
		{"a=1; b = x=y ;", []contract.Attribute{{Key: "a", Value: "1"}, {Key: "b", Value: "x=y"}}, true},
		{`{"b":"x","a":1,"c":null,"d":[1]}`, []contract.Attribute{{Key: "b", Value: "x"}, {Key: "a", Value: "1"}, {Key: "c", Value: ""}, {Key: "d", Value: "[1]"}}, true},
		{`[{"name":"a","value":"1"},{"key":"b","value":true}]`, []contract.Attribute{{Key: "a", Value: "1"}, {Key: "b", Value: "true"}}, true},
		{"{}", nil, true},
		{"[]", nil, true},
		{"a", nil, false},
		{"=1", nil, false},
		{`{"a":`, nil, false},
		{`[1]`, nil, false},
		{`[{"value":"1"}]`, nil, false},
	} {
		got, err := parseAttributes(row.text)
		if !slices.Equal(got, row.want) || (err == nil) != row.ok {
			t.Errorf("%q: got %v, %v", row.text, got, err)
		}
	}
}
