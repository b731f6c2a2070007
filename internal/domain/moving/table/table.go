// Package table reads contracts, customers and points from CSV files, whose columns a mapping
// names. It stores nothing.
package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"golang.org/x/text/transform"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Limits of a file.
const (
	maxRow     = 1 << 20 // bytes, in UTF-8
	maxRows    = 10_000_000
	maxColumns = 200
)

// What is read ahead, to decide how the values of a column are written.
const (
	sampleRows  = 1000
	sampleBytes = 4 << 20
)

// buffer is how many bytes are looked at to find the encoding and the separator.
const buffer = 1 << 16

// File is a CSV file. Its rows are read once, in order.
type File struct {
	Header    []string // trimmed; a column without a name has an empty one
	Encoding  Encoding
	Separator rune

	rows  *csv.Reader
	limit *limiter
	count int // of rows that were read
	end   int // line on which the last row ends

	sample []row // the first rows
	given  int   // of these, how many were passed on
	failed error // why the sample ends
}

// row is a row of a file. One with a reason has no cells that can be trusted.
type row struct {
	line, last int // of the file, from 1
	cells      []string
	reason     string // why it cannot be read; empty: it can
}

// invalid is the failure of a file that cannot be read, with the reason.
func invalid(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, format, args...).Entity("table").Code("tableInvalid")
}

// Open finds out how a file is written, and reads its header. It fails with Invalid when the file
// is no table.
func Open(r io.Reader) (*File, error) {
	in := bufio.NewReaderSize(r, buffer)
	encoding, err := findEncoding(in)
	if err != nil {
		return nil, err
	}
	f := &File{Encoding: encoding, limit: &limiter{Reader: transform.NewReader(in, encoding.decoder()), left: maxRow}}
	text := bufio.NewReaderSize(f.limit, buffer)
	start, err := text.Peek(buffer)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errLongRow) {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	if err := checkText(string(start)); err != nil {
		return nil, err
	}
	f.rows = csv.NewReader(text)
	f.rows.FieldsPerRecord = -1
	var named bool
	f.Separator, named = findSeparator(string(start))
	f.rows.Comma = f.Separator
	if named {
		if _, err := f.read(); err != nil {
			return nil, err
		}
	}
	if err := f.readHeader(); err != nil {
		return nil, err
	}
	f.count = 0
	f.readSample()
	return f, nil
}

// checkText rejects what is often taken for a CSV file.
func checkText(start string) error {
	switch {
	case start == "":
		return invalid("the file is empty")
	case strings.HasPrefix(start, "PK\x03\x04"), strings.HasPrefix(start, "ÐÏ\x11à"): // the latter in Windows-1252
		return invalid("the file is a workbook of a spreadsheet program: save it as CSV (UTF-8)")
	case strings.ContainsRune(start, 0):
		before, _, _ := strings.Cut(start, "\x00")
		line := 1 + strings.Count(before, "\n")
		return invalid("line %d has a NUL byte, so that the file is no text: save it as CSV (UTF-8)", line)
	case strings.Contains(start, "\r") && !strings.Contains(start, "\n"):
		return invalid("line 1 has no end: the lines of the file end with CR alone; save it as CSV (UTF-8)")
	}
	return nil
}

func (f *File) readHeader() error {
	header, err := f.read()
	switch {
	case errors.Is(err, io.EOF):
		return invalid("the file has no header: its first line must name the columns")
	case err != nil:
		return err
	case header.reason != "":
		return invalid("line %d, the header, cannot be read: %s", header.line, header.reason)
	case len(header.cells) > maxColumns:
		return invalid("line %d, the header, has %d columns; at most %d are read", header.line, len(header.cells), maxColumns)
	}
	known := make(map[string]int)
	for i, name := range header.cells {
		name = trim(name)
		if first, twice := known[name]; twice && name != "" {
			return invalid("line %d, the header, has %.60q in columns %d and %d: give them different names",
				header.line, name, first, i+1)
		}
		known[name] = i + 1
		f.Header = append(f.Header, name)
	}
	if len(known) == 1 && f.Header[0] == "" {
		return invalid("line %d, the header, has no names of columns", header.line)
	}
	return nil
}

func (f *File) readSample() {
	for size := 0; len(f.sample) < sampleRows && size < sampleBytes; {
		r, err := f.read()
		if err != nil {
			f.failed = err
			return
		}
		for _, cell := range r.cells {
			size += len(cell)
		}
		f.sample = append(f.sample, r)
	}
}

// First returns at most so many of the first rows, without those that cannot be read.
func (f *File) First(limit int) [][]string {
	var rows [][]string
	for _, r := range f.sample {
		if len(rows) < limit && r.reason == "" {
			rows = append(rows, r.cells)
		}
	}
	return rows
}

// next returns the next row, or io.EOF after the last one.
func (f *File) next() (row, error) {
	if f.given < len(f.sample) {
		r := f.sample[f.given]
		f.sample[f.given] = row{}
		f.given++
		return r, nil
	}
	if f.failed != nil {
		return row{}, f.failed
	}
	return f.read()
}

// all returns the rows, up to the one that cannot be read.
func (f *File) all() iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		for {
			r, err := f.next()
			if errors.Is(err, io.EOF) || !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// read reads a row that has a value.
func (f *File) read() (row, error) {
	for {
		f.limit.left = maxRow + buffer
		start := f.rows.InputOffset()
		cells, err := f.rows.Read()
		r, err := f.rowOf(cells, err)
		if err != nil {
			return row{}, err
		}
		if f.end = r.last; f.rows.InputOffset()-start > maxRow {
			return row{}, f.tooLong(r.line)
		}
		if r.reason == "" && empty(cells) {
			continue
		}
		if f.count++; f.count > maxRows {
			return row{}, invalid("line %d is row %d; at most %d rows are read: split the file", r.line, f.count, maxRows)
		}
		return r, nil
	}
}

func (f *File) rowOf(cells []string, err error) (row, error) {
	parse, broken := errors.AsType[*csv.ParseError](err)
	switch {
	case errors.Is(err, io.EOF):
		return row{}, io.EOF
	case errors.Is(err, errLongRow):
		return row{}, f.tooLong(f.end + 1)
	case broken && f.ended() && parse.Line > parse.StartLine:
		return row{}, invalid("line %d has a quotation mark that is not closed before the file ends: "+
			"close it, or double it within a text", parse.StartLine)
	case broken:
		return row{line: parse.StartLine, last: parse.Line, reason: quotes(parse)}, nil
	case err != nil:
		return row{}, fmt.Errorf("read the file after line %d: %w", f.end, err)
	}
	line, _ := f.rows.FieldPos(0)
	last, _ := f.rows.FieldPos(len(cells) - 1)
	r := row{line: line, last: last + strings.Count(cells[len(cells)-1], "\n"), cells: cells}
	for _, cell := range cells {
		if strings.IndexByte(cell, 0) >= 0 {
			r.reason = "it has a NUL byte: remove it"
		}
	}
	return r, nil
}

// ended reports whether the file was read to its end.
func (f *File) ended() bool { return f.limit.ended && f.rows.InputOffset() == f.limit.passed }

func (f *File) tooLong(line int) error {
	return invalid("line %d begins a row of more than %d bytes: a quotation mark may be open, or the separator not be %q",
		line, maxRow, f.Separator)
}

// quotes says what is wrong with the quotation marks of a row.
func quotes(err *csv.ParseError) string {
	if err.Line > err.StartLine {
		return fmt.Sprintf("a quotation mark is open up to line %d: close it, or double it within a text", err.Line)
	}
	return "a quotation mark stands within a text: put the text in quotation marks and double those within it"
}

func empty(cells []string) bool {
	for _, cell := range cells {
		if trim(cell) != "" {
			return false
		}
	}
	return true
}

// trim takes spaces off the ends of a text, and marks that show nothing.
func trim(text string) string { return strings.Trim(text, " \t\r\n\v\f\u00a0\u200b\u202f\ufeff") }

var errLongRow = errors.New("the row is too long")

// limiter fails when a row has more bytes than are left for it.
type limiter struct {
	io.Reader

	left   int
	passed int64 // bytes
	ended  bool
}

// Read reads.
func (l *limiter) Read(to []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLongRow
	}
	n, err := l.Reader.Read(to[:min(len(to), l.left)])
	l.left -= n
	l.passed += int64(n)
	l.ended = l.ended || errors.Is(err, io.EOF)
	return n, err
}
