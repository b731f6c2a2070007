package settings

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// generalForm returns the form of what concerns the whole store.
func generalForm(s shop.Shop) formPage {
	set := s.Settings
	return formPage{
		Path:  "/settings",
		Facts: []fact{{"Store", s.Domain}, {"Time zone", s.TimeZone}, {"Currency", string(s.Currency)}, {"Orders are charged at", fmt.Sprintf("%02d:%02d, store time", s.OrderHour, s.OrderMinute)}},
		Groups: []group{
			{"Orders", "", []dashboard.Field{
				{Name: "immediate", Type: "checkbox", Label: "Let integrations place orders at once", Hint: "The API may then charge an order before its day.", Value: dashboard.Tick(set.ImmediateOrders)},
				{
					Name: "freeze", Type: "checkbox", Label: "Hold subscribers to the orders they committed to", Value: dashboard.Tick(set.FreezeUntilMinCycles),
					Hint: "Until the minimum of a plan is reached, subscribers cannot cancel, pause or change. Memberships are always held.",
				},
				{
					Name: "catch-up", Type: "number", Label: "Hours over which late charges are spread", Required: true, Value: strconv.Itoa(int(set.CatchUp().Hours())),
					Min: "1", Limit: strconv.Itoa(shop.MaxCatchUp), Hint: "After an outage, so that banks are not asked all at once.",
				},
			}},
			{"Delivery", "When a customer changes the address, the platform says how orders can be shipped there. The way of the same name is kept, at its price there.", []dashboard.Field{
				{
					Name: "delivery", Type: "select", Label: "When there is none of the same name", Required: true, Choices: deliveryChoices(set.Delivery()),
					Hint: "A price that was set on a contract stays in any case.",
				},
			}},
			{"Memberships", "Contracts on these selling plans are memberships. When the list changes, all contracts are read again.", []dashboard.Field{
				{Name: "memberships", Label: "Numbers of selling plans", Max: 2000, Value: strings.Trim(strings.ReplaceAll(fmt.Sprint(set.Memberships), " ", ", "), "[]"), Hint: "Separated by commas."},
			}},
			{"Requests of integrations", "How many requests the keys of the store may make. 0 is what the operator has set.", []dashboard.Field{
				{Name: "rate", Label: "Requests a second", Required: true, Max: 12, Value: strconv.FormatFloat(set.RatePerSecond, 'f', -1, 64)},
				{Name: "burst", Type: "number", Label: "Requests at once", Required: true, Min: "0", Value: strconv.Itoa(set.RateBurst)},
			}},
		},
	}
}

func deliveryChoices(is shop.DeliveryRule) []dashboard.Choice {
	var list []dashboard.Choice
	for _, rule := range shop.DeliveryRules {
		name := map[shop.DeliveryRule]string{shop.CheapestDelivery: "Take the cheapest way there", shop.KeepDelivery: "Keep the way and the price"}[rule]
		list = append(list, dashboard.Choice{Value: string(rule), Name: name, Selected: rule == is})
	}
	return list
}

const (
	generalTitle = "General"
	generalLead  = "What holds for all orders of the store."
)

func (m *room) general(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	return m.answer(w, r, v, generalTitle, generalLead, generalForm(v.Shop), nil)
}

func (m *room) saveGeneral(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	entered := v.Shop
	err := enterGeneral(r, &entered.Settings)
	if err == nil {
		err = m.save(r, v, func(s *shop.Settings) error { return enterGeneral(r, s) })
	}
	if err != nil {
		return m.answer(w, r, v, generalTitle, generalLead, asEntered(generalForm(entered), r), err)
	}
	return v.Go(w, "/settings", "settings")
}

// enterGeneral sets what the form says.
func enterGeneral(r *http.Request, s *shop.Settings) error {
	var err error
	s.ImmediateOrders, s.FreezeUntilMinCycles = ticked(r, "immediate"), ticked(r, "freeze")
	s.DeliveryRule = shop.DeliveryRule(r.PostForm.Get("delivery"))
	if s.CatchUpHours, err = whole(r, "catch-up", "The number of hours"); err != nil {
		return err
	}
	if s.RatePerSecond, err = strconv.ParseFloat(strings.TrimSpace(r.PostForm.Get("rate")), 64); err != nil {
		return fault.New(fault.Invalid, "Requests a second is a number").Field("rate")
	}
	if s.RateBurst, err = whole(r, "burst", "Requests at once"); err != nil {
		return err
	}
	plans, err := planNumbers(r.PostForm.Get("memberships"))
	if err != nil {
		return err
	}
	s.Memberships = plans
	return nil
}

// planNumbers reads a list of numbers, in order and each once.
func planNumbers(text string) ([]int64, error) {
	var list []int64
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }) {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n <= 0 {
			return nil, fault.New(fault.Invalid, "%.40q is not the number of a selling plan", part).Field("memberships")
		}
		list = append(list, n)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// asEntered shows what was entered in a form and not what is stored.
func asEntered(p formPage, r *http.Request) formPage {
	p.Seen = r.PostForm.Get("seen")
	for i := range p.Groups {
		p.Groups[i].Fields = dashboard.Entered(p.Groups[i].Fields, r.PostForm)
	}
	return p
}
