package simulator

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
)

// firstCode is the number of a store's first discount that the app made.
const firstCode = 80001

// rewards adds the discount codes that apps make.
func (r registry) rewards() {
	r["Mutation"]["discountCodeBasicCreate"] = createCode
	r["Mutation"]["discountCodeDeactivate"] = deactivateCode
	r["QueryRoot"]["codeDiscountNodeByCode"] = func(x *exec, _ any, a args) any {
		c := x.shop.code(a.text("code"))
		if c == nil || c.ID == 0 {
			return object{kind: "DiscountCodeNode"}
		}
		return typed("DiscountCodeNode", c)
	}
	r["DiscountCodeNode"] = fields{"id": get(func(c *code) any { return gid.Of("DiscountCodeNode", c.ID) })}
}

func createCode(x *exec, _ any, a args) any {
	const kind = "DiscountCodeBasicCreatePayload"
	in := a.object("basicCodeDiscount")
	refuse := func(code, message string, field ...string) any {
		return done(kind, &userError{Code: code, Field: append([]string{"basicCodeDiscount"}, field...), Message: message}, part{"codeDiscountNode", nil})
	}
	name, gets := in.text("code"), in.object("customerGets")
	value := gets.object("value")
	if value.has("discountOnQuantity") || !gets.object("items").flag("all") {
		x.fail(codeNotSimulated, "The simulator does not simulate discount codes for some products or quantities.")
		return nil
	}
	c := code{Code: name, UsageLimit: in.int("usageLimit"), CreatedAt: x.s.now(), EndsAt: in.time("endsAt")}
	c.Discount = discount{Title: in.text("title"), Code: name, All: true, Limit: in.int("recurringCycleLimit")}
	switch {
	case name == "":
		return refuse("BLANK", "Code can't be blank", "code")
	case in.text("title") == "":
		return refuse("BLANK", "Title can't be blank", "title")
	case !in.has("startsAt"):
		return refuse("BLANK", "Starts at can't be blank", "startsAt")
	case in.has("endsAt") && !in.time("endsAt").After(in.time("startsAt")):
		return refuse("END_DATE_BEFORE_START_DATE", "Ends at needs to be after starts_at", "endsAt")
	case x.shop.code(name) != nil:
		return refuse("TAKEN", "Code must be unique. Please try a different code.", "code")
	}
	for _, id := range in.object("context").object("customers").texts("add") {
		if _, known := x.shop.customers.get(gid.Number(id)); !known {
			return refuse("INVALID", "Customer could not be found", "context", "customers", "add")
		}
		c.Customers = append(c.Customers, gid.Number(id))
	}
	if value.has("percentage") {
		c.Discount.Percent = int(value.float("percentage")*100 + 0.5)
		if c.Discount.Percent < 1 || c.Discount.Percent > 100 {
			return refuse("VALUE_OUTSIDE_RANGE", "Value must be between 0.0 and 1.0", "customerGets", "value", "percentage")
		}
	} else {
		amount := value.object("discountAmount")
		c.Discount.Fixed, c.Discount.EachItem = amount.amount("amount", x.shop.Currency), amount.flag("appliesOnEachItem")
		if c.Discount.Fixed.Minor < 1 {
			return refuse("GREATER_THAN", "Value must be greater than 0", "customerGets", "value", "discountAmount", "amount")
		}
	}
	c.ID = firstCode
	for _, have := range x.shop.Codes {
		c.ID = max(c.ID, have.ID+1)
	}
	x.shop.setCode(c)
	x.s.save(x.shop)
	return done(kind, nil, part{"codeDiscountNode", typed("DiscountCodeNode", x.shop.code(name))})
}

func deactivateCode(x *exec, _ any, a args) any {
	const kind = "DiscountCodeDeactivatePayload"
	n, ok := x.id(a, "id", "DiscountCodeNode")
	if !ok {
		return nil
	}
	i := slices.IndexFunc(x.shop.Codes, func(c code) bool { return n != 0 && c.ID == n })
	if i < 0 {
		return done(kind, &userError{Code: "INVALID", Field: []string{"id"}, Message: "Code discount does not exist."}, part{"codeDiscountNode", nil})
	}
	c := &x.shop.Codes[i]
	c.Inactive = true
	x.s.save(x.shop)
	return done(kind, nil, part{"codeDiscountNode", typed("DiscountCodeNode", c)})
}

// DiscountCode is a discount code as the platform holds it.
type DiscountCode struct {
	ID        int64 // 0: made by the director
	Code      string
	Customers []int64 // who may use it; empty: everybody
	Percent   int
	Amount    string // decimal; empty: none
	Limit     int    // uses; 0: any number
	EndsAt    time.Time
	Active    bool
}

// DiscountCodes lists a store's discount codes, oldest first. The default store
// is the first.
func (s *Simulator) DiscountCodes(shop string) ([]DiscountCode, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh, err := s.store(shop)
	if err != nil {
		return nil, err
	}
	list := make([]DiscountCode, 0, len(sh.Codes))
	for _, c := range sh.Codes {
		d := DiscountCode{
			ID: c.ID, Code: c.Code, Customers: c.Customers, Percent: c.Discount.Percent, Limit: c.UsageLimit, EndsAt: c.EndsAt, Active: !c.Inactive,
		}
		if c.Discount.Fixed.Minor > 0 {
			d.Amount = c.Discount.Fixed.String()
		}
		list = append(list, d)
	}
	return list, nil
}
