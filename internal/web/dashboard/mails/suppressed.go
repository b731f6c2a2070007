package mails

import (
	"net/http"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// mostAddresses is how many suppressed addresses a page lists.
const mostAddresses = 500

// suppressedPath is that of the list of addresses.
const suppressedPath = "/suppressed"

// suppressedPage lists the addresses that get no e-mails.
type suppressedPage struct {
	Rows  []addressRow
	More  bool // older ones are not listed
	Empty dashboard.Empty
}

// addressRow is an address.
type addressRow struct {
	Hint, Why, At string
	Lift          string // address of the question that lifts it; empty: it stays
}

var reasons = map[notify.SuppressionReason]string{
	notify.HardBounce: "There is no such mailbox", notify.Complaint: "Its reader has reported an e-mail as spam",
}

func (m *room) suppressed(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	list, err := m.Addresses.Suppressions(r.Context(), v.Shop.ID, mostAddresses+1)
	if err != nil {
		return err
	}
	p := suppressedPage{
		More: len(list) > mostAddresses, Empty: dashboard.Empty{Icon: "check", Title: "No address is suppressed", Text: "Addresses show here when an e-mail to them comes back, or when its reader reports it as spam."},
	}
	for _, s := range list[:min(len(list), mostAddresses)] {
		row := addressRow{Hint: s.Hint, Why: reasons[s.Reason] + " (" + s.Source + ")", At: v.Instant(s.At)}
		if s.Hint == "" {
			row.Hint = "An erased customer"
		}
		if s.Reason != notify.Complaint && v.May(staff.ManageStore) {
			row.Lift = v.At(suppressedPath + "/" + s.Hash)
		}
		p.Rows = append(p.Rows, row)
	}
	return v.Answer(w, dashboard.Page{
		Name: "suppressed", Title: "Addresses that get no e-mails", Lead: "Only links to sign in are sent to them, when a customer asks for one.",
		Crumb: &dashboard.Crumb{Name: "E-mail texts", Path: path}, Content: p,
	})
}

func (m *room) suppression(r *http.Request, v dashboard.Visit) (notify.Suppression, error) {
	list, err := m.Addresses.Suppressions(r.Context(), v.Shop.ID, mostAddresses)
	at := slices.IndexFunc(list, func(s notify.Suppression) bool { return s.Hash == r.PathValue("hash") })
	if err == nil && at < 0 {
		err = fault.New(fault.NotFound, "the address is not suppressed").Entity("mail").Code("suppressionUnknown")
	}
	if err != nil {
		return notify.Suppression{}, err
	}
	return list[at], nil
}

func lifting(s notify.Suppression) dashboard.Question {
	return dashboard.Question{
		Title: "Send to " + s.Hint + " again", Back: suppressedPath, Path: suppressedPath + "/" + s.Hash, Button: "Send e-mails again", Keep: "Keep it suppressed",
		Says: []string{
			"E-mails are sent to the address from now on. What was not sent before is not sent later.",
			"Do this when its owner has said that it works: e-mails that come back harm how all others are delivered.",
		},
	}
}

func (m *room) askLift(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	s, err := m.suppression(r, v)
	if err != nil {
		return err
	}
	return v.Ask(w, r, lifting(s), nil)
}

func (m *room) lift(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	s, err := m.suppression(r, v)
	if err != nil {
		return err
	}
	if err := m.Sender.Lift(r.Context(), v.Shop.ID, s.Hash, v.Actor(r)); err != nil {
		return v.Ask(w, r, lifting(s), err)
	}
	return v.Go(w, suppressedPath, "mail-lifted")
}
