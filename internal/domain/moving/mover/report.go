package mover

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/sheet"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// reportAtOnce is how many contracts one transaction reads for a report.
const reportAtOnce = 500

// Row is a contract in a report.
type Row struct {
	Contract int64            `json:"contractId"`
	Imported string           `json:"importedId,omitempty"` // what names it where it comes from
	Line     shop.Line        `json:"line"`
	Customer int64            `json:"customerId,omitempty"`
	Email    string           `json:"customerEmail,omitempty"`
	Status   string           `json:"status,omitempty"`
	Stage    moving.Stage     `json:"stage"`
	Fit      moving.Fit       `json:"fit,omitempty"`
	Next     *time.Time       `json:"nextOrder"`
	Amount   string           `json:"amount,omitempty"`
	Currency string           `json:"currency,omitempty"`
	Here     int64            `json:"movedContractId,omitempty"`
	Reason   string           `json:"reason,omitempty"`
	Findings []moving.Finding `json:"findings"`
}

func rowOf(i moving.Item) Row {
	r := Row{
		Contract: i.There, Imported: i.Contract.ImportedID, Line: i.Contract.Line, Customer: i.Contract.Customer.ID, Email: i.Contract.Customer.Email, Status: string(i.Contract.Status), Stage: i.Stage, Fit: i.Fit,
		Here: i.Here, Reason: i.Reason, Findings: i.Findings,
	}
	if r.Findings == nil {
		r.Findings = []moving.Finding{}
	}
	if !i.Plan.Date.IsZero() {
		date := i.Plan.Date.UTC()
		r.Next, r.Amount, r.Currency = &date, i.Plan.Amount.String(), string(i.Plan.Amount.Currency)
	}
	return r
}

// rows calls fn for every contract of a move, by number.
func (s *Service) rows(ctx context.Context, of shop.ID, id moving.ID, fn func(Row) error) error {
	for after := int64(0); ; {
		list, err := s.Items(ctx, of, id, moving.Match{}, after, reportAtOnce)
		if err != nil {
			return err
		}
		for _, i := range list {
			if err := fn(rowOf(i)); err != nil {
				return err
			}
			after = i.There
		}
		if len(list) < reportAtOnce {
			return nil
		}
	}
}

// PartRow is in a report what the store has beside contracts.
type PartRow struct {
	Kind     moving.PartKind  `json:"part"`
	Line     shop.Line        `json:"line,omitempty"`
	Number   string           `json:"id,omitempty"` // empty: all of the kind
	Name     string           `json:"name,omitempty"`
	Customer int64            `json:"customerId,omitempty"`
	Stage    moving.PartStage `json:"stage"`
	Fit      moving.Fit       `json:"fit,omitempty"`
	Here     int64            `json:"movedId,omitempty"`
	Reason   string           `json:"reason,omitempty"`
	Findings []moving.Finding `json:"findings"`
}

// partRows calls fn for every part of a move, by kind.
func (s *Service) partRows(ctx context.Context, of shop.ID, id moving.ID, fn func(PartRow) error) error {
	for after := (moving.PartKey{}); ; {
		list, err := s.PartsOf(ctx, of, id, moving.PartMatch{}, after, reportAtOnce)
		if err != nil {
			return err
		}
		for _, p := range list {
			r := PartRow{Kind: p.Kind, Line: p.Line, Number: p.There, Name: p.Name, Customer: p.Customer, Stage: p.Stage, Fit: p.Fit, Here: p.Here, Reason: p.Reason, Findings: p.Findings}
			if r.Findings == nil {
				r.Findings = []moving.Finding{}
			}
			if err := fn(r); err != nil {
				return err
			}
			after = p.PartKey
		}
		if len(list) < reportAtOnce {
			return nil
		}
	}
}

// ReportJSON writes the parts and the contracts of a move as JSON Lines.
func (s *Service) ReportJSON(ctx context.Context, of shop.ID, id moving.ID, to io.Writer) error {
	lines := json.NewEncoder(to)
	if err := s.partRows(ctx, of, id, func(r PartRow) error { return lines.Encode(r) }); err != nil {
		return err
	}
	return s.rows(ctx, of, id, func(r Row) error { return lines.Encode(r) })
}

// ReportCSV writes the parts and the contracts of a move as CSV, one line for each finding, and one for
// what has none.
func (s *Service) ReportCSV(ctx context.Context, of shop.ID, id moving.ID, to io.Writer) error {
	out := csv.NewWriter(to)
	out.UseCRLF = true
	header := []string{
		"kind", "number", "name", "line", "customer", "email", "status", "stage", "fit", "next order", "amount", "currency", "moved to", "reason", "code", "field", "finding",
	}
	if err := out.Write(header); err != nil {
		return err
	}
	write := func(head []string, findings []moving.Finding) error {
		for _, f := range findings {
			if err := out.Write(append(head, f.Code, f.Field, sheet.Cell(f.Text))); err != nil {
				return err
			}
		}
		if len(findings) == 0 {
			return out.Write(append(head, "", "", ""))
		}
		return nil
	}
	err := s.partRows(ctx, of, id, func(r PartRow) error {
		return write([]string{
			string(r.Kind), sheet.Cell(r.Number), sheet.Cell(r.Name), string(r.Line), number(r.Customer), "", "", string(r.Stage), string(r.Fit), "", "", "", number(r.Here), sheet.Cell(r.Reason),
		}, r.Findings)
	})
	if err == nil {
		err = s.rows(ctx, of, id, func(r Row) error {
			next := ""
			if r.Next != nil {
				next = r.Next.Format(time.RFC3339)
			}
			return write([]string{
				"CONTRACT", number(r.Contract), sheet.Cell(r.Imported), string(r.Line), number(r.Customer), sheet.Cell(r.Email), r.Status, string(r.Stage), string(r.Fit), next, r.Amount, r.Currency, number(r.Here), sheet.Cell(r.Reason),
			}, r.Findings)
		})
	}
	out.Flush()
	if err == nil {
		err = out.Error()
	}
	return err
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
