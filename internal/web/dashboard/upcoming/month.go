package upcoming

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/upcoming"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// dayCell is a day of the calendar.
type dayCell struct {
	Number  int    // in the month; 0: the day belongs to another one
	Name    string // "Tue 1 Dec 2026"
	Orders  int
	Says    string // how many orders
	Amounts []string
	Path    string // full address; empty: nothing to show
	Today   bool
	Past    bool // its orders are overdue
}

// monthPage is what the calendar shows.
type monthPage struct {
	Tabs       []dashboard.Tab
	Name       string
	Prev, Next string
	This       string // address of the present month; empty: it is shown
	Orders     string
	Amounts    []string
	Overdue    string // empty: no order is
	Weekdays   []string
	Weeks      [][]dayCell
	Days       []dayCell // that have orders
	List       bool
	Empty      *dashboard.Empty
}

const monthLayout = "2006-01"

// monthsAround is how many months before and after the present one are shown.
const monthsAround = 60

// month shows the orders of a month, as a calendar or as a list of its days.
func (m *room) month(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	now := m.Clock.Now().In(v.Zone)
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, v.Zone)
	shown := first
	if text := r.URL.Query().Get("month"); text != "" {
		at, err := time.ParseInLocation(monthLayout, text, v.Zone)
		if err != nil {
			return fault.New(fault.Invalid, "%.20q is not a month: use YYYY-MM", text).Field("month")
		}
		if months := (at.Year()-now.Year())*12 + int(at.Month()-now.Month()); months < -monthsAround || months > monthsAround {
			return fault.New(fault.Invalid, "the calendar goes %d years back and ahead", monthsAround/12).Field("month")
		}
		shown = at
	}
	after := shown.AddDate(0, 1, 0)
	days, err := m.Queue.Days(r.Context(), v.Shop.ID, shown, after, v.Zone)
	if err != nil {
		return err
	}
	p := &monthPage{Name: shown.Format("January 2006"), List: r.URL.Query().Get("view") == "list", Weekdays: []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}}
	at := func(month time.Time, list bool) string {
		path := "/upcoming?month=" + month.Format(monthLayout)
		if list {
			path += "&view=list"
		}
		return v.At(path)
	}
	p.Tabs = []dashboard.Tab{{Name: "Calendar", Path: at(shown, false), Here: !p.List}, {Name: "List", Path: at(shown, true), Here: p.List}}
	p.Prev, p.Next = at(shown.AddDate(0, -1, 0), p.List), at(after, p.List)
	if !shown.Equal(first) {
		p.This = at(first, p.List)
	}
	p.fill(v, days, shown, now)
	if len(p.Days) == 0 {
		p.Empty = &dashboard.Empty{Icon: "cal", Title: "Nothing scheduled", Text: "No order is queued in " + p.Name + ". A contract's orders are queued some time ahead: later ones follow."}
	}
	return v.Answer(w, dashboard.Page{
		Name: "upcoming", Title: "Upcoming orders", Content: p,
		Lead: "What is queued to be charged. Amounts are expected: what each order will cost as far as that is known, with delivery, before taxes.",
	})
}

// fill adds the days of a month.
func (p *monthPage) fill(v dashboard.Visit, days []upcoming.Day, shown, now time.Time) {
	byDay := make(map[string]upcoming.Day, len(days))
	var sums []money.Amount
	orders, overdue := 0, 0
	today := now.Format(time.DateOnly)
	for _, d := range days {
		date := d.Date.Format(time.DateOnly)
		byDay[date] = d
		orders += d.Orders
		if date < today {
			overdue += d.Orders
		}
		for _, a := range d.Amounts {
			sums = upcoming.Add(sums, a)
		}
	}
	p.Orders, p.Amounts = count(orders), amounts(sums)
	if overdue > 0 {
		p.Overdue = count(overdue) + " of days that have passed " + have(overdue) + " not been charged yet."
	}
	week := make([]dayCell, (int(shown.Weekday())+6)%7)
	for date := shown; date.Month() == shown.Month(); date = date.AddDate(0, 0, 1) {
		key := date.Format(time.DateOnly)
		d := byDay[key]
		c := dayCell{Number: date.Day(), Name: date.Format("Mon 2 Jan 2006"), Orders: d.Orders, Says: count(d.Orders), Amounts: amounts(d.Amounts), Today: key == today, Past: key < today}
		if d.Orders > 0 {
			c.Path = v.At("/upcoming/" + key)
			p.Days = append(p.Days, c)
		}
		if week = append(week, c); len(week) == 7 {
			p.Weeks, week = append(p.Weeks, week), nil
		}
	}
	if len(week) > 0 {
		p.Weeks = append(p.Weeks, append(week, make([]dayCell, 7-len(week))...))
	}
}

func have(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

func count(n int) string { return dashboard.Count(n, "order", "orders") }

func amounts(list []money.Amount) []string {
	texts := make([]string, len(list))
	for i, a := range list {
		texts[i] = dashboard.Money(a)
	}
	return texts
}

// dayRow is an order of a day.
type dayRow struct {
	Order    int64
	Contract int64
	Customer string
	Email    string
	Cycle    int
	At       string
	Moved    bool
	Amount   string
}

// dayPage is what a day shows.
type dayPage struct {
	Orders  string
	Amounts []string
	Rows    []dayRow
	Pager   dashboard.Pager
	Acts    bool   // the reader may change orders
	All     string // query of the contracts whose next order is on the day; empty: it has passed
	Empty   dashboard.Empty
	Prev    string
	Next    string
}

// day shows the orders of a day.
func (m *room) day(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	date, err := time.ParseInLocation(time.DateOnly, r.PathValue("day"), v.Zone)
	if err != nil {
		return dashboard.PathNotFound()
	}
	number := 0
	if text := r.URL.Query().Get("page"); text != "" {
		if number, err = strconv.Atoi(text); err != nil || number < 0 || number > maxPage {
			return fault.New(fault.Invalid, "parameter \"page\" must be from 0 to %d", maxPage).Field("page")
		}
	}
	sum, list, err := m.Queue.Orders(r.Context(), v.Shop.ID, date, date.AddDate(0, 0, 1), number)
	if err != nil {
		return err
	}
	return v.Answer(w, m.dayOf(v, date, number, sum, list))
}

// maxPage is the last page that can be asked for.
const maxPage = 100_000

func (m *room) dayOf(v dashboard.Visit, date time.Time, number int, sum upcoming.Day, list []upcoming.Order) dashboard.Page {
	key := date.Format(time.DateOnly)
	at := func(page int) string {
		if page == 0 {
			return v.At("/upcoming/" + key)
		}
		return v.At("/upcoming/" + key + "?page=" + strconv.Itoa(page))
	}
	p := &dayPage{
		Orders: count(sum.Orders), Amounts: amounts(sum.Amounts), Acts: v.May(manage),
		Pager: dashboard.PagerOf("orders of the day", number, upcoming.PageSize, len(list), sum.Orders, at),
		Empty: dashboard.Empty{Icon: "cal", Title: "Nothing scheduled", Text: "No order is queued for this day.", Action: "Back to the calendar", Path: v.At("/upcoming?month=" + date.Format(monthLayout))},
		Prev:  v.At("/upcoming/" + date.AddDate(0, 0, -1).Format(time.DateOnly)), Next: v.At("/upcoming/" + date.AddDate(0, 0, 1).Format(time.DateOnly)),
	}
	if now := m.Clock.Now().In(v.Zone).Format(time.DateOnly); p.Acts && key >= now && sum.Orders > 0 {
		p.All = "fromNextDate=" + key + "&status=ACTIVE&toNextDate=" + key
	}
	for _, o := range list {
		p.Rows = append(p.Rows, dayRow{
			Order: int64(o.Attempt), Contract: int64(o.Contract), Customer: name(o), Email: o.Email, Cycle: o.Cycle,
			At: o.Date.In(v.Zone).Format("15:04"), Moved: o.Moved, Amount: dashboard.Money(o.Amount),
		})
	}
	lead := "No order is queued."
	if sum.Orders > 0 {
		lead = p.Orders + ", expected: " + strings.Join(p.Amounts, ", ") + " with delivery, before taxes."
	}
	return dashboard.Page{
		Name: "upcoming-day", Title: date.Format("Monday, 2 January 2006"), Lead: lead, Content: p,
		Crumb: &dashboard.Crumb{Name: "Upcoming orders", Path: "/upcoming?month=" + date.Format(monthLayout)},
	}
}

// name is how an order's customer is shown.
func name(o upcoming.Order) string {
	if o.Customer != "" {
		return o.Customer
	}
	return "Contract " + strconv.FormatInt(int64(o.Contract), 10)
}
