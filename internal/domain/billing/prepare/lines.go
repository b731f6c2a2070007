package prepare

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/order"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/platform"
)

// oneOffKey is the attribute by which a line of the platform's cycle is
// recognised as a one-time product of ours. Its underscore hides it from
// customers.
const oneOffKey = "_one_off"

// orderLines returns the lines of an order at the platform.
func orderLines(lines []platform.Line, details []platform.LineDetail) []billing.OrderLine {
	list := make([]billing.OrderLine, len(lines))
	for i, l := range lines {
		list[i].LineItem.LineItem = contract.NewLine(l)
		if i >= len(details) {
			continue
		}
		list[i].Pricing = details[i].Pricing
		for _, a := range details[i].Attributes {
			if a.Key == oneOffKey {
				n, err := strconv.ParseInt(a.Value, 10, 64)
				if err == nil {
					list[i].OneOff = billing.OneOffID(n)
				}
			}
		}
	}
	return list
}

// plain returns the lines that are no one-time products.
func plain(lines []billing.OrderLine) []swap.LineItem {
	var list []swap.LineItem
	for _, l := range lines {
		if l.OneOff == 0 {
			list = append(list, l.LineItem)
		}
	}
	return list
}

func linesOf(lines []billing.OrderLine) []contract.LineItem {
	list := make([]contract.LineItem, len(lines))
	for i, l := range lines {
		list[i] = l.LineItem.LineItem
	}
	return list
}

// wantedLines returns what an order should hold: its lines as rules make them,
// and the one-time products, each once.
func wantedLines(is []billing.OrderLine, oneOffs []billing.OneOff, swapped []swap.LineItem) []billing.OrderLine {
	wanted := billing.OrderLines(swapped)
	for _, o := range oneOffs {
		l := billing.OrderLine{LineItem: swap.LineItem{LineItem: o.Line()}, OneOff: o.ID}
		for _, there := range is {
			if there.OneOff == o.ID && there.VariantID == o.Variant.ID {
				l.ID = there.ID
				break // a second line for the same product is not kept
			}
		}
		wanted = append(wanted, l)
	}
	return wanted
}

// OneOffEdits returns the edits after which an order at the platform holds the one-time
// products, each once, and no others of ours.
func OneOffEdits(order platform.CycleOrder, oneOffs []billing.OneOff) []platform.LineEdit {
	is := orderLines(order.Lines, order.LineDetails)
	wanted := wantedLines(is, oneOffs, plain(is))
	if billing.Fingerprint(is, "") == billing.Fingerprint(wanted, "") {
		return nil
	}
	return edits(is, wanted)
}

// edits returns how one list of lines becomes another. What is added comes before
// what is removed, so that there is always a line.
func edits(is, wanted []billing.OrderLine) []platform.LineEdit {
	before := make(map[string]billing.OrderLine, len(is))
	for _, l := range is {
		before[l.ID] = l
	}
	kept := make(map[string]bool, len(wanted))
	var list []platform.LineEdit
	for _, w := range wanted {
		old, known := before[w.ID]
		if !known || w.ID == "" || kept[w.ID] {
			list = append(list, addition(w))
			continue
		}
		kept[w.ID] = true
		e := platform.LineEdit{Line: w.ID}
		if old.VariantID != w.VariantID {
			e.Variant, e.Pricing = &w.VariantID, w.Pricing
		}
		if old.Quantity != w.Quantity {
			e.Quantity = &w.Quantity
		}
		if old.Price != w.Price || e.Variant != nil {
			e.Price = &w.Price
		}
		if e.Variant == nil && w.Pricing != nil && !reflect.DeepEqual(old.Pricing, w.Pricing) {
			e.Pricing = w.Pricing
		}
		if e.Variant != nil || e.Quantity != nil || e.Price != nil {
			list = append(list, e)
		}
	}
	for _, l := range is {
		if !kept[l.ID] {
			list = append(list, platform.LineEdit{Line: l.ID, Remove: true})
		}
	}
	return list
}

func addition(l billing.OrderLine) platform.LineEdit {
	e := platform.LineEdit{Variant: &l.VariantID, Quantity: &l.Quantity, Price: &l.Price, Pricing: l.Pricing}
	if l.SellingPlanID != 0 {
		e.SellingPlanID = &l.SellingPlanID
	}
	if l.SellingPlanName != "" {
		e.SellingPlanName = &l.SellingPlanName
	}
	if l.OneOff != 0 {
		e.Attributes = &[]platform.Attribute{{Key: oneOffKey, Value: strconv.FormatInt(int64(l.OneOff), 10)}}
	}
	return e
}

// aim is a change that a step of the preparation wants.
type aim struct {
	read       *current // the order; nil if the contract is changed
	is, wanted []billing.OrderLine
	note       *string // nil: stays
	was        string  // the note as it is
	rules      swap.Result
	prices     []billing.Price
	box        *billing.BoxChange // nil: its discount stays
	discounts  []platform.DiscountEdit
	boxIs      string // its state in fingerprints, as it is and as it should be
	boxWanted  string
	off        int64 // by which the box costs less than its products when the step is done, in minor units
}

// setBox computes how the discount of the order's box changes. Discounts are those of what is changed.
func (m *aim) setBox(p prepared, discounts []platform.Discount) {
	c := p.Of
	c.Discounts = discounts
	if m.read != nil && m.read.source != nil {
		c.Discounts = m.read.source.Discounts
	}
	boxed, price := p.rules.Boxed(c, linesOf(m.wanted), 0)
	m.off, m.boxIs, m.boxWanted = order.BoxDiscount(boxed.Discounts), order.BoxState(discounts), order.BoxState(boxed.Discounts)
	if m.discounts = order.BoxEdits(discounts, boxed); len(m.discounts) == 0 {
		return
	}
	m.box = billing.NewBoxChange(discounts, boxed, price)
}

func (m aim) fingerprints() (base, wanted string) {
	if m.note == nil {
		base, wanted = billing.Fingerprint(m.is, ""), billing.Fingerprint(m.wanted, "")
	} else {
		base, wanted = billing.Fingerprint(m.is, m.was), billing.Fingerprint(m.wanted, *m.note)
	}
	if m.read != nil && m.read.source != nil { // lines do not tell whether it is like the contract
		wanted += fmt.Sprint("@", m.read.source.Revision)
	}
	return base + m.boxIs, wanted + m.boxWanted
}

// edit returns the change for the platform.
func (m aim) edit() platform.Edit {
	e := platform.Edit{Lines: edits(m.is, m.wanted)}
	if m.read != nil {
		e.Revision, e.Was = m.read.Revision, m.read.Lines
		if m.read.source != nil {
			likeSource(&e, m.read.CycleOrder, *m.read.source)
		}
	}
	e.Discounts = append(e.Discounts, m.discounts...)
	if m.note != nil && *m.note != m.was {
		e.Note = m.note
	}
	return e
}

// doing is what a step does now.
type doing int

const (
	settleStep doing = iota // what is wanted is there
	commitPlan              // nothing was promised yet, or things are not as they were
	makeChange
)

// weigh compares what is wanted with what is there and with the plan that was
// committed.
func (m aim) weigh(planned bool, p *billing.Plan) (doing, *billing.Plan) {
	base, wanted := m.fingerprints()
	if planned && p != nil && p.Wanted == base {
		return settleStep, p // made before, and the answer was lost
	}
	fresh := &billing.Plan{Base: base, Wanted: wanted, Changes: changesOf(m.rules.Applied), Shift: m.rules.ShiftDays, Prices: m.prices, Box: m.box}
	switch {
	case base == wanted && len(fresh.Changes) == 0:
		return settleStep, fresh
	case planned && p != nil && p.Base == base && p.Wanted == wanted:
		return makeChange, p
	}
	return commitPlan, fresh
}
