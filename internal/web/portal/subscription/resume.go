package subscription

import (
	"context"
	"net/http"
	"time"

	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// nextAfterResume returns the day of the order that comes next when a contract goes on now, and what
// it costs.
func nextAfterResume(v portal.Visit, s overview.Sheet) (day time.Time, amount string) {
	next := s.NextOrder()
	return next.BillingDate, words.Cost(v, next)
}

func (m room) askResume(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	s, err := m.sheet(r, v, 0)
	if err != nil {
		return err
	}
	if !s.Can.Allows(do.Resume) {
		return v.Go(w, words.Path(s.Contract.ID), "")
	}
	return v.Ask(w, r, resumeQuestion(v, s), nil)
}

func resumeQuestion(v portal.Visit, s overview.Sheet) portal.Question {
	c := s.Contract
	day, amount := nextAfterResume(v, s)
	q := words.Question(v, c, words.Path(c.ID)+"/resume")
	q.Title = v.T("resume.title", "product", words.Name(v, c))
	q.Lead = v.T("resume.text", "day", v.Day(day), "amount", amount, "payment", words.Payment(v, c), "every", words.Every(v, c.Billing))
	if !words.Chargeable(c) {
		q.Lead, q.Keep = v.T("resume.noPayment"), v.T("resume.keep")
		if link := words.Changing(v, s, do.EditPaymentMethod, "/payment", v.T("resume.addPayment"), ""); link != nil {
			q.Need = &portal.Need{Text: link.Text, Address: v.View.At(link.Path)}
		}
		return q
	}
	next := s.NextOrder()
	q.Items, q.Bill = words.Items(v, next), words.Bill(v, next)
	q.Says = []string{v.T("resume.missed")}
	q.Button, q.Keep = v.T("resume.button"), v.T("resume.keep")
	return q
}

func (m room) resume(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	id, err := portal.ContractOf(r)
	if err != nil {
		return err
	}
	s, err := m.sheet(r, v, 0)
	if err != nil {
		return err
	}
	if s.Can.Allows(do.Resume) && !words.Chargeable(s.Contract) {
		return v.Ask(w, r, resumeQuestion(v, s), nil)
	}
	err = v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
		_, err := m.Changes.Resume(ctx, v.Caller(r), do.ContractRef{ID: id, Version: v.Version(r)}, time.Time{})
		return words.Path(id) + "?done=resumed", err
	})
	return v.Again(err, func() error {
		s, failed := m.sheet(r, v, 0)
		if failed != nil {
			return failed
		}
		return v.Ask(w, r, resumeQuestion(v, s), err)
	})
}

// keep withdraws a cancellation that is scheduled.
func (m room) keep(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	id, err := portal.ContractOf(r)
	if err != nil {
		return err
	}
	return v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
		_, err := m.Changes.Keep(ctx, v.Caller(r), do.ContractRef{ID: id, Version: v.Version(r)})
		return words.Path(id) + "?done=kept", err
	})
}
