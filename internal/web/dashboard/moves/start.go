package moves

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// startPage is the form that starts a move.
type startPage struct {
	planForm

	Path    string
	Address []dashboard.Field
	Key     dashboard.Field
}

func (m *room) askStart(d moving.Direction) dashboard.Show {
	return func(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
		return m.form(w, r, v, d, nil)
	}
}

// form shows the form of a new move, with what is wrong with what was sent. A key is never shown again.
func (m *room) form(w http.ResponseWriter, r *http.Request, v dashboard.Visit, d moving.Direction, wrong error) error {
	plans, form, err := m.planForm(r, v, d)
	if err != nil {
		return err
	}
	p := startPage{planForm: plans, Key: keyField, Path: "/moves/" + strings.ToLower(string(d)), Address: addressFields(d, form)}
	answer := dashboard.Page{Name: "move-start", Title: "Move in from another service", Crumb: crumb, Content: &p}
	if d == moving.Out {
		answer.Title = "Move out to another service"
	}
	if wrong == nil {
		return v.Answer(w, answer)
	}
	wrong = dashboard.AtForm(wrong, func(field, message string) (string, string) { return field, message })
	return v.Refuse(w, r, answer, wrong)
}

var keyField = dashboard.Field{
	Name: "key", Label: "API key of the other service", Type: "password", Required: true, Max: 500,
	Hint: "It needs to read and change contracts and orders. It is stored encrypted and is not shown again.",
}

func addressFields(d moving.Direction, form url.Values) []dashboard.Field {
	fields := []dashboard.Field{
		{
			Name: "address", Label: "Address of its interface", Type: "url", Value: form.Get("address"), Instead: "https://subscriptions.example.com", Required: true, Max: 500,
			Hint: "The base address, without a path.",
		},
		{
			Name: "memberships", Label: "Address of its interface for memberships", Type: "url", Value: form.Get("memberships"), Instead: "https://memberships.example.com", Max: 500,
			Hint: "If it has memberships, which have an address of their own.",
		},
		{
			Name: "rate", Label: "Requests per second", Type: "number", Value: cmp.Or(form.Get("rate"), strconv.Itoa(mover.DefaultRate)), Required: true, Min: "1", Limit: "1000",
			Hint: "How many the other service allows. Ask it before you enter more.",
		},
	}
	hint := "If its loyalty members come along with their points. Start the loyalty programme here before."
	if d == moving.Out {
		hint = "If your loyalty members go along with their points. Start its loyalty programme, and switch off its e-mails about points, before."
	}
	return slices.Insert(fields, 2, dashboard.Field{
		Name: "loyalty", Label: "Address of its interface for loyalty", Type: "url", Value: form.Get("loyalty"), Instead: "https://loyalty.example.com", Max: 500, Hint: hint,
	})
}

func (m *room) start(d moving.Direction) dashboard.Show {
	return func(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
		if r.PostForm.Get("do") == "rows" {
			return m.form(w, r, v, d, nil)
		}
		plans, err := m.plans(r.Context(), v)
		if err != nil {
			return err
		}
		n, err := asked(r, v, d, plans)
		var started moving.Move
		if err == nil {
			started, err = m.Moves.Start(r.Context(), v.Shop.ID, n)
		}
		if err != nil {
			return m.form(w, r, v, d, err)
		}
		return v.Go(w, path(started.ID), "move-started")
	}
}

// asked reads the form of a new move.
func asked(r *http.Request, v dashboard.Visit, d moving.Direction, plans []dashboard.Choice) (mover.New, error) {
	form := r.PostForm
	n := mover.New{
		Direction: d, By: v.Actor(r), Peer: moving.Peer{Address: form.Get("address"), Memberships: form.Get("memberships"), Loyalty: form.Get("loyalty"), Key: form.Get("key")},
	}
	var err error
	if n.Peer.Rate, err = strconv.ParseFloat(strings.TrimSpace(form.Get("rate")), 64); err != nil || n.Peer.Rate < 0.1 {
		return n, fault.New(fault.Invalid, "the rate must be a number from 0.1 to 1000, in requests per second").Field("rate")
	}
	n.Plans, err = readPlans(form, plans, d)
	return n, err
}
