package settings

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// Portal reads and changes what a merchant has set about the portal.
type Portal interface {
	Settings(ctx context.Context, of shop.ID) (portal.Settings, error)
	ChangeSettings(ctx context.Context, of shop.ID, by activity.Actor, change func(*portal.Settings) error) (portal.Settings, error)
}

// toggles are the actions that a merchant can switch off, as the page names them.
var toggles = []struct {
	title string
	list  []toggle
}{
	{"Orders", []toggle{
		{portal.AllowSkip, "Skip an order", ""},
		{portal.AllowReschedule, "Move an order to another day", ""},
		{portal.AllowOrderNow, "Order now", "An order is charged before its day. It also needs immediate orders, in General."},
		{portal.EnableOneTimeProducts, "Add a product to one order", ""},
		{portal.AllowOrderNote, "Write a note to an order", ""},
	}},
	{"Subscriptions", []toggle{
		{portal.AllowProductSwap, "Swap a product", "For what is sold on the same plans."},
		{portal.AllowQuantityChange, "Change the quantity", ""},
		{portal.AllowAddProduct, "Add a product to all orders", ""},
		{portal.AllowRemoveProduct, "Remove a product from all orders", ""},
		{portal.AllowFrequencyChange, "Change how often orders come", "Among the options of the plan group."},
		{portal.AllowPause, "Pause", ""},
		{portal.AllowRestart, "Start again after the end", ""},
		{portal.AllowAddressEdit, "Change the address", ""},
		{portal.AllowPaymentMethodUpdate, "Change the payment method", ""},
		{portal.AllowDiscountCode, "Use a discount code", ""},
	}},
}

type toggle struct {
	is          portal.Toggle
	name, about string
}

// portalNumbers are the limits of the portal: the field, as failures name it, and what it sets.
var portalNumbers = []struct {
	field, label, hint string
	most               int
	of                 func(*portal.Settings) *int
}{
	{"skipMax", "Orders in a row that may be skipped", "0: as many as they like.", portal.MaxSkips, func(s *portal.Settings) *int { return &s.SkipMax }},
	{"pauseMaxDays", "Days that a pause may last", "0: until it is ended.", portal.MaxDays, func(s *portal.Settings) *int { return &s.PauseMaxDays }},
	{"rescheduleMinDays", "Days from today to the earliest day of a moved order", "", portal.MaxDays, func(s *portal.Settings) *int { return &s.RescheduleMin }},
	{"rescheduleMaxDays", "Days from today to the latest day of a moved order", "0: a year.", portal.MaxDays, func(s *portal.Settings) *int { return &s.RescheduleMax }},
	{"cutoffDays", "Days before an order from which on it cannot be changed", "0: until it is charged. Subscribers are shown when it closes.", portal.MaxCutoff, func(s *portal.Settings) *int { return &s.CutoffDays }},
	{"upcomingCount", "Orders to come that are shown", "0: six.", portal.MaxUpcoming, func(s *portal.Settings) *int { return &s.Upcoming }},
}

// portalForm returns the form of the portal.
func portalForm(s portal.Settings, at login.AccountAddresses) formPage {
	p := formPage{Path: "/settings/portal", Seen: strconv.FormatInt(s.Version, 10)}
	for _, section := range toggles {
		g := group{Title: section.title}
		for _, t := range section.list {
			g.Fields = append(g.Fields, dashboard.Field{Name: string(t.is), Type: "checkbox", Label: t.name, Hint: t.about, Value: dashboard.Tick(s.Allows(t.is))})
		}
		p.Groups = append(p.Groups, g)
	}
	limits := group{Title: "Limits"}
	for _, n := range portalNumbers {
		limits.Fields = append(limits.Fields, dashboard.Field{
			Name: n.field, Type: "number", Label: n.label, Hint: n.hint, Required: true, Min: "0", Limit: strconv.Itoa(n.most), Value: strconv.Itoa(*n.of(&s)),
		})
	}
	limits.Fields = append(limits.Fields,
		dashboard.Field{Name: "swapWhenFrozen", Type: "checkbox", Label: "Swaps before the minimum of a plan is reached", Hint: "Subscribers who are held to a number of orders may swap products all the same.", Value: dashboard.Tick(s.SwapWhenFrozen)},
		dashboard.Field{Name: "reasonRequired", Type: "checkbox", Label: "A cancellation needs a reason", Value: dashboard.Tick(s.ReasonRequired)})
	p.Groups = append(p.Groups, limits, group{"Help", "How subscribers reach you. The address of the help page comes first, then e-mail, then telephone.", []dashboard.Field{
		{Name: "supportUrl", Label: "Help page", Hint: "An https address.", Max: portal.MaxSupport, Value: s.Support.URL},
		{Name: "supportEmail", Label: "E-mail", Max: portal.MaxSupport, Value: s.Support.Email},
		{Name: "supportPhone", Label: "Telephone", Max: portal.MaxSupport, Value: s.Support.Phone},
	}}, accountGroup(s))
	p.Register = []fact{{"Callback URI", at.Return}, {"JavaScript origin, of a public client", at.Origin}, {"Logout URI", at.SignOut}}
	return p
}

// accountGroup is the store's client of customer accounts. The secret is never shown.
func accountGroup(s portal.Settings) group {
	secret := dashboard.Field{Name: "accountClientSecret", Type: "password", Label: "Client secret", Hint: "Of a confidential client. Leave it empty for a public one.", Max: portal.MaxAccount}
	if s.AccountSecret != "" {
		secret.Hint = "One is set. Leave it empty to keep it; without a client id it is removed."
	}
	return group{
		"Sign-in with the store account",
		"Subscribers who open the portal outside of your store sign in with their customer account, beside the link by e-mail. Make a client of the Customer Account API in the Headless sales channel, and register the addresses below there.",
		[]dashboard.Field{{Name: "accountClientId", Label: "Client id", Hint: "Empty: they get a link by e-mail only.", Max: portal.MaxAccount, Value: s.AccountClient}, secret},
	}
}

const (
	portalTitle = "Customer portal"
	portalLead  = "What subscribers may do themselves. Cancelling is always possible; what is not ticked here is neither shown nor accepted."
)

func (m *room) portal(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	s, err := m.Portal.Settings(r.Context(), v.Shop.ID)
	if err != nil {
		return err
	}
	return m.answer(w, r, v, portalTitle, portalLead, portalForm(s, m.Accounts.AccountAddresses(v.Shop)), nil)
}

func (m *room) savePortal(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	_, err := m.Portal.ChangeSettings(r.Context(), v.Shop.ID, v.Actor(r), func(s *portal.Settings) error {
		if strconv.FormatInt(s.Version, 10) != r.PostForm.Get("seen") {
			return settingsChanged()
		}
		return enterPortal(r, s)
	})
	if err != nil {
		s, failed := m.Portal.Settings(r.Context(), v.Shop.ID)
		if failed != nil {
			return failed
		}
		return m.answer(w, r, v, portalTitle, portalLead, asEntered(portalForm(s, m.Accounts.AccountAddresses(v.Shop)), r), err)
	}
	return v.Go(w, "/settings/portal", "settings")
}

// enterPortal sets what the form says.
func enterPortal(r *http.Request, s *portal.Settings) error {
	s.Off = slices.DeleteFunc(slices.Clone(portal.Toggles), func(t portal.Toggle) bool { return ticked(r, string(t)) })
	for _, n := range portalNumbers {
		is, err := whole(r, n.field, n.label)
		if err != nil {
			return err
		}
		*n.of(s) = is
	}
	s.SwapWhenFrozen, s.ReasonRequired = ticked(r, "swapWhenFrozen"), ticked(r, "reasonRequired")
	text := func(field string) string { return strings.TrimSpace(r.PostForm.Get(field)) }
	s.EnterAccount(text("accountClientId"), text("accountClientSecret"))
	s.Support = portal.Support{Email: text("supportEmail"), Phone: text("supportPhone"), URL: text("supportUrl")}
	return nil
}
