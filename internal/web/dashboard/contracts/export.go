package contracts

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

const (
	// rowsAtOnce is how many contracts an export holds at once.
	rowsAtOnce = 500
	// rowsTime is how long it may take to send them.
	rowsTime = 30 * time.Second
)

// exported are the columns of an export.
var exported = []string{
	"Contract", "Customer", "E-mail", "Status", "First order", "Delivered every", "Billed every", "Items", "Item total", "Currency", "Next order", "Orders", "Paid so far",
	"Payment failing", "Created", "Changed",
}

// export sends all contracts that a search finds, by number. It holds some at a time.
func (m *room) export(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	l, err := parseQuery(r.URL.Query())
	if err != nil {
		return err
	}
	f, err := m.Search(l.filters.Encode(), v.Zone)
	if err != nil {
		return err
	}
	list, err := m.Directory.MatchingRows(r.Context(), v.Shop.ID, f, 0, rowsAtOnce)
	if err != nil {
		return err
	}
	file, control := web.NewCSV(w, "contracts-"+m.Clock.Now().In(v.Zone).Format(time.DateOnly)+".csv"), http.NewResponseController(w)
	if err := file.Row(exported...); err != nil {
		return err
	}
	for len(list) > 0 {
		_ = control.SetWriteDeadline(clock.System{}.Now().Add(rowsTime)) // where that is not possible, the server's limit holds
		for _, c := range list {
			if err := file.Row(exportRow(c, v)...); err != nil {
				panic(http.ErrAbortHandler) // the answer has begun: only a cut connection says that it is not whole
			}
		}
		if len(list) < rowsAtOnce {
			break
		}
		if list, err = m.Directory.MatchingRows(r.Context(), v.Shop.ID, f, list[len(list)-1].ID, rowsAtOnce); err != nil {
			web.Note(r.Context(), err)
			panic(http.ErrAbortHandler)
		}
	}
	return file.Close()
}

func exportRow(c contract.Contract, v dashboard.Visit) []string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.In(v.Zone).Format(time.RFC3339)
	}
	titles := make([]string, len(c.Lines))
	for i, line := range c.Lines {
		titles[i] = strconv.Itoa(line.Quantity) + " " + line.Title
	}
	failing := ""
	if c.Dunning != nil {
		failing = c.Dunning.Code
	}
	return []string{
		strconv.FormatInt(int64(c.ID), 10), c.Customer.Name, c.Customer.Email, string(c.Status), c.OriginOrderName,
		strconv.Itoa(c.Delivery.Count) + " " + c.Delivery.Interval.String(), strconv.Itoa(c.Billing.Count) + " " + c.Billing.Interval.String(),
		strings.Join(titles, "; "), c.Amount().String(), string(c.Currency), at(c.NextBillingDate), strconv.Itoa(c.Orders), c.Lifetime.String(), failing,
		at(c.CreatedAt), at(c.UpdatedAt),
	}
}

// apiCall is a list as a program asks for it.
type apiCall struct {
	Text string
	Note string // what the interface cannot say; empty: nothing
}

// searchPath is that of the interface's search.
const searchPath = "/api/external/v2/subscription-contract-details"

// call returns the list as a call of the interface.
func (m *room) call(l listQuery) apiCall {
	query := url.Values{}
	for name, list := range l.filters {
		query[name] = list
	}
	var notes []string
	if query.Has("failing") || query.Has("ending") {
		notes = append(notes, "The interface has no filter for this view: the call finds contracts whose payments do not fail, or that do not end, too.")
		query.Del("failing")
		query.Del("ending")
	}
	base := strings.TrimSuffix(m.PublicURL, "/")
	if query.Get("line") != "" {
		if strings.EqualFold(query.Get("line"), "MEMBERSHIP") {
			notes = append(notes, "Memberships have an address of their own, where the path is the same.")
		}
		query.Del("line")
	}
	query.Set("sort", sortText(l.sort))
	query.Set("page", strconv.Itoa(l.page))
	query.Set("size", strconv.Itoa(l.size))
	return apiCall{"GET " + base + searchPath + "?" + query.Encode() + "\nX-API-Key: <your key>", strings.Join(notes, " ")}
}
