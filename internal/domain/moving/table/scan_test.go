package table_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
)

// stops lists the findings that stop a row, as "line code: text".
func stops(line int, findings []moving.Finding) (list []string) {
	for _, f := range findings {
		if f.Fit == moving.Stays {
			list = append(list, fmt.Sprintf("%d %s: %s", line, f.Code, f.Text))
		}
	}
	return list
}

// A fact that only two rows together show stops both rows, and names both lines.
func TestRowsThatContradictEachOtherStop(t *testing.T) {
	t.Parallel()
	const header = "id,customer id,email,next order date,billing interval,variant id,price\n"
	end := func(id, customer, email string) string {
		return id + "," + customer + "," + email + ",2026-12-31,month,44,1\n"
	}
	var apart []string
	for line := 2; line < 16; line++ {
		apart = append(apart, fmt.Sprintf("%d contractTwice", line))
	}
	for _, row := range []struct {
		name, rows string
		want       []string // lines and codes
		text       string
	}{
		{
			name: "a customer with two addresses",
			rows: end("7", "70", "ana@example.com") + end("8", "71", "cem@example.com") + end("9", "70", "ben@example.com"),
			want: []string{"2 customerDiffers", "4 customerDiffers"},
			text: `line 2, column "email": customer 70 has different e-mail addresses in lines 2 and 4: correct`,
		},
		{
			name: "an address of two customers",
			rows: end("7", "70", "ana@example.com") + end("8", "71", "ANA@example.com"),
			want: []string{"2 customerDiffers", "3 customerDiffers"},
			text: `line 2, column "customer id": the address "ana@example.com" belongs to different customers in lines 2 and 3: correct`,
		},
		{
			name: "a third row of the customer",
			rows: end("7", "70", "ana@example.com") + end("8", "70", "ben@example.com") + end("9", "70", "ana@example.com"),
			want: []string{"2 customerDiffers", "3 customerDiffers", "4 customerDiffers"},
			text: "in lines 2 and 3",
		},
		{
			name: "a customer with one address in several forms, or without one",
			rows: end("7", "70", "ana@example.com") + end("8", "gid://shopify/Customer/70", "Ana@Example.com") + end("9", "70", ""),
		},
		{
			name: "rows of a contract apart from each other",
			rows: end("7", "70", "") + end("8", "71", "") + end("7", "70", "") + end("9", "72", "") + end("7", "70", ""),
			want: []string{"2 contractTwice", "4 contractTwice", "6 contractTwice"},
			text: `line 2, column "id": rows of contract "7" begin in lines 2, 4 and 6, apart from each other: put them next to each other`,
		},
		{
			name: "the same row twice",
			rows: end("7", "70", "") + end("8", "71", "") + end("8", "71", ""),
			want: []string{"3 rowTwice"},
			text: `line 4, column "id": the row is the same as that in line 3: remove one of them`,
		},
		{
			name: "the same row twice with other spaces",
			rows: end("8", "71", "") + end(" 8", "71 ", " "),
			want: []string{"2 rowTwice"},
		},
		{
			name: "many rows apart from each other",
			rows: strings.Repeat(end("7", "70", "")+end("8", "71", ""), 7),
			want: apart,
			text: "in lines 2, 4, 6, 8, 10 and others, apart",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			text := ""
			for _, r := range contracts(t, header+row.rows, euros) {
				for _, f := range r.Findings {
					got = append(got, fmt.Sprintf("%d %s", r.Line, f.Code))
					text += f.Text + "\n"
					if f.Fit != moving.Stays {
						t.Errorf("line %d goes: %s", r.Line, f.Text)
					}
				}
			}
			if !slices.Equal(got, row.want) || !strings.Contains(text, row.text) {
				t.Errorf("got %q, want %q; the texts are\n%s", got, row.want, text)
			}
		})
	}
}

func TestOnlyLaterGroupsOfContractAreNamedByTheirLine(t *testing.T) {
	t.Parallel()
	const end = ",ana@example.com,2026-12-31,month,44,1\n"
	var again []bool
	for _, r := range contracts(t, short+"7"+end+"8"+end+"7"+end, euros) {
		again = append(again, r.Again)
	}
	if !slices.Equal(again, []bool{false, false, true}) {
		t.Errorf("got %v", again)
	}
}

// bigFile returns a file of many contracts that is made as it is read, with cells of a line.
func bigFile(rows int, cells func(n int) (date, price string)) io.Reader {
	header := "id,email,next order date,billing interval,variant id,price\n"
	return &generated{header: header, left: rows, line: func(n int) string {
		date, price := cells(n)
		return fmt.Sprintf("%d,ana%d@example.com,%s,month,44,%s\n", n, n, date, price)
	}}
}

// One cell in a file of a hundred thousand rows stops its row alone. The file is read as a stream, and no more
// than a row and what Scan names is kept of it.
func TestOneCellOfLargeFileStopsItsRow(t *testing.T) {
	t.Parallel()
	const at = 7_000 // row of the cell, after those that a file is opened with
	for _, row := range []struct {
		name  string
		rows  int
		cells func(n int) (date, price string)
		want  []string
	}{
		{
			name: "a date that no row settles",
			rows: 100_000,
			cells: func(n int) (string, string) {
				if n == at {
					return "03/04/2027", "5"
				}
				return "2027-01-15", "5"
			},
			want: []string{`7001 dateAmbiguous: line 7001, column "next order date": "03/04/2027" may be 2027-04-03 or 2027-03-04, and no row ` +
				"of the column says it: write it in one of these forms, or choose whether the day or the month comes first"},
		},
		{
			name: "a date that the last row settles",
			rows: 10_000,
			cells: func(n int) (string, string) {
				switch n {
				case at:
					return "03/04/2027", "5"
				case 10_000:
					return "31/12/2027", "5"
				}
				return "2027-01-15", "5"
			},
		},
		{
			name: "an amount with a group or three decimals",
			rows: 10_000,
			cells: func(n int) (string, string) {
				switch n {
				case at:
					return "2027-01-15", `"1,250"`
				case 10_000:
					return "2027-01-15", `"12,50"`
				}
				return "2027-01-15", "5"
			},
			want: []string{`7001 amountAmbiguous: line 7001, column "price": "1,250" may be 1250 or 1.250: write it without a sign between ` +
				"thousands, or choose whether decimals follow a comma or a point"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			n := 0
			for r, err := range readTwice(t, func() io.Reader { return bigFile(row.rows, row.cells) }) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, stops(r.Line, r.Findings)...)
				n++
			}
			if n != row.rows || !slices.Equal(got, row.want) {
				t.Errorf("%d rows with %q, want %q", n, got, row.want)
			}
		})
	}
}

func TestDayFirstIsChosen(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, row := range []struct {
		first *bool
		want  string
	}{{&yes, "2027-04-03"}, {&no, "2027-03-04"}} {
		o := euros
		o.DayFirst = row.first
		r := contracts(t, short+"7,ana@example.com,03/04/2027,month,44,1\n", o)[0]
		if got := r.Contract.Next.Format("2006-01-02"); got != row.want || len(r.Findings) > 0 {
			t.Errorf("got %s with %v, want %s", got, r.Findings, row.want)
		}
	}
}

func TestPricedSaysWhetherAmountIsKnown(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		changed map[string]string
		want    bool
	}{
		{"a valid row", nil, true},
		{"a wrong date", map[string]string{"next order date": "soon"}, true},
		{"a wrong price", map[string]string{"price": "1 2"}, false},
		{"a wrong quantity", map[string]string{"quantity": "x"}, false},
		{"an unknown currency", map[string]string{"currency": "EUO"}, false},
		{"no contract", map[string]string{"id": ""}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := contracts(t, withValues(row.changed), euros)[0].Priced(); got != row.want {
				t.Errorf("priced is %t", got)
			}
		})
	}
}

func TestCustomersThatContradictEachOtherStop(t *testing.T) {
	t.Parallel()
	f, scan := scanned(t, table.CustomerRows, "customer id,email\n7,ana@example.com\n8,ana@example.com\n9,ben@example.com\n9,\n")
	var got []string
	for r, err := range table.Customers(f, scan, table.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range r.Findings {
			got = append(got, fmt.Sprintf("%d %s %s", r.Line, found.Fit, found.Code))
		}
	}
	want := []string{"2 STAYS customerDiffers", "3 STAYS customerDiffers", "4 STAYS customerTwice", "5 STAYS customerTwice"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
