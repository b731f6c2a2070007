package mails

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

// sentPath is that of the list of messages.
const sentPath = "/sent-mails"

// sentAtOnce is how many messages a page lists.
const sentAtOnce = 50

// sentPage is the list of messages.
type sentPage struct {
	Path     string
	Tabs     []dashboard.Tab
	Show     string
	To       string
	Contract string
	Rows     []sentRow
	Older    string // address of the next page; empty: there is none
	Empty    dashboard.Empty
}

// sentRow is a message.
type sentRow struct {
	Name, Path string // Path leads to its text; empty: it is about no contract
	To, At     string
	Why        string // that it was not sent; empty: it was, or will be
	State      dashboard.Badge
	Resend     string // address that sends it again; empty: it cannot be
}

// sent shows messages, newest first.
func (m *room) sent(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	q := r.URL.Query()
	f := notify.Filter{Show: notify.Show(q.Get("show")), To: strings.TrimSpace(q.Get("to"))}
	if f.Show != notify.ShowAll && f.Show != notify.ShowWaiting && f.Show != notify.ShowFailed {
		return fault.New(fault.Invalid, "messages cannot be listed like this").Field("show")
	}
	about, err := number(q.Get("contract"), "contract", "contract")
	if err != nil {
		return err
	}
	before, err := number(q.Get("before"), "message", "before")
	if err != nil {
		return err
	}
	f.Contract, f.Before = contract.ID(about), notify.MessageID(before)
	list, err := m.Addresses.MessageList(r.Context(), v.Shop.ID, f, sentAtOnce+1)
	if err != nil {
		return err
	}
	at := func(show notify.Show, before notify.MessageID) string {
		next := url.Values{"show": {string(show)}, "to": {f.To}, "contract": {q.Get("contract")}}
		if before != 0 {
			next.Set("before", strconv.FormatInt(int64(before), 10))
		}
		return v.At(sentPath + "?" + next.Encode())
	}
	p := sentPage{
		Path: v.At(sentPath), Show: string(f.Show), To: f.To, Contract: strings.TrimSpace(q.Get("contract")),
		Empty: dashboard.Empty{Icon: "search", Title: "No message", Text: "No message fits. Messages show here as soon as there is something to report."},
	}
	for _, tab := range []struct {
		show notify.Show
		name string
	}{{notify.ShowAll, "All"}, {notify.ShowWaiting, "Waiting"}, {notify.ShowFailed, "Failed"}} {
		p.Tabs = append(p.Tabs, dashboard.Tab{Name: tab.name, Path: at(tab.show, 0), Here: tab.show == f.Show})
	}
	if len(list) > sentAtOnce {
		list = list[:sentAtOnce]
		p.Older = at(f.Show, list[sentAtOnce-1].ID)
	}
	for _, is := range list {
		p.Rows = append(p.Rows, m.sentRow(v, is))
	}
	return v.Answer(w, dashboard.Page{Name: "sent-mails", Title: "Sent messages", Lead: "E-mails and SMS that were sent, wait, or came back, newest first.", Crumb: &dashboard.Crumb{Name: "E-mail texts", Path: path}, Content: p})
}

func (m *room) sentRow(v dashboard.Visit, is notify.Message) sentRow {
	became := is.Result()
	row := sentRow{Name: words.MessageTitle(is), To: is.To, At: v.Instant(is.CreatedAt), State: words.MailBadges[became.Status]}
	if is.Contract != 0 {
		row.Path = v.At("/contracts/" + strconv.FormatInt(int64(is.Contract), 10) + "/mails/" + strconv.FormatInt(int64(is.ID), 10))
	}
	if became.Status != notify.Sent {
		row.Why = became.Reason
	}
	switch {
	case is.To == "" && is.Channel == notify.BySMS:
		row.To = "A phone number that is looked up when it is sent"
		if is.Status == notify.Suppressed {
			row.To = "No phone number"
		}
	case is.To == "":
		row.To = "An erased customer"
	case is.Status == notify.Queued:
		row.At = "due " + v.Instant(is.DueAt)
	case is.Status == notify.Failed && is.Kind != notify.ManagementLink && is.Kind != notify.StaffLink && v.May(staff.ManageContracts):
		row.Resend = v.At(sentPath + "/" + strconv.FormatInt(int64(is.ID), 10) + "/resend")
	}
	return row
}

// resend sends a message again that has failed.
func (m *room) resend(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	id, err := strconv.ParseInt(r.PathValue("mail"), 10, 64)
	if err != nil {
		return fault.New(fault.NotFound, "there is no such message")
	}
	if _, err := m.Sender.Resend(r.Context(), v.Shop.ID, notify.MessageID(id), v.Actor(r)); err != nil {
		return err
	}
	return v.Go(w, sentPath, "mail-resent")
}
