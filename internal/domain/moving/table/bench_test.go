package table_test

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/moving/table"
)

const benchHeader = "subscription id;customer email;first name;last name;status;next charge date;billing interval;billing count;" +
	"variant id;product title;quantity;price;line properties;address1;zip;country\n"

// generated is a file that is made as it is read: a header, and lines that end with a number.
type generated struct {
	header string
	line   func(n int) string
	left   int // lines
	n      int
	rest   string
}

// Read reads.
func (g *generated) Read(to []byte) (int, error) {
	if g.n == 0 {
		g.rest = g.header
		g.n++
	}
	for len(g.rest) < len(to) && g.left > 0 {
		var b strings.Builder
		b.WriteString(g.rest)
		for b.Len() < len(to) && g.left > 0 {
			b.WriteString(g.line(g.n))
			g.n++
			g.left--
		}
		g.rest = b.String()
	}
	n := copy(to, g.rest)
	if g.rest = g.rest[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// lines returns a file of so many lines, four lines for three contracts.
func lines(n int) io.Reader {
	return &generated{header: benchHeader, left: n, line: func(n int) string {
		const line = "%d;ana%d@example.com;Ana;Costa;active;31.12.2026;every 2 weeks;;%d;Coffee;2;1.234,50 €;grind=coarse;Torstr. 1;10119;DE\n"
		return fmt.Sprintf(line, 1000+n*3/4, n*3/4, 44012345678901+n)
	}}
}

// readTwice scans and reads contracts.
func readTwice(t testing.TB, again func() io.Reader) iter.Seq2[table.Row, error] {
	t.Helper()
	f, err := table.Open(again())
	if err != nil {
		t.Fatal(err)
	}
	scan, err := f.Scan(table.ContractRows, table.Guess(table.ContractRows, f.Header))
	if err != nil {
		t.Fatal(err)
	}
	if f, err = table.Open(again()); err != nil {
		t.Fatal(err)
	}
	return table.Contracts(f, scan, euros)
}

func readLines(t testing.TB, n int) (contracts int) {
	t.Helper()
	for r, err := range readTwice(t, func() io.Reader { return lines(n) }) {
		if err != nil || len(r.Findings) > 0 {
			t.Fatalf("line %d: %v, %v", r.Line, r.Findings, err)
		}
		contracts++
	}
	return contracts
}

func BenchmarkContracts(b *testing.B) {
	b.ReportAllocs()
	readLines(b, b.N)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
