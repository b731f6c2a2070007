package table_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
)

func open(t testing.TB, text string) *table.File {
	t.Helper()
	f, err := table.Open(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestOpenFindsEncoding(t *testing.T) {
	t.Parallel()
	const text = "id;naïve\r\n1;Zoë € 5\r\n"
	for _, row := range []struct {
		name   string
		writer encoding.Encoding
		want   table.Encoding
	}{
		{"UTF-8", unicode.UTF8, table.UTF8},
		{"UTF-8 with a byte order mark", unicode.UTF8BOM, table.UTF8},
		{"UTF-16 LE", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), table.UTF16LE},
		{"UTF-16 BE", unicode.UTF16(unicode.BigEndian, unicode.UseBOM), table.UTF16BE},
		{"Windows-1252", charmap.Windows1252, table.Windows1252},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			written, err := row.writer.NewEncoder().String(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, from := range []func(string) *table.File{
				func(s string) *table.File { return open(t, s) },
				func(s string) *table.File {
					f, err := table.Open(iotest.OneByteReader(strings.NewReader(s)))
					if err != nil {
						t.Fatal(err)
					}
					return f
				},
			} {
				f := from(written)
				if f.Encoding != row.want || f.Header[1] != "naïve" || f.Separator != ';' {
					t.Errorf("%s with %q and %q", f.Encoding, f.Header, f.Separator)
				}
				rows, err := table.Cells(f)
				if err != nil || len(rows) != 1 || rows[0][1] != "Zoë € 5" {
					t.Errorf("rows are %q, %v", rows, err)
				}
			}
		})
	}
}

func TestEncodingMayShowLate(t *testing.T) {
	t.Parallel()
	plain := "id,name\n" + strings.Repeat("1,Ana\n", 20_000)
	for _, late := range []string{"2,Zoë €\n", "2,Zo\xeb \x80\n"} {
		rows, err := table.Cells(open(t, plain+late))
		if err != nil || len(rows) != 20_001 || rows[20_000][1] != "Zoë €" {
			t.Errorf("the last of %d rows is %q, %v", len(rows), rows[len(rows)-1], err)
		}
	}
}

func TestOpenFindsSeparator(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		want       rune
		columns    int
	}{
		{"comma", "a,b,c\n1,2,3\n", ',', 3},
		{"semicolon", "a;b;c\n1;2;3\n", ';', 3},
		{"semicolon with decimal commas", "a;b\n1;2,50\n1;3,50\n", ';', 2},
		{"semicolon with commas in the header", "a;price, EUR;c\n1;2,50;3\n1;3,50;3\n", ';', 3},
		{"comma with semicolons in texts", "a,b\n1,x=1; y=2\n2,x=1; y=2\n", ',', 2},
		{"tab", "a\tb, c\n1\t2\n", '\t', 2},
		{"bar", "a|b\n1|2\n", '|', 2},
		{"comma in quotation marks", "\"a,b\";c\n\"1,2\";3\n", ';', 2},
		{"header only", "a;b", ';', 2},
		{"one column", "a\n1\n", ',', 1},
		{"separator that the first line says", "sep=;\r\na;b\r\n1;2\r\n", ';', 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if f := open(t, row.text); f.Separator != row.want || len(f.Header) != row.columns {
				t.Errorf("separator %q, header %q", f.Separator, f.Header)
			}
		})
	}
}

func TestOpenRejectsWhatIsNoTable(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, text, want string }{
		{"empty file", "", "the file is empty"},
		{"byte order mark alone", "\ufeff", "the file is empty"},
		{"blank lines", "\n\n;;\n", "has no header"},
		{"workbook", "PK\x03\x04\x14\x00", "workbook"},
		{"old workbook", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "workbook"},
		{"NUL bytes", "id,name\n1,\x00\n", "line 2 has a NUL byte"},
		{"UTF-16 without a byte order mark", "i\x00d\x00,\x00", "line 1 has a NUL byte"},
		{"lines that end with CR", "id,name\r1,Ana\r", "CR alone"},
		{"same column twice", "id,name, id \n", `line 1, the header, has "id" in columns 1 and 3`},
		{"too many columns", strings.Repeat("a,", 200) + "b\n", "has 201 columns; at most 200"},
		{"quotation mark in the header", "id,na\"me\n1,2\n", "line 1, the header, cannot be read"},
		{"header that does not end", `id,"name`, "line 1, the header, cannot be read"},
		{"header that is too long", strings.Repeat("a", 1<<20+10) + ",b\n", "line 1 begins a row of more than 1048576 bytes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := table.Open(strings.NewReader(row.text))
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

func TestReadingEndsAtWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, text, want string }{
		{"quotation mark that stays open", "id,name\n1,a\n2,\"b\n3,c\n", "line 3 has a quotation mark that is not closed"},
		{"row that is too long", "id,name\n1,a\n2," + strings.Repeat("b", 1<<20) + "\n3,c\n", "line 3 begins a row of more than 1048576 bytes"},
		{"row that does not end", "id,name\n1,a\n2,\"" + strings.Repeat("b\n", 1<<20) + "\n", "line 3 begins a row of more than 1048576 bytes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			rows, err := table.Cells(open(t, row.text))
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), row.want) || len(rows) != 1 {
				t.Errorf("%d rows, then %v, want %s", len(rows), err, row.want)
			}
		})
	}
	broken := errors.New("disk")
	f, err := table.Open(iotest.DataErrReader(&failing{text: strings.NewReader("id,name\n" + strings.Repeat("1,a\n", 50_000)), err: broken}))
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := table.Cells(f); !errors.Is(err, broken) || fault.Is(err, fault.Invalid) || len(rows) != 50_000 {
		t.Errorf("%d rows, then %v, want the failure of the disk", len(rows), err)
	}
}

// failing reads a text, and fails at its end.
type failing struct {
	text *strings.Reader
	err  error
}

// Read reads.
func (f *failing) Read(to []byte) (int, error) {
	n, err := f.text.Read(to)
	if err != nil {
		err = f.err
	}
	return n, err
}

func TestRowsHaveTheirLines(t *testing.T) {
	t.Parallel()
	f, scan := scanned(t, table.ContractRows, "id,customer email,interval,price,variant\n\n1,ana@example.com,month,1,7\n,,,,\n2,ana@example.com,month,1,\"7\n\"\n3,ana@example.com,month,x,7\n")
	var got []int
	for r, err := range table.Contracts(f, scan, euros) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Line)
	}
	if want := []int{3, 5, 7}; len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("lines %v, want %v", got, want)
	}
}

func TestReadingEndsAfterTheMostRows(t *testing.T) {
	t.Parallel()
	f := open(t, "id,name\n"+strings.Repeat("1,a\n", 1010))
	f.SetRead(10_000_000 - 5)
	rows, err := table.Cells(f)
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "line 1007 is row 10000001; at most 10000000 rows are read") || len(rows) != 1005 {
		t.Errorf("%d rows, then %v", len(rows), err)
	}
}
