// Package rewards is the screen on which subscribers see their points and redeem them.
package rewards

import (
	"context"
	"embed"
	"net/http"
	"strconv"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Points is the loyalty programme of stores. Failures are faults; a customer who is not a member is
// NotFound.
type Points interface {
	Program(ctx context.Context, of shop.ID) (loyalty.Program, error)
	Member(ctx context.Context, of shop.Shop, who loyalty.CustomerRef, rewards loyalty.RewardStatus) (loyalty.Member, error)
	History(ctx context.Context, of shop.ID, who loyalty.CustomerRef, p page.Request) ([]loyalty.Entry, int, error)
	Redeem(ctx context.Context, of shop.ID, cmd loyalty.RedeemCommand) (loyalty.Member, error)
	Enrol(ctx context.Context, of shop.ID, cmd loyalty.EnrolCommand) (loyalty.Member, error)
}

// Options are what the room needs.
type Options struct {
	Points Points
	// Runs reports whether a store has a programme that runs. Every page asks.
	Runs func(ctx context.Context, of shop.Shop) (bool, error)
}

//go:embed pages/*.html
var pages embed.FS

const path = "/rewards"

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{
			{Pattern: "GET " + path, Show: r.show},
			{Pattern: "POST " + path + "/join", Show: r.join},
			{Pattern: "GET " + path + "/{rule}", Show: r.ask},
			{Pattern: "POST " + path + "/{rule}", Show: r.redeem},
		},
		Tabs:  []portal.Tab{{Text: "rewards.tab", Path: path, When: o.Runs}},
		Pages: pages,
		Said:  map[string]string{"redeemed": "done.redeemed", "joined": "done.joined"},
	}
}

type room struct{ Options }

// program returns the store's programme. One that does not run has no pages.
func (m room) program(r *http.Request, v portal.Visit) (loyalty.Program, error) {
	p, err := m.Points.Program(r.Context(), v.Shop.ID)
	if err == nil && !p.Active {
		err = portal.PathNotFound()
	}
	return p, err
}

func customer(v portal.Visit) loyalty.CustomerRef { return loyalty.CustomerRef{Customer: v.Customer()} }

// ruleOf returns the rule that the path names, of those by which points can be redeemed now.
func (m room) ruleOf(r *http.Request, v portal.Visit) (loyalty.Program, loyalty.RedeemRule, error) {
	p, err := m.program(r, v)
	if err != nil {
		return p, loyalty.RedeemRule{}, err
	}
	number, err := portal.NumberOf(r, "rule")
	if err != nil {
		return p, loyalty.RedeemRule{}, err
	}
	for _, rule := range p.Terms.Redeem {
		if rule.ID == loyalty.RuleID(number) && rule.Active {
			return p, rule, nil
		}
	}
	return p, loyalty.RedeemRule{}, portal.PathNotFound()
}

// chosen is the field of how many points are redeemed.
const chosen = "points"

// ask says what a reward costs and what is left, before the points are redeemed.
func (m room) ask(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	p, rule, err := m.ruleOf(r, v)
	if err != nil {
		return err
	}
	return m.question(w, r, v, p, rule, nil)
}

func (m room) question(w http.ResponseWriter, r *http.Request, v portal.Visit, p loyalty.Program, rule loyalty.RedeemRule, failed error) error {
	is, err := m.Points.Member(r.Context(), v.Shop, customer(v), "")
	if err != nil {
		return err
	}
	has := amount(v, p, is.Sums.Available)
	q := portal.Question{
		Title: v.T("rewards.ask.title", "reward", rule.Name), Back: &portal.Crumb{Name: v.T("rewards.title"), Path: path}, Email: is.Person.Email,
		Path: path + "/" + strconv.FormatInt(int64(rule.ID), 10), Button: v.T("rewards.ask.button"), Keep: v.T("rewards.ask.keep"),
	}
	if rule.Type == loyalty.DynamicDiscount {
		q.Lead = v.T("rewards.ask.worth", "points", amount(v, p, rule.Points), "amount", v.Words.Money(rule.Worth(v.Shop.Currency)), "balance", has)
		f := portal.Field{Name: chosen, Type: "number", Label: v.T("rewards.ask.points"), Required: true, Value: portal.Typed(r, chosen, max(rule.Min, rule.Points).String()), Min: rule.Min.String()}
		if rule.Max > 0 {
			f.Limit = rule.Max.String()
		}
		q.Fields = append(q.Fields, f)
	} else {
		q.Lead = v.T("rewards.ask.text", "points", amount(v, p, rule.Points), "balance", has, "left", amount(v, p, is.Sums.Available-rule.Points))
	}
	switch {
	case rule.Type == loyalty.StoreCredit:
		q.Says = append(q.Says, v.T("rewards.ask.credit"))
	case rule.ValidDays > 0:
		q.Says = append(q.Says, v.T("rewards.ask.code", "n", rule.ValidDays))
	default:
		q.Says = append(q.Says, v.T("rewards.ask.codeOpen"))
	}
	return v.Ask(w, r, q, failed)
}

// redeem redeems points. Sent again, the form redeems nothing more.
func (m room) redeem(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	p, rule, err := m.ruleOf(r, v)
	if err != nil {
		return err
	}
	cmd := loyalty.RedeemCommand{Who: customer(v), Rule: rule.ID, Actor: v.Actor(r)}
	if rule.Type == loyalty.DynamicDiscount {
		n, wrong := strconv.ParseFloat(r.PostForm.Get(chosen), 64)
		if wrong != nil {
			n = 0
		}
		cmd.Points, err = loyalty.ParsePoints(chosen, n)
	}
	if err == nil {
		err = v.Do(w, r, func(ctx context.Context, name string) (string, error) {
			cmd.IdempotencyKey = name
			_, err := m.Points.Redeem(ctx, v.Shop.ID, cmd)
			return path + "?done=redeemed", err
		})
	}
	return v.Again(err, func() error { return m.question(w, r, v, p, rule, err) })
}

// join makes the customer a member.
func (m room) join(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	if _, err := m.program(r, v); err != nil {
		return err
	}
	return v.Do(w, r, func(ctx context.Context, _ string) (string, error) {
		_, err := m.Points.Enrol(ctx, v.Shop.ID, loyalty.EnrolCommand{Who: customer(v), Actor: v.Actor(r)})
		return path + "?done=joined", err
	})
}

// amount writes a number of points with the name that the store's points have.
func amount(v portal.Visit, p loyalty.Program, n loyalty.Points) string {
	return words.Points(v, p.Terms, n)
}

// isMissing reports whether a failure is that the customer is not a member.
func isMissing(err error) bool { return fault.Is(err, fault.NotFound) }
