package parts

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// filedAtOnce is how many rows of a file one transaction adds.
const filedAtOnce = 200

// AddMembers adds the members of a file to a move and judges them: nothing is made. It returns how many
// rows it added. A row that names no customer cannot go. What is made already is not changed. A member of
// the other service has the points that it says.
func (s *Service) AddMembers(ctx context.Context, of shop.ID, id moving.ID, rows iter.Seq2[table.PointsRow, error]) (int, error) {
	return addRows(ctx, s, of, id, rows, func(r table.PointsRow) (moving.Part, []moving.Finding) {
		m := &moving.Member{Customer: r.Customer.ID, Email: r.Customer.Email, Available: r.Balance, Earned: r.Lifetime}
		return moving.Part{PartKey: personKey(moving.MemberPart, r.Customer, r.Line), Customer: r.Customer.ID, Data: moving.PartData{Member: m}}, r.Findings
	})
}

// AddCustomers does the same with the customers of a file.
func (s *Service) AddCustomers(ctx context.Context, of shop.ID, id moving.ID, rows iter.Seq2[table.CustomerRow, error]) (int, error) {
	return addRows(ctx, s, of, id, rows, func(r table.CustomerRow) (moving.Part, []moving.Finding) {
		c := &moving.Customer{ID: r.Customer.ID, Email: r.Customer.Email, Phone: r.Phone, Language: r.Language}
		if b := r.Birthday; b.Year != 0 {
			c.Born = fmt.Sprintf("%04d-%02d-%02d", b.Year, b.Month, b.Day)
		}
		if r.EmailConsent != table.NotSaid {
			c.Mails = new(r.EmailConsent == table.Agreed)
		}
		name := strings.TrimSpace(r.FirstName + " " + r.LastName)
		return moving.Part{PartKey: personKey(moving.CustomerPart, r.Customer, r.Line), Name: name, Customer: r.Customer.ID, Data: moving.PartData{Customer: c}}, r.Findings
	})
}

// personKey names a part by the customer's number, or else by the e-mail address. A row that names no
// customer is named by its line.
func personKey(kind moving.PartKind, who table.Person, line int) moving.PartKey {
	there := strings.ToLower(who.Email)
	if there == "" {
		there = fmt.Sprintf("line %d", line)
	}
	if who.ID != 0 {
		there = strconv.FormatInt(who.ID, 10)
	}
	return moving.PartKey{Kind: kind, There: there}
}

// filed is a part of a file with what was found when its row was read.
type filed struct {
	moving.Part

	row []moving.Finding
}

func addRows[R any](ctx context.Context, s *Service, of shop.ID, id moving.ID, rows iter.Seq2[R, error], part func(R) (moving.Part, []moving.Finding)) (added int, err error) {
	j := &job{Service: s, now: s.Clock.Now()}
	err = s.Store.View(ctx, of, func(tx moving.ReadTx) (err error) {
		if j.move, err = tx.Move(ctx, id); err != nil {
			return err
		}
		j.store, err = tx.Shop(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	var batch []filed
	for r, err := range rows {
		if err != nil {
			return added, err
		}
		p, row := part(r)
		p.Move, p.Filed, p.SeenAt = id, true, j.now
		if batch = append(batch, filed{p, row}); len(batch) == filedAtOnce {
			if err := j.addFiled(ctx, batch); err != nil {
				return added, err
			}
			added, batch = added+len(batch), nil
		}
	}
	return added + len(batch), j.addFiled(ctx, batch)
}

// addFiled judges parts of a file and writes them.
func (j *job) addFiled(ctx context.Context, batch []filed) error {
	parts := make([]moving.Part, len(batch))
	for n := range batch {
		parts[n] = batch[n].Part
		if err := j.identify(ctx, &parts[n]); err != nil {
			return err
		}
	}
	earlier, err := j.earlier(ctx, parts)
	if err != nil {
		return err
	}
	if err := j.know(ctx, parts); err != nil {
		return err
	}
	for n, p := range parts {
		if parts[n], err = j.judged(ctx, earlier[p.PartKey], p); err != nil {
			return err
		}
		parts[n].Filed = true
		if parts[n].Stage != moving.PartMade {
			parts[n].Judge(append(batch[n].row, parts[n].Findings...))
		}
	}
	return j.Store.Update(ctx, j.store.ID, func(tx moving.Tx) error { return tx.PutMoveParts(ctx, parts) })
}

// identify finds the number of a customer that a file names by the e-mail address alone, among the
// store's contracts and members.
func (j *job) identify(ctx context.Context, p *moving.Part) error {
	if p.Customer != 0 {
		return nil
	}
	return j.Points.Store.View(ctx, j.store.ID, func(tx loyalty.ReadTx) error {
		who, err := tx.CustomerByEmail(ctx, p.There)
		if err != nil || who.Customer == 0 {
			return err
		}
		p.Customer, p.There = who.Customer, strconv.FormatInt(who.Customer, 10)
		if m := p.Data.Member; m != nil {
			m.Customer = who.Customer
		}
		if c := p.Data.Customer; c != nil {
			c.ID = who.Customer
		}
		return nil
	})
}
