package rewards

import (
	"net/http"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// shownAtOnce is how many entries of the history a page has.
const shownAtOnce = 10

// screen is what the page shows.
type screen struct {
	Join    *portal.Form // makes the customer a member; nil: they are one, or cannot be
	None    string       // why there is no balance; empty: there is one
	Balance string
	Facts   []portal.Fact
	Tier    string // the level that is reached and the next one
	Level   []bool // of ten parts, those of the way to the next one
	Offers  []offer
	Codes   []code
	Earn    []portal.Sum
	Refer   string // link by which the customer brings others; empty: none
	History []entry
	Pages   []portal.Action
}

// offer is a reward that points can be redeemed for.
type offer struct {
	Name, Cost string
	Link       *portal.Action
	Off        string // why it cannot be redeemed yet
}

// code is a reward that can be used.
type code struct{ Name, Code, About string }

// entry is a row of the history.
type entry struct{ Day, Text, Points string }

func (m room) show(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	p, err := m.program(r, v)
	if err != nil {
		return err
	}
	answer := portal.Page{Name: "rewards", Title: v.T("rewards.title"), Lead: v.T("rewards.text")}
	s := screen{Earn: earning(v, p)}
	is, err := m.Points.Member(r.Context(), v.Shop, customer(v), "")
	switch {
	case isMissing(err):
		s.None = v.T("rewards.none")
		if p.Terms.Enrol == loyalty.OptIn {
			s.None = v.T("rewards.join.text")
			s.Join = joining(v)
		}
	case err != nil:
		return err
	case is.Status == loyalty.ExcludedByCustomer:
		s.None, s.Join = v.T("rewards.left"), joining(v)
	case is.Status != loyalty.Active:
		s.None = v.T("rewards.excluded")
	default:
		answer.Email = is.Person.Email
		s.balance(v, p, is)
		s.offers(v, p, is)
		if err := m.history(r, v, p, &s); err != nil {
			return err
		}
	}
	answer.Content = s
	return v.Answer(w, answer)
}

func joining(v portal.Visit) *portal.Form {
	f := v.View.Form(path+"/join", 0)
	f.Text = v.T("rewards.join.button")
	return &f
}

// balance is what a member has, what comes and what goes.
func (s *screen) balance(v portal.Visit, p loyalty.Program, is loyalty.Member) {
	s.Balance = amount(v, p, is.Sums.Available)
	switch pending := is.Sums.Pending; {
	case pending > 0 && is.ReleasesAt.IsZero():
		s.Facts = append(s.Facts, portal.Fact{Name: v.T("rewards.pending"), Text: v.T("rewards.pending.approval", "points", amount(v, p, pending))})
	case pending > 0:
		s.Facts = append(s.Facts, portal.Fact{Name: v.T("rewards.pending"), Text: v.T("rewards.pending.from", "points", amount(v, p, pending), "day", v.Day(is.ReleasesAt))})
	}
	if is.Expiring > 0 && !is.ExpiresAt.IsZero() {
		s.Facts = append(s.Facts, portal.Fact{Name: v.T("rewards.expiring"), Text: v.T("rewards.expiring.on", "points", amount(v, p, is.Expiring), "day", v.Day(is.ExpiresAt))})
	}
	if is.Credit.Minor > 0 {
		s.Facts = append(s.Facts, portal.Fact{Name: v.T("rewards.credit"), Text: v.Words.Money(is.Credit)})
	}
	switch {
	case is.Next != nil:
		from := loyalty.Points(0)
		s.Tier = v.T("rewards.tier.first", "left", amount(v, p, is.Next.Points-is.Sums.Earned), "next", is.Next.Name)
		if is.Tier != nil {
			from = is.Tier.Points
			s.Tier = v.T("rewards.tier.next", "tier", is.Tier.Name, "left", amount(v, p, is.Next.Points-is.Sums.Earned), "next", is.Next.Name)
		}
		for i := range loyalty.Points(10) {
			s.Level = append(s.Level, (is.Sums.Earned-from)*10 > i*(is.Next.Points-from))
		}
	case is.Tier != nil:
		s.Tier = v.T("rewards.tier.highest", "tier", is.Tier.Name)
	}
	for _, rule := range p.Terms.Earn {
		if rule.Active && rule.For == loyalty.Referral && is.ReferralCode != "" {
			s.Refer = "https://" + v.Shop.Domain + "/?ref=" + is.ReferralCode
		}
	}
}

// offers are the rewards that the programme has, and the codes that the member has.
func (s *screen) offers(v portal.Visit, p loyalty.Program, is loyalty.Member) {
	for _, rule := range p.Terms.Redeem {
		if !rule.Active {
			continue
		}
		least := rule.Points
		o := offer{Name: rule.Name, Cost: amount(v, p, rule.Points)}
		if rule.Type == loyalty.DynamicDiscount {
			least = max(rule.Min, loyalty.One)
			o.Cost = v.T("rewards.from", "points", amount(v, p, least))
		}
		if least <= is.Sums.Available {
			o.Link = &portal.Action{Text: v.T("rewards.redeem"), About: rule.Name, Path: path + "/" + strconv.FormatInt(int64(rule.ID), 10), Asks: true}
		} else {
			o.Off = v.T("rewards.missing", "points", amount(v, p, least-is.Sums.Available))
		}
		s.Offers = append(s.Offers, o)
	}
	for _, t := range is.Rewards {
		c := code{Name: t.Description, Code: t.Code}
		switch {
		case t.Status() != loyalty.Unused || t.Type == loyalty.StoreCredit:
			continue
		case t.State == loyalty.Reserved:
			c.Code, c.About = "", v.T("rewards.code.soon")
		case !t.ExpiresAt.IsZero():
			c.About = v.T("rewards.code.until", "day", v.Day(t.ExpiresAt))
		}
		s.Codes = append(s.Codes, c)
	}
}

// earning lists the ways to earn points.
func earning(v portal.Visit, p loyalty.Program) []portal.Sum {
	var list []portal.Sum
	for _, rule := range p.Terms.Earn {
		if !rule.Active || !rule.To.IsZero() && !v.Now.Before(rule.To) || v.Now.Before(rule.From) {
			continue
		}
		gives := amount(v, p, rule.Points)
		if rule.PerUnit {
			gives = v.T("rewards.earn.perUnit", "points", gives, "amount", v.Words.Money(loyalty.Unit(v.Shop.Currency)))
		}
		list = append(list, portal.Sum{Name: rule.Name, Amount: gives})
	}
	return list
}

// moves are the names of entries that say nothing themselves.
var moves = map[loyalty.Kind]string{
	loyalty.Pend: "rewards.move.pending", loyalty.Release: "rewards.move.released", loyalty.Earn: "rewards.move.earned", loyalty.Spend: "rewards.move.redeemed",
	loyalty.Expire: "rewards.move.expired", loyalty.Adjust: "rewards.move.adjusted", loyalty.Reverse: "rewards.move.reversed", loyalty.RefundSpend: "rewards.move.refunded",
}

// history reads a page of the member's entries.
func (m room) history(r *http.Request, v portal.Visit, p loyalty.Program, s *screen) error {
	at, err := strconv.Atoi(r.URL.Query().Get("history"))
	if err != nil || at < 0 || at > 10_000 {
		at = 0
	}
	list, all, err := m.Points.History(r.Context(), v.Shop.ID, customer(v), page.Request{Page: at, Size: shownAtOnce})
	if err != nil {
		return err
	}
	for _, e := range list {
		change := e.Available
		if change == 0 {
			change = e.Pending
		}
		is := entry{Day: v.ShortDay(when(e)), Text: e.Description, Points: amount(v, p, change)}
		if change > 0 {
			is.Points = "+" + is.Points
		}
		if is.Text == "" {
			is.Text = v.T(moves[e.Kind])
		}
		s.History = append(s.History, is)
	}
	to := func(text string, n int) {
		s.Pages = append(s.Pages, portal.Action{Text: v.T(text), Path: path + "?history=" + strconv.Itoa(n)})
	}
	if at > 0 {
		to("rewards.history.newer", at-1)
	}
	if (at+1)*shownAtOnce < all {
		to("rewards.history.older", at+1)
	}
	return nil
}

// when returns when an entry's activity happened.
func when(e loyalty.Entry) time.Time {
	if e.OccurredAt.IsZero() {
		return e.RecordedAt
	}
	return e.OccurredAt
}
