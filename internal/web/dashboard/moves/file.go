package moves

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/shorten"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

const (
	// maxFile is how many bytes a file of contracts may have.
	maxFile = 15 << 20
	// shownRows is how many rows of a file a page shows, and shownColumns how many columns of each.
	shownRows, shownColumns = 5, 60
	// sampled is how many rows are looked at for the first values of columns.
	sampled = 20
	// shownText is how many characters of a value it shows.
	shownText = 60
)

// filePage is the form that uploads a file.
type filePage struct {
	planForm

	MB int // that the file may have
}

// askFile shows the form that uploads a file of contracts.
func (m *room) askFile(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.showFile(w, r, v, nil)
}

func (m *room) showFile(w http.ResponseWriter, r *http.Request, v dashboard.Visit, wrong error) error {
	plans, _, err := m.planForm(r, v, moving.In)
	if err != nil {
		return err
	}
	page := dashboard.Page{Name: "move-file", Title: "Move in from a file", Crumb: crumb, Content: filePage{plans, maxFile >> 20}}
	if wrong != nil {
		wrong = dashboard.AtForm(wrong, func(field, message string) (string, string) {
			if strings.HasPrefix(field, "plan-") {
				return field, message
			}
			return "file", message
		})
		return v.Refuse(w, r, page, wrong)
	}
	return v.Answer(w, page)
}

// upload starts the move of the contracts of a file, which waits until its columns are named.
func (m *room) upload(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	plans, err := m.plans(r.Context(), v)
	if err != nil {
		return err
	}
	named, err := readPlans(r.PostForm, plans, moving.In)
	file := v.Upload
	switch {
	case err != nil:
		return m.showFile(w, r, v, err)
	case file == nil:
		return m.showFile(w, r, v, fault.New(fault.Invalid, "choose a file"))
	case file.TooLarge:
		return m.showFile(w, r, v, fault.New(fault.TooLarge, "the file has more than %d MB: split it, or have it imported with the command, which takes larger ones", maxFile>>20))
	}
	started, err := m.Moves.Upload(r.Context(), v.Shop.ID, mover.NewFile{Name: file.Name, Body: bytes.NewReader(file.Data), Plans: named, By: v.Actor(r)})
	if err != nil {
		return m.showFile(w, r, v, err)
	}
	return v.Go(w, path(started.ID), "move-file")
}

// template answers with a file that shows how contracts are written.
func (m *room) template(w http.ResponseWriter, _ *http.Request, _ dashboard.Visit) error {
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="contracts-template.csv"`)
	h.Set("X-Content-Type-Options", "nosniff")
	_, err := w.Write(table.Template(table.ContractRows))
	return err
}

// columnRow is a field of contracts, and the column that holds it.
type columnRow struct {
	dashboard.Field

	About   string
	Missing string // why the field cannot go without a column; empty: it can, or has one
	Values  string // the first ones of the column; empty: there are none
}

// mappingPage asks what the columns of a file are.
type mappingPage struct {
	Path, End string
	Failure   string // why the file could not be read; empty: it was not tried
	Broken    bool   // it was not received to its end
	May       bool
	Used      []columnRow // those that are needed or have a column
	Other     []columnRow
	Decimals  dashboard.Field
	Order     dashboard.Field // of day and month
	Unread    []unreadRow
	Header    []string
	Rows      [][]string
	MoreRows  bool // columns that are not shown
	Size      string
}

// unreadRow is a column that no field reads.
type unreadRow struct {
	Name    string
	Field   string // of the box that leaves it out; empty: it is not read without being asked about
	About   string
	Missing bool   // the box must be ticked, or a field must read the column
	LeftOut bool   // the box is ticked
	Values  string // the first ones
}

// mapping is what a form says about the columns of a file.
type mapping struct {
	moving.Choices

	sent bool
}

// mappingOf returns what is known or guessed about the columns of a move's file.
func mappingOf(m moving.Move) mapping {
	if m.File == nil {
		return mapping{}
	}
	return mapping{Choices: m.File.Choices}
}

// showMapping shows what the columns of a file are taken for, with what is wrong with what was sent.
func (m *room) showMapping(w http.ResponseWriter, r *http.Request, v dashboard.Visit, mv moving.Move, is mapping, wrong error) error {
	f := mv.File
	if f == nil {
		return fault.New(fault.FailedPrecondition, "the contracts of this move come from another service, not from a file")
	}
	p := mappingPage{
		Path: path(mv.ID) + "/mapping", Failure: mv.Failure, Broken: f.Bytes == 0, End: path(mv.ID) + "/end", May: v.May(staff.ManageStore), Decimals: decimalsField(is.DecimalComma), Order: orderField(is.DayFirst),
		Header: f.Header[:min(len(f.Header), shownColumns)], MoreRows: len(f.Header) > shownColumns, Size: size(f.Bytes),
	}
	var sample [][]string
	if f.Bytes > 0 {
		var err error
		if _, sample, err = m.Moves.Sample(r.Context(), v.Shop.ID, mv.ID, sampled); err != nil {
			return err
		}
	}
	for _, cells := range sample[:min(len(sample), shownRows)] {
		row := make([]string, len(p.Header))
		for n := range row {
			if n < len(cells) {
				row[n] = shorten.Text(cells[n], shownText)
			}
		}
		p.Rows = append(p.Rows, row)
	}
	for _, field := range table.Fields(table.ContractRows) {
		row := columnRow{Field: columnField(field, f.Header, is.Fields[field.Name]), About: field.About, Values: values(f.Header, sample, is.Fields[field.Name])}
		if is.sent && field.Required && is.Fields[field.Name] == "" {
			row.Missing = "Choose the column that has it."
		}
		if field.Required || is.Fields[field.Name] != "" || slices.Contains(offered, field.Name) {
			p.Used = append(p.Used, row)
		} else {
			p.Other = append(p.Other, row)
		}
	}
	p.Unread = unreadRows(*f, is, sample)
	page := dashboard.Page{Name: "move-mapping", Title: title(mv), Lead: "Nothing was read into the store yet. Say what the columns of the file are.", Crumb: crumb, Content: p}
	if wrong == nil {
		return v.Answer(w, page)
	}
	wrong = dashboard.AtForm(wrong, func(field, message string) (string, string) {
		if slices.ContainsFunc(table.Fields(table.ContractRows), func(f table.Field) bool { return f.Name == field }) {
			return "column-" + field, message
		}
		return "", message
	})
	return v.Refuse(w, r, page, wrong)
}

// offered are fields that are often needed: a customer, a product, the next date.
var offered = []string{"customerId", "email", "variantId", "sku", "nextOrderDate"}

func columnField(field table.Field, header []string, column string) dashboard.Field {
	f := dashboard.Field{Name: "column-" + field.Name, Label: field.Label, Type: "select", Required: field.Required, Choices: []dashboard.Choice{{Name: "No column"}}}
	for _, name := range header {
		if name != "" {
			f.Choices = append(f.Choices, dashboard.Choice{Value: name, Name: shorten.Text(name, shownText), Selected: name == column})
		}
	}
	return f
}

// either is a choice between two ways in which all values of a file are written.
func either(f dashboard.Field, is *bool, yes, no dashboard.Choice) dashboard.Field {
	f.Type, f.Required = "select", true
	yes.Selected, no.Selected = is != nil && *is, is != nil && !*is
	f.Choices = []dashboard.Choice{{Name: "As the values of the column show"}, no, yes}
	return f
}

func decimalsField(comma *bool) dashboard.Field {
	return either(dashboard.Field{
		Name: "decimals", Label: "Decimals in numbers", Hint: "Only matters where a number such as 1,234 could be either.",
	}, comma, dashboard.Choice{Value: "comma", Name: "Comma: 1.234,50"}, dashboard.Choice{Value: "point", Name: "Point: 1,234.50"})
}

func orderField(dayFirst *bool) dashboard.Field {
	return either(dashboard.Field{
		Name: "order", Label: "Day and month in dates", Hint: "Only matters where a date such as 03/04/2027 could be either.",
	}, dayFirst, dashboard.Choice{Value: "day", Name: "Day first: 31/12/2027"}, dashboard.Choice{Value: "month", Name: "Month first: 12/31/2027"})
}

// chosen returns what a form says in a choice between two ways; nil: neither.
func chosen(value, yes string) *bool {
	if value == "" {
		return nil
	}
	return new(value == yes)
}

// unreadRows lists the columns that no field reads. Those that stop the file come first.
func unreadRows(f moving.File, is mapping, sample [][]string) []unreadRow {
	var asked, others []unreadRow
	for n, u := range f.Unread(is.Choices) {
		row := unreadRow{Name: u.Name, About: "It is not read.", Values: values(f.Header, sample, u.Name), LeftOut: u.LeftOut, Missing: is.sent && u.Stops()}
		switch {
		case u.Looks != "":
			row.Field = fmt.Sprintf("left-out-%d", n+1)
			row.About = fmt.Sprintf("It looks like %s: choose the field that it holds above, or leave it out.", u.Looks)
			asked = append(asked, row)
			continue
		case u.Values == 0:
			row.About = "It is empty."
		}
		others = append(others, row)
	}
	return append(asked, others...)
}

// values returns the first values of a column.
func values(header []string, sample [][]string, column string) string {
	at := slices.Index(header, column)
	if column == "" || at < 0 {
		return ""
	}
	var list []string
	for _, cells := range sample {
		if at < len(cells) && cells[at] != "" && !slices.Contains(list, shorten.Text(cells[at], shownText)) && len(list) < 3 {
			list = append(list, shorten.Text(cells[at], shownText))
		}
	}
	return strings.Join(list, " · ")
}

// askMapping shows the columns of a move's file again.
func (m *room) askMapping(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p, err := m.progress(r, v)
	if err != nil {
		return err
	}
	return m.showMapping(w, r, v, p.Move, mappingOf(p.Move), nil)
}

// setMapping has the contracts of a file read with the columns that the form names. With another button
// it shows their first values.
func (m *room) setMapping(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	p, err := m.progress(r, v)
	if err != nil {
		return err
	}
	is := mapping{sent: true, Choices: moving.Choices{
		Fields: map[string]string{}, LeftOut: r.PostForm["left-out"],
		DecimalComma: chosen(r.PostForm.Get("decimals"), "comma"), DayFirst: chosen(r.PostForm.Get("order"), "day"),
	}}
	for _, field := range table.Fields(table.ContractRows) {
		if column := r.PostForm.Get("column-" + field.Name); column != "" {
			is.Fields[field.Name] = column
		}
	}
	if r.PostForm.Get("do") == "show" {
		is.sent = false
		return m.showMapping(w, r, v, p.Move, is, nil)
	}
	if _, err := m.Moves.SetMapping(r.Context(), v.Shop.ID, p.Move.ID, v.Actor(r), is.Choices); err != nil {
		return m.showMapping(w, r, v, p.Move, is, err)
	}
	return v.Go(w, path(p.Move.ID), "move-mapped")
}

// size returns a number of bytes in words.
func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KB", max(n>>10, 1))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
