package contract

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

var variantField = dashboard.Field{Name: "variant", Label: "Variant", Required: true, Max: 100, Hint: "Number or graph id of the variant, as it is in the store’s admin."}

func quantityField(n int) dashboard.Field {
	return dashboard.Field{Name: "quantity", Label: "Quantity", Type: "number", Required: true, Min: "1", Limit: "999", Value: strconv.Itoa(n)}
}

// termActions are about what a contract has.
var termActions = []action{
	{
		name: "line", of: aLine, title: "Edit item", button: "Save the item", keep: "Keep it as it is", done: "The item was changed.", do: doLine, then: thenLine,
		says: func(t target) []string {
			return []string{t.line.Title + " is now " + fmt.Sprintf("%d × %s", t.line.Quantity, dashboard.Money(t.line.Price)) + ". Orders that are charged after this have what you save, apart from a higher price that is announced."}
		},
		fields: func(t target) []dashboard.Field {
			return []dashboard.Field{quantityField(t.line.Quantity), {Name: "price", Label: "Price of one", Required: true, Max: 12, Value: t.line.Price.String(), Hint: "In " + string(t.c.Currency) + "."}, dashboard.AnnouncedPrice}
		},
	},
	{
		name: "swap", of: aLine, title: "Swap item", button: "Swap the item", keep: "Keep the item", done: "The item was swapped.", do: doSwap,
		says: func(t target) []string {
			return []string{t.line.Title + " is replaced by another variant in all orders from now on, priced by the plan of the line."}
		},
		fields: func(target) []dashboard.Field { return []dashboard.Field{variantField} },
	},
	{
		name: "remove-line", of: aLine, title: "Remove item", button: "Remove the item", keep: "Keep the item", done: "The item was removed.", grave: true,
		says: func(t target) []string {
			says := []string{t.line.Title + " is taken out of all orders from now on: " + dashboard.Money(t.line.Price.Times(int64(t.line.Quantity))) + " less " + t.c.Billing.String() + "."}
			if t.next != nil {
				without := t.c
				without.Lines = slices.DeleteFunc(slices.Clone(t.c.Lines), func(l contract.LineItem) bool { return l.ID == t.line.ID })
				says = append(says, "The order of "+t.v.Day(t.next.BillingDate)+" costs "+dashboard.Money(t.next.With(without).Cost())+" before taxes then.")
			}
			return says
		},
		do: func(ctx context.Context, c change) error {
			_, err := c.m.Terms.RemoveLine(ctx, c.v.Shop.ID, c.cmd, c.line.ID, false)
			return err
		},
	},
	{
		name: "apply-code", title: "Apply discount code", button: "Apply the code", keep: "Apply nothing", done: "The code was applied.",
		says: func(target) []string {
			return []string{"Upcoming orders are reduced as the code says. The platform decides whether it is valid for this contract."}
		},
		fields: func(target) []dashboard.Field {
			return []dashboard.Field{{Name: "code", Label: "Discount code", Required: true, Max: 255}}
		},
		do: func(ctx context.Context, c change) error {
			_, err := c.m.Terms.ApplyCode(ctx, c.v.Shop.ID, c.cmd, strings.TrimSpace(c.form.Get("code")))
			return err
		},
	},
	{
		name: "add-discount", title: "Add discount", button: "Add the discount", keep: "Add nothing", done: "The discount was added.", do: doAddDiscount,
		says: func(t target) []string {
			return []string{"Upcoming orders, now " + dashboard.Money(t.c.Amount()) + " before discounts and delivery, are reduced by a percentage or by an amount."}
		},
		fields: func(t target) []dashboard.Field {
			return []dashboard.Field{
				{Name: "percent", Label: "Percent off", Type: "number", Min: "1", Limit: "100", Hint: "Or:"}, {Name: "amount", Label: "Amount off each order", Max: 12, Hint: "In " + string(t.c.Currency) + "."},
				{Name: "title", Label: "Title", Max: 255, Hint: "What the customer sees."}, {Name: "orders", Label: "Number of orders", Type: "number", Min: "1", Limit: "9999", Hint: "Leave empty for all."},
			}
		},
	},
	{
		name: "remove-discount", of: aDiscount, title: "Remove discount", button: "Remove the discount", keep: "Keep the discount", done: "The discount was removed.",
		says: func(t target) []string {
			return []string{t.discount.Title + " no longer reduces orders that are charged after this."}
		},
		do: func(ctx context.Context, c change) error {
			_, err := c.m.Terms.RemoveDiscount(ctx, c.v.Shop.ID, c.cmd, c.discount.ID)
			return err
		},
	},
	{
		name: "note", title: "Edit note", button: "Save the note", keep: "Keep it as it is", done: "The note was saved.",
		says: func(target) []string {
			return []string{"Every order of the contract carries the note. An empty one removes it."}
		},
		fields: func(t target) []dashboard.Field {
			return []dashboard.Field{{Name: "note", Label: "Note", Type: "textarea", Value: t.c.Note}}
		},
		do: func(ctx context.Context, c change) error {
			_, err := c.m.Terms.SetNote(ctx, c.v.Shop.ID, c.cmd, c.form.Get("note"))
			return err
		},
	},
	{
		name: "attributes", title: "Edit attributes", button: "Save the attributes", keep: "Keep them as they are", done: "The attributes were saved.", do: doAttributes,
		says: func(target) []string {
			return []string{"Every order of the contract carries the attributes. What you leave out is removed."}
		},
		fields: func(t target) []dashboard.Field {
			lines := make([]string, len(t.c.Attributes))
			for i, a := range t.c.Attributes {
				lines[i] = a.Key + " = " + strings.ReplaceAll(a.Value, "\n", " ")
			}
			return []dashboard.Field{{Name: "attributes", Label: "Attributes", Type: "textarea", Value: strings.Join(lines, "\n"), Hint: "One a line: name = value"}}
		},
	},
	{
		name: "cycles", title: "Set number of orders", button: "Save the limits", keep: "Keep the limits", done: "The number of orders was set.", do: doCycles,
		says: func(t target) []string {
			return []string{fmt.Sprintf("The customer has had %s so far.", dashboard.Count(t.c.Completed(), "order", "orders"))}
		},
		fields: func(t target) []dashboard.Field {
			return []dashboard.Field{
				{Name: "minCycles", Label: "Minimum", Type: "number", Min: "0", Limit: "9999", Value: strconv.Itoa(t.c.MinCycles), Hint: "Orders that the customer commits to. 0 is none."},
				{Name: "maxCycles", Label: "Maximum", Type: "number", Min: "0", Limit: "9999", Value: strconv.Itoa(t.c.MaxCycles), Hint: "Orders after which the contract ends. 0 is no end."},
			}
		},
	},
}

// whole reads a whole number; nil: the field is empty.
func (c change) whole(field string) (*int, error) {
	text := strings.TrimSpace(c.form.Get(field))
	if text == "" {
		if field == "quantity" {
			return nil, fault.New(fault.Invalid, "give a quantity").Field(field)
		}
		return nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%.20q is not a whole number", text).Field(field)
	}
	return &n, nil
}

// price reads an amount in the contract's currency; nil: the field is empty.
func (c change) price(field string) (*money.Amount, error) {
	text := strings.TrimSpace(c.form.Get(field))
	if text == "" {
		return nil, nil
	}
	amount, err := money.ParseExact(text, c.c.Currency)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%.20q is not an amount such as 12.50", text).Field(field)
	}
	return &amount, nil
}

func (c change) variant() (int64, error) {
	text := strings.TrimSpace(c.form.Get("variant"))
	if text == "" {
		return 0, fault.New(fault.Invalid, "give a variant").Field("variant")
	}
	return web.ParseID("ProductVariant", "variant", text)
}

// doLine changes what was changed of a line, and nothing else.
func doLine(ctx context.Context, c change) error {
	quantity, err := c.whole("quantity")
	if err != nil {
		return err
	}
	price, err := c.price("price")
	if err != nil {
		return err
	}
	l := contractedit.LineChange{Line: c.line.ID, Announced: c.form.Get("announced") == "on"}
	if *quantity != c.line.Quantity {
		l.Quantity = quantity
	}
	if price != nil && *price != c.line.Price {
		l.Price = price
	}
	if l.Quantity == nil && l.Price == nil {
		return fault.New(fault.Invalid, "nothing was changed").Field("quantity")
	}
	_, err = c.m.Terms.ChangeLine(ctx, c.v.Shop.ID, c.cmd, l)
	return err
}

// thenLine is the next order with a line's quantity and price. A higher price that is announced comes with a
// later order.
func thenLine(_ context.Context, c change) (before, after billing.Record, counted bool, err error) {
	quantity, err := c.whole("quantity")
	if err != nil {
		return before, after, false, err
	}
	price, err := c.price("price")
	if err != nil {
		return before, after, false, err
	}
	to := c.c
	to.Lines = slices.Clone(to.Lines)
	line := &to.Lines[to.LineByID(c.line.ID)]
	line.Quantity = *quantity
	if announced := c.form.Get("announced") == "on" && price != nil && price.Minor > line.Price.Minor; price != nil && !announced {
		line.Price = *price
	}
	return *c.next, c.next.With(to), true, nil
}

func doSwap(ctx context.Context, c change) error {
	variant, err := c.variant()
	if err != nil {
		return err
	}
	_, err = c.m.Terms.ChangeLine(ctx, c.v.Shop.ID, c.cmd, contractedit.LineChange{Line: c.line.ID, Variant: &variant, Reprice: true})
	return err
}

func doAddDiscount(ctx context.Context, c change) error {
	want := contractedit.Discount{Title: strings.TrimSpace(c.form.Get("title"))}
	percent, err := c.whole("percent")
	if err != nil {
		return err
	}
	orders, err := c.whole("orders")
	if err != nil {
		return err
	}
	if want.Amount, err = c.price("amount"); err != nil {
		return err
	}
	if percent != nil {
		want.Percent = *percent
	}
	if orders != nil {
		want.CycleLimit = *orders
	}
	_, err = c.m.Terms.AddDiscount(ctx, c.v.Shop.ID, c.cmd, want)
	return err
}

func doAttributes(ctx context.Context, c change) error {
	var list []contract.Attribute
	for line := range strings.Lines(c.form.Get("attributes")) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			return fault.New(fault.Invalid, "%.40q has no =: write name = value", line).Field("attributes")
		}
		list = append(list, contract.Attribute{Key: strings.TrimSpace(key), Value: strings.TrimSpace(value)})
	}
	_, err := c.m.Terms.SetAttributes(ctx, c.v.Shop.ID, c.cmd, list, true)
	return err
}

func doCycles(ctx context.Context, c change) error {
	var want terms.Cycles
	var err error
	if want.Min, err = c.whole("minCycles"); err != nil {
		return err
	}
	if want.Max, err = c.whole("maxCycles"); err != nil {
		return err
	}
	_, err = c.m.Terms.SetCycles(ctx, c.v.Shop.ID, c.cmd, want)
	return err
}
