// Package delivery is the screen on which subscribers change where their orders go.
package delivery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/contract"
	countries "github.com/perennialhq/perennial/internal/domain/delivery"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/overview"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Sheets reads the subscriber's contracts.
type Sheets interface {
	Home(ctx context.Context, who do.Caller) (overview.Home, error)
}

// Changes reads and changes where orders go. Failures are faults.
type Changes interface {
	Detail(ctx context.Context, who do.Caller, id contract.ID) (do.View, contract.Detail, error)
	SetDelivery(ctx context.Context, who do.Caller, ref do.ContractRef, want func(contract.DeliveryMethod) contract.DeliveryMethod, agreed *money.Amount) (contract.Detail, error)
	DraftDelivery(ctx context.Context, who do.Caller, id contract.ID, want func(contract.DeliveryMethod) contract.DeliveryMethod) (do.Delivered, error)
}

// Options are what the room needs.
type Options struct {
	Sheets  Sheets
	Changes Changes
}

// New returns the room.
func New(o Options) portal.Room {
	r := room{o}
	return portal.Room{
		Routes: []portal.Route{
			{Pattern: "GET /s/{contract}/address", Show: r.ask},
			{Pattern: "POST /s/{contract}/address", Show: r.change},
		},
		Said: map[string]string{"address": "done.address", "addresses": "done.addresses", "addresses-partly": "done.addressesPartly"},
	}
}

type room struct{ Options }

// Fields of the form that are not the address.
const (
	scope  = "scope"
	onlyIt = "this"
	allOf  = "all"
	prices = "prices" // of delivery that were agreed to, by contract
)

// input is a field of the address.
type input struct {
	name, complete string
	max            int
	required       bool
	of             func(*contract.Address) *string
}

// inputs are the fields of an address, as the interface names them, in the order in which they are
// asked for. The country comes first: what comes after it is written as it is usual there.
var inputs = []input{
	{"countryCode", "country", 2, true, func(a *contract.Address) *string { return &a.CountryCode }},
	{"firstName", "given-name", 255, false, func(a *contract.Address) *string { return &a.FirstName }},
	{"lastName", "family-name", 255, false, func(a *contract.Address) *string { return &a.LastName }},
	{"company", "organization", 255, false, func(a *contract.Address) *string { return &a.Company }},
	{"address1", "address-line1", 255, true, func(a *contract.Address) *string { return &a.Address1 }},
	{"address2", "address-line2", 255, false, func(a *contract.Address) *string { return &a.Address2 }},
	{"zip", "postal-code", 50, false, func(a *contract.Address) *string { return &a.Zip }},
	{"city", "address-level2", 255, true, func(a *contract.Address) *string { return &a.City }},
	{"provinceCode", "address-level1", 10, false, func(a *contract.Address) *string { return &a.ProvinceCode }},
	{"phone", "tel", 50, false, func(a *contract.Address) *string { return &a.Phone }},
}

func (m room) ask(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return m.show(w, r, v, nil)
}

// show asks for the address, as it is now or as it was sent.
func (m room) show(w http.ResponseWriter, r *http.Request, v portal.Visit, refused error) error {
	id, err := portal.ContractOf(r)
	if err != nil {
		return err
	}
	is, detail, err := m.Changes.Detail(r.Context(), v.Caller(r), id)
	switch {
	case err != nil:
		return err
	case is.Can[do.EditAddress] != nil:
		return is.Can[do.EditAddress]
	case !is.Can.Allows(do.EditAddress):
		return v.Go(w, words.Path(id), "")
	}
	c := is.State.Contract
	q := words.Question(v, c, words.Path(id)+"/address")
	q.Title, q.Lead = v.T("address.title", "product", words.Name(v, c)), v.T("address.text")
	if c.DeliveryPrice.Minor > 0 {
		q.Says = append(q.Says, v.T("address.price", "amount", words.Amount(v, c.DeliveryPrice)))
	}
	address := detail.Method.Address
	if address.CountryCode == "" {
		address.CountryCode = c.DeliveryCountry
	}
	if r.Method == http.MethodPost {
		address = addressOf(r)
	}
	for _, in := range inputs {
		f := portal.Field{Name: in.name, Label: v.T("address." + in.name), Value: *in.of(&address), Max: in.max, Required: in.required, Complete: in.complete}
		if in.name == "countryCode" {
			f.Type, f.Choices = "select", countryChoices(v, f.Value)
		}
		q.Fields = append(q.Fields, f)
	}
	others, err := m.others(r, v, id)
	if err != nil {
		return err
	}
	if f, ok := errors.AsType[*fault.Error](refused); ok && f.ErrorKey == "deliveryPriceChanged" {
		concerned := []contract.ID{id}
		if r.PostForm.Get(scope) == allOf {
			concerned = append(concerned, others...)
		}
		if err := m.addPrices(r, v, &q, concerned); err != nil {
			return err
		}
	}
	if len(others) > 0 {
		all := r.PostForm.Get(scope) == allOf
		q.Fields = append(q.Fields, portal.Field{Name: scope, Type: "radio", Label: v.T("address.scope"), Required: true, Choices: []portal.Choice{
			{Value: onlyIt, Name: v.T("address.scope.this"), Selected: !all}, {Value: allOf, Name: v.T("address.scope.all", "n", len(others)+1), Selected: all},
		}})
	}
	q.Button, q.Keep = v.T("address.button"), v.T("address.keep")
	return v.Ask(w, r, q, refused)
}

// addPrices adds to a question what delivery costs at the new address, where that is another price,
// and asks to agree. Contracts whose orders cannot be shipped there are left out.
func (m room) addPrices(r *http.Request, v portal.Visit, q *portal.Question, concerned []contract.ID) error {
	var agreed []string
	for _, id := range concerned {
		is, err := m.Changes.DraftDelivery(r.Context(), v.Caller(r), id, do.ShipTo(addressOf(r)))
		if fault.Is(err, fault.FailedPrecondition) || fault.Is(err, fault.Invalid) {
			continue
		}
		if err != nil {
			return err
		}
		if is.To.Price == is.From.Price {
			continue
		}
		q.Says = append(q.Says, v.T("address.newPrice", "product", words.Name(v, is.State.Contract), "method", is.To.Method.Title,
			"amount", words.Amount(v, is.To.Price), "was", words.Amount(v, is.From.Price), "total", words.Amount(v, is.Next)))
		agreed = append(agreed, fmt.Sprintf("%d:%d", id, is.To.Price.Minor))
	}
	if len(agreed) > 0 {
		q.Fields = append(q.Fields, portal.Field{Name: prices, Type: "checkbox", Label: v.T("address.agree"), Value: strings.Join(agreed, " "), Required: true})
	}
	return nil
}

// agreedTo returns what delivery of a contract's orders may cost by what its subscriber has agreed to:
// what it costs now, or the price that the form showed.
func agreedTo(r *http.Request, c contract.Contract) money.Amount {
	for _, one := range strings.Fields(r.PostForm.Get(prices)) {
		id, price, _ := strings.Cut(one, ":")
		if n, err := strconv.ParseInt(price, 10, 64); err == nil && id == strconv.FormatInt(int64(c.ID), 10) {
			return money.Amount{Minor: n, Currency: c.Currency}
		}
	}
	return c.DeliveryPrice
}

// countryChoices are all countries, by name.
func countryChoices(v portal.Visit, is string) []portal.Choice {
	list := []portal.Choice{{Name: v.T("address.country.choose"), Selected: is == ""}}
	for _, code := range countries.Countries() {
		if name := v.Words.Country(code); name != code || code == is { // one without a name is no country any more
			list = append(list, portal.Choice{Value: code, Name: name, Selected: code == is})
		}
	}
	slices.SortFunc(list[1:], func(a, b portal.Choice) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return list
}

// addressOf reads the address that a form has.
func addressOf(r *http.Request) (a contract.Address) {
	for _, in := range inputs {
		*in.of(&a) = strings.TrimSpace(r.PostForm.Get(in.name))
	}
	a.ProvinceCode = strings.ToUpper(a.ProvinceCode)
	return a
}

// check refuses an address without what every address has.
func check(a contract.Address) error {
	for _, in := range inputs {
		value := *in.of(&a)
		if in.required && value == "" || in.name == "countryCode" && !countries.IsCountry(value) {
			return fault.New(fault.Invalid, "%s is missing", in.name).Code("fieldMissing").Field(in.name)
		}
		if len([]rune(value)) > in.max {
			return fault.New(fault.Invalid, "%s has more than %d characters", in.name, in.max).Code("fieldTooLong").Field(in.name)
		}
	}
	return nil
}

// others returns the subscriber's other contracts whose orders are delivered and whose address can be
// changed now.
func (m room) others(r *http.Request, v portal.Visit, id contract.ID) ([]contract.ID, error) {
	home, err := m.Sheets.Home(r.Context(), v.Caller(r))
	var list []contract.ID
	for _, s := range home.Sheets {
		if s.Contract.ID != id && s.Contract.DeliveryCountry != "" && s.Can.Allows(do.EditAddress) {
			list = append(list, s.Contract.ID)
		}
	}
	return list, err
}

func (m room) change(w http.ResponseWriter, r *http.Request, v portal.Visit) error {
	return v.Change(w, r, func(ctx context.Context, ref do.ContractRef) (string, error) {
		to := addressOf(r)
		if err := check(to); err != nil {
			return "", err
		}
		return m.set(ctx, r, v, ref, to)
	}, func(err error) error { return m.show(w, r, v, err) })
}

// set changes the address of a contract and, when it is asked for, that of the others. Those that do
// not take it keep theirs, which is said.
func (m room) set(ctx context.Context, r *http.Request, v portal.Visit, ref do.ContractRef, to contract.Address) (done string, err error) {
	var others []contract.ID
	if r.PostForm.Get(scope) == allOf {
		if others, err = m.agreed(ctx, r, v, ref.ID, to); err != nil {
			return "", err
		}
	}
	if err := m.ship(ctx, r, v, ref, to); err != nil || others == nil {
		return "address", err
	}
	done = "addresses"
	for _, other := range others {
		if err := m.ship(ctx, r, v, do.ContractRef{ID: other}, to); err != nil {
			done = "addresses-partly"
		}
	}
	return done, nil
}

// agreed returns the subscriber's other contracts, or an error if what delivery of one of them costs at
// an address was not agreed to.
func (m room) agreed(ctx context.Context, r *http.Request, v portal.Visit, id contract.ID, to contract.Address) ([]contract.ID, error) {
	others, err := m.others(r, v, id)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		is, err := m.Changes.DraftDelivery(ctx, v.Caller(r), other, do.ShipTo(to))
		if err == nil && is.To.Price != agreedTo(r, is.State.Contract) {
			return nil, fault.New(fault.FailedPrecondition, "delivery of contract %d costs %s", other, is.To.Price).Code("deliveryPriceChanged").Field(prices)
		}
	}
	return append([]contract.ID{}, others...), nil
}

// ship changes the address of one contract at the price that its subscriber has agreed to.
func (m room) ship(ctx context.Context, r *http.Request, v portal.Visit, ref do.ContractRef, to contract.Address) error {
	is, _, err := m.Changes.Detail(ctx, v.Caller(r), ref.ID)
	if err != nil {
		return err
	}
	agreed := agreedTo(r, is.State.Contract)
	_, err = m.Changes.SetDelivery(ctx, v.Caller(r), ref, do.ShipTo(to), &agreed)
	return err
}
