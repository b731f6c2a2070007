package vectors

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// The tables, beside this file.
const (
	SeriesFile = "series.csv" // orders of series
	FirstFile  = "first.csv"  // first deliveries of new orders
)

// Row is a line of a table.
type Row struct {
	Series
	Place string // name of the zone

	N    int // which order, counted from 0
	Next bool

	Want []time.Time // the order; or the first delivery and the next order
}

var headers = map[string][]string{
	SeriesFile: {"zone", "start", "interval", "count", "anchors", "order time", "n", "expected"},
	FirstFile:  {"zone", "ordered", "interval", "count", "anchors", "order time", "before anchor", "first delivery", "next order"},
}

// Words of the column "before anchor".
const (
	asap   = "ASAP"
	placed = "NEXT"
)

// Write writes a table, with the version of the zone database above it.
func Write(w io.Writer, table, version string, rows []Row) error {
	if _, err := fmt.Fprintf(w, "# Zones of %s. Written by go generate ./internal/domain/cadence/vectors; do not edit.\n", version); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	if err := out.Write(headers[table]); err != nil {
		return err
	}
	for _, r := range rows {
		anchors := make([]string, len(r.Anchors))
		for i, a := range r.Anchors {
			anchors[i] = a.String()
		}
		cells := []string{
			r.Place, instant(r.Start).Format(time.RFC3339), r.Interval, strconv.Itoa(r.Count), strings.Join(anchors, " "),
			fmt.Sprintf("%02d:%02d", r.Minute/60, r.Minute%60), strconv.Itoa(r.N),
		}
		if table == FirstFile {
			if cells[6] = asap; r.Next {
				cells[6] = placed
			}
		}
		for _, want := range r.Want {
			cells = append(cells, want.Format(time.RFC3339))
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// Read reads a table and the version of the zone database that it was made with.
// The rows' zones are names only.
func Read(r io.Reader, table string) (rows []Row, version string, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, "", err
	}
	if _, err := fmt.Sscanf(string(text), "# Zones of %s", &version); err != nil {
		return nil, "", fmt.Errorf("%s does not begin with the version of its zones: %w", table, err)
	}
	in := csv.NewReader(strings.NewReader(string(text)))
	in.Comment = '#'
	lines, err := in.ReadAll()
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", table, err)
	}
	if len(lines) == 0 || strings.Join(lines[0], ",") != strings.Join(headers[table], ",") {
		return nil, "", fmt.Errorf("%s has other columns than %v", table, headers[table])
	}
	for i, line := range lines[1:] {
		row, err := parse(table, line)
		if err != nil {
			return nil, "", fmt.Errorf("%s, row %d: %w", table, i+1, err)
		}
		rows = append(rows, row)
	}
	return rows, strings.TrimSuffix(version, "."), nil
}

func parse(table string, cells []string) (Row, error) {
	row := Row{Place: cells[0], Series: Series{Interval: cells[2]}}
	start, err := time.Parse(time.RFC3339, cells[1])
	if err != nil {
		return row, err
	}
	row.Start = start.Unix()
	if row.Count, err = strconv.Atoi(cells[3]); err != nil {
		return row, err
	}
	for _, text := range strings.Fields(cells[4]) {
		a, err := parseAnchor(text)
		if err != nil {
			return row, err
		}
		row.Anchors = append(row.Anchors, a)
	}
	var hour, minute int
	if _, err := fmt.Sscanf(cells[5], "%d:%d", &hour, &minute); err != nil {
		return row, err
	}
	row.Minute = 60*hour + minute
	if row.Next = cells[6] == placed; table == SeriesFile {
		if row.N, err = strconv.Atoi(cells[6]); err != nil {
			return row, err
		}
	}
	for _, cell := range cells[7:] {
		want, err := time.Parse(time.RFC3339, cell)
		if err != nil {
			return row, err
		}
		row.Want = append(row.Want, want)
	}
	return row, nil
}

func instant(at int64) time.Time { return time.Unix(at, 0).UTC() }

// expect works the row out in a zone.
func (r Row) expect(z *Zone, table string) Row {
	r.Zone = z
	if table == SeriesFile {
		r.Want = []time.Time{instant(r.Nth(r.N))}
		return r
	}
	first, second := r.First(r.Next)
	r.Want = []time.Time{instant(first), instant(second)}
	return r
}
