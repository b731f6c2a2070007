package admin

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing/prepare"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// Swaps changes the swap rules of a store. Failures are faults.
type Swaps interface {
	Create(ctx context.Context, of shop.Shop, r swap.Rule, by activity.Actor) (swap.Rule, error)
	Update(ctx context.Context, of shop.Shop, r swap.Rule, by activity.Actor) (swap.Rule, error)
	Delete(ctx context.Context, of shop.ID, line shop.Line, id swap.ID, by activity.Actor) error
}

// Preview says what rules will make of a contract's orders.
type Preview interface {
	Preview(ctx context.Context, of shop.Shop, line shop.Line, c contract.ID) ([]prepare.Preview, error)
}

// Page sizes of the list of swap rules.
const (
	defaultSwaps = 20
	maxSwaps     = 2000
)

var swapList = web.List{Default: defaultSwaps, Max: maxSwaps, Fields: swap.SortFields}

const swapsPath = base + "/product-swaps"

func (o Options) swaps(api *web.API) {
	read := web.Operation{Method: http.MethodGet, Tag: "Product swaps", Scope: access.ProductsWrite}
	change := web.Operation{
		Method: http.MethodPut, Tag: "Product swaps", Scope: access.ProductsWrite, Body: swapRecord{},
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}
	const fields = "A rule without forBillingCycle changes the contract, beginning with the first order that holds all sources: once for a contract or, with checkForEveryRecurringOrder, whenever an order holds them. " +
		"One with forBillingCycle changes the order of that billing cycle alone or, with checkForEveryRecurringOrder, the contract from that cycle on. " +
		"The very first order of a contract is left as it is unless updatedFirstOrder is true. Rules are looked at in the order of ruleSequence and may build on one another. " +
		"sourceVariants and destinationVariants are JSON texts; real arrays are taken too. A variant that the store does not have is 404."

	list := read
	list.ID, list.Path, list.Summary = "listProductSwaps", swapsPath, "Product swap rules"
	list.List = &swapList
	list.Description = "In the order in which they are looked at, unless they are sorted otherwise."
	web.Register(api, list, o.listSwaps)

	create := change
	create.Method, create.ID, create.Path, create.Summary, create.Description = http.MethodPost, "createProductSwap", swapsPath, "Add a product swap rule", fields
	create.Status = http.StatusCreated
	web.Register(api, once(create), o.createSwap)

	update := change
	update.ID, update.Path, update.Summary = "updateProductSwap", swapsPath, "Change a product swap rule"
	update.Description = "The rule is the one whose id is in the body. A field that is absent keeps its value; null clears it where it may be empty. " + fields
	web.Register(api, update, o.updateSwap)

	one := read
	one.ID, one.Path, one.Summary, one.Errors = "getProductSwap", swapsPath+"/{id}", "A product swap rule", []int{http.StatusNotFound}
	one.Description = "One rule by its number."
	web.Register(api, one, o.getSwap)

	byID := update
	byID.ID, byID.Path = "updateProductSwapById", swapsPath+"/{id}"
	byID.Description = "As the operation without an id in the path."
	web.Register(api, byID, o.updateSwapByID)

	remove := read
	remove.Method, remove.ID, remove.Path, remove.Summary, remove.Status = http.MethodDelete, "deleteProductSwap", swapsPath+"/{id}", "Remove a product swap rule", http.StatusNoContent
	remove.Description, remove.Errors = "What the rule did stays.", []int{http.StatusNotFound}
	web.Register(api, remove, o.deleteSwap)

	foresee := web.Operation{
		Method: http.MethodPost, ID: "previewProductSwaps", Path: base + "/product-swaps-by-variant-groups/{contractId}", Tag: "Product swaps",
		Summary: "What the rules will make of a contract", Scope: access.ContractsRead, Errors: []int{http.StatusNotFound},
		Description: "The next 10 orders of the contract as the rules would make them. Nothing is changed.",
	}
	web.Register(api, foresee, o.previewSwaps)
}

// swapRecord is a product swap rule.
type swapRecord struct {
	ID                   int64        `json:"id" minimum:"1" doc:"Number of the rule." example:"1001"`
	Shop                 string       `json:"shop" doc:"The store's domain; must be the key's." example:"demo.myshopify.com"`
	Name                 *string      `json:"name" maxLength:"255" example:"Starter kit, then refills" doc:"Name of the rule, for the merchant; null when it has none."`
	SourceVariants       variantsText `json:"sourceVariants" doc:"JSON text: a list of {id, displayName, imageSrc, quantity}. All of them must be in an order, in at least these quantities." example:"[{\"id\":8101,\"quantity\":1}]"`
	DestinationVariants  variantsText `json:"destinationVariants" doc:"JSON text: a list of the same shape. They take the sources' place, as often as the sources are there." example:"[{\"id\":8102,\"quantity\":1}]"`
	UpdatedFirstOrder    bool         `json:"updatedFirstOrder" doc:"The very first order of a contract is changed too, where the service charges it. Default false."`
	EveryRecurringOrder  bool         `json:"checkForEveryRecurringOrder" doc:"Looked at for every recurring order and not once for a contract. Default false."`
	CarryDiscountForward bool         `json:"carryDiscountForward" doc:"Short for discountCarryForward=EXISTING_PLAN, unless that field says otherwise. Default false."`
	StopSwapEmails       bool         `json:"stopSwapEmails" doc:"The customer gets no e-mail about the swap. Default false."`
	ChangeNextOrderBy    *float64     `json:"changeNextOrderDateBy" minimum:"-365" maximum:"365" doc:"Whole days by which the order after the swap moves, and all later ones with it; null: they stay." example:"7"`
	ForBillingCycle      *int32       `json:"forBillingCycle" minimum:"0" maximum:"1000" doc:"The platform's index of the billing cycle; null or 0: any." example:"4"`
	RuleSequence         *int32       `json:"ruleSequence" minimum:"0" maximum:"1000000" doc:"Lower ones first. Absent or 0 in a new rule: after all others." example:"1"`
	DiscountCarryForward string       `json:"discountCarryForward" enum:"NONE,EXISTING_PLAN,PRODUCT_PLAN,PRODUCT_THEN_EXISTING" doc:"NONE: the catalogue's price. EXISTING_PLAN: as many per cent off as the old product had. PRODUCT_PLAN: what the selling plan asks for the new product. PRODUCT_THEN_EXISTING: that or, where the plan does not sell it, as EXISTING_PLAN. Default NONE."`
}

// variantsText is a list of products that the interface carries as JSON text.
type variantsText string

// UnmarshalJSON takes the text, and a real array too.
func (v *variantsText) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		*v = variantsText(text)
		return nil
	}
	return json.Unmarshal(text, (*string)(v))
}

// variantText is one product in the text.
type variantText struct {
	ID          web.AnyID `json:"id"`
	DisplayName string    `json:"displayName"`
	ImageSrc    string    `json:"imageSrc"`
	Quantity    *float64  `json:"quantity"`
}

// products reads the list. JSON's null is no list, and everything else is one.
func (v variantsText) products(field string) ([]swap.Product, error) {
	if strings.TrimSpace(string(v)) == "" {
		return []swap.Product{}, nil
	}
	var texts []variantText
	if err := json.Unmarshal([]byte(v), &texts); err != nil {
		return nil, fault.Because(fault.Invalid, err, "field '%s' must be the JSON text of a list of {id, displayName, imageSrc, quantity}", field).Code("bodyField").Field(field)
	}
	if texts == nil {
		return nil, nil
	}
	list := make([]swap.Product, len(texts))
	for i, t := range texts {
		id, err := t.ID.Parse("ProductVariant", field)
		if err != nil {
			return nil, err
		}
		list[i] = swap.Product{VariantID: id, Name: t.DisplayName, Image: t.ImageSrc, Quantity: 1}
		if t.Quantity != nil {
			if *t.Quantity != math.Trunc(*t.Quantity) || math.Abs(*t.Quantity) > math.MaxInt32 {
				return nil, fault.New(fault.Invalid, "field '%s': a quantity must be a whole number", field).Code("bodyField").Field(field)
			}
			list[i].Quantity = int(*t.Quantity)
		}
	}
	return list, nil
}

func textOf(list []swap.Product) variantsText {
	text, _ := json.Marshal(list) // numbers and texts can always be written
	return variantsText(text)
}

func newSwap(domain string, r swap.Rule) swapRecord {
	s := swapRecord{
		ID: int64(r.ID), Shop: domain, Name: web.Some(r.Name), SourceVariants: textOf(r.Sources), DestinationVariants: textOf(r.Destinations),
		UpdatedFirstOrder: r.FirstOrder, EveryRecurringOrder: r.EveryOrder, CarryDiscountForward: r.CarryDiscount, StopSwapEmails: r.NoEmail,
		ForBillingCycle: web.Some(int32(r.Cycle)), RuleSequence: new(int32(r.Sequence)), DiscountCarryForward: string(r.Discount),
	}
	if r.ShiftDays != nil {
		s.ChangeNextOrderBy = new(float64(*r.ShiftDays))
	}
	return s
}

// rule converts a record to the rule it describes. Fields that the record does not have
// keep the values of the old rule.
func (s swapRecord) rule(old swap.Rule) (swap.Rule, error) {
	r := old
	r.Name, r.FirstOrder, r.EveryOrder, r.CarryDiscount, r.NoEmail = strings.TrimSpace(text(s.Name)), s.UpdatedFirstOrder, s.EveryRecurringOrder, s.CarryDiscountForward, s.StopSwapEmails
	r.Cycle, r.ShiftDays = 0, nil
	if s.ForBillingCycle != nil {
		r.Cycle = int(*s.ForBillingCycle)
	}
	if s.RuleSequence != nil {
		r.Sequence = int(*s.RuleSequence)
	}
	if days := s.ChangeNextOrderBy; days != nil {
		if *days != math.Trunc(*days) || math.Abs(*days) > math.MaxInt32 {
			return swap.Rule{}, fault.New(fault.Invalid, "field 'changeNextOrderDateBy' must be a whole number of days").Code("bodyField").Field("changeNextOrderDateBy")
		}
		r.ShiftDays = new(int(*days))
	}
	var err error
	if r.Discount, err = web.ParseEnum("discountCarryForward", s.DiscountCarryForward, swap.DiscountModes); err != nil {
		return swap.Rule{}, err
	}
	if r.Sources, err = s.SourceVariants.products("sourceVariants"); err != nil {
		return swap.Rule{}, err
	}
	r.Destinations, err = s.DestinationVariants.products("destinationVariants")
	return r, err
}

type swapOut struct{ Body swapRecord }

func newSwapOut(caller web.Caller, r swap.Rule, err error) (*swapOut, error) {
	if err != nil {
		return nil, err
	}
	return &swapOut{newSwap(caller.Shop.Domain, r)}, nil
}

type swapPage struct {
	web.ListHeaders
	Body []swapRecord
}

func (o Options) listSwaps(ctx context.Context, in *struct{ web.Paging }) (*swapPage, error) {
	caller := web.CallerOf(ctx)
	p, err := in.Request(swapList)
	if err != nil {
		return nil, err
	}
	rules, total, err := o.SwapBook.SwapRulesOf(ctx, caller.Shop.ID, o.Line, p)
	if err != nil {
		return nil, err
	}
	out := &swapPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]swapRecord, len(rules))}
	for i, r := range rules {
		out.Body[i] = newSwap(caller.Shop.Domain, r)
	}
	return out, nil
}

type swapPath struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The rule."`
}

func (o Options) getSwap(ctx context.Context, in *swapPath) (*swapOut, error) {
	caller := web.CallerOf(ctx)
	r, err := o.SwapBook.SwapRuleOf(ctx, caller.Shop.ID, o.Line, swap.ID(in.ID))
	return newSwapOut(caller, r, err)
}

type swapIn struct{ web.JSONBody }

func (o Options) createSwap(ctx context.Context, in *swapIn) (*swapOut, error) {
	caller := web.CallerOf(ctx)
	s := swapRecord{Shop: caller.Shop.Domain, DiscountCarryForward: string(swap.None)}
	if err := in.Into(&s); err != nil {
		return nil, err
	}
	if err := ownShop(s.Shop, caller, "shop"); err != nil {
		return nil, err
	}
	if s.ID != 0 {
		return nil, fault.New(fault.Invalid, "field 'id' is given by the service: leave it out of a new rule").Code("fieldReadOnly").Field("id")
	}
	rule, err := s.rule(swap.Rule{Line: o.Line})
	if err != nil {
		return nil, err
	}
	r, err := o.Swaps.Create(ctx, caller.Shop, rule, caller.Actor)
	return newSwapOut(caller, r, err)
}

func (o Options) updateSwap(ctx context.Context, in *swapIn) (*swapOut, error) {
	var body struct {
		ID   int64
		Shop string
	}
	if err := in.Into(&body); err != nil {
		return nil, err
	}
	if body.ID < 1 {
		return nil, fault.New(fault.Invalid, "field 'id' is required: the number of the rule").Code("bodyField").Field("id")
	}
	if body.Shop == "" {
		return nil, fault.New(fault.Invalid, "field 'shop' is required: the key's store").Code("bodyField").Field("shop")
	}
	return o.changeSwap(ctx, &in.JSONBody, body.ID)
}

type swapByIDIn struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The rule."`
	web.JSONBody
}

func (o Options) updateSwapByID(ctx context.Context, in *swapByIDIn) (*swapOut, error) {
	return o.changeSwap(ctx, &in.JSONBody, in.ID)
}

// changeSwap updates a rule. Fields that the body does not have keep their values.
func (o Options) changeSwap(ctx context.Context, in *web.JSONBody, id int64) (*swapOut, error) {
	caller := web.CallerOf(ctx)
	// A body that is invalid for any rule is refused before the rule is read.
	alone, err := swapBody(caller, in, swap.Rule{ID: swap.ID(id), Discount: swap.None})
	if err == nil {
		err = alone.CheckBounds()
	}
	if err != nil {
		return nil, err
	}
	old, err := o.SwapBook.SwapRuleOf(ctx, caller.Shop.ID, o.Line, swap.ID(id))
	if err != nil {
		return nil, err
	}
	rule, err := swapBody(caller, in, old)
	if err != nil {
		return nil, err
	}
	r, err := o.Swaps.Update(ctx, caller.Shop, rule, caller.Actor)
	return newSwapOut(caller, r, err)
}

func swapBody(caller web.Caller, in *web.JSONBody, old swap.Rule) (swap.Rule, error) {
	s := newSwap(caller.Shop.Domain, old)
	if err := in.Into(&s); err != nil {
		return swap.Rule{}, err
	}
	if err := ownShop(s.Shop, caller, "shop"); err != nil {
		return swap.Rule{}, err
	}
	if s.ID != int64(old.ID) {
		return swap.Rule{}, fault.New(fault.Invalid, "field 'id' is %d and the rule is %d", s.ID, old.ID).Code("fieldReadOnly").Field("id")
	}
	if s.RuleSequence == nil {
		return swap.Rule{}, fault.New(fault.Invalid, "field 'ruleSequence' cannot be empty").Code("bodyField").Field("ruleSequence")
	}
	return s.rule(old)
}

func (o Options) deleteSwap(ctx context.Context, in *swapPath) (*struct{}, error) {
	caller := web.CallerOf(ctx)
	return nil, o.Swaps.Delete(ctx, caller.Shop.ID, o.Line, swap.ID(in.ID), caller.Actor)
}

// previewOrder is an order as the rules would make it.
type previewOrder struct {
	BillingCycle int32         `json:"billingCycle" doc:"The platform's index of the billing cycle." example:"5"`
	OrderDate    *web.Instant  `json:"orderDate" format:"date-time" doc:"When the order is due, in UTC." example:"2026-01-31T08:00:00Z"`
	Variants     []previewLine `json:"variants" doc:"What would be ordered."`
	Rules        []previewRule `json:"appliedRules" doc:"Rules that change the order, in the order in which they do."`
}

type previewLine struct {
	ID       int64   `json:"id" doc:"The variant." example:"4001"`
	Name     string  `json:"displayName" doc:"Title of the product and of the variant." example:"House Blend Coffee - 250 g"`
	Image    string  `json:"imageSrc" doc:"Address of a picture; empty when there is none." example:""`
	Quantity int32   `json:"quantity" doc:"Pieces." example:"2"`
	Price    float64 `json:"price" doc:"Of one, in the contract's currency." example:"12.25"`
}

type previewRule struct {
	ID   int64  `json:"id" doc:"Number of the rule." example:"1001"`
	Name string `json:"name" doc:"Name of the rule; empty when it has none." example:"Starter kit, then refills"`
}

type previewOut struct {
	web.ListHeaders
	Body []previewOrder
}

func (o Options) previewSwaps(ctx context.Context, in *struct {
	Contract string `path:"contractId" doc:"The contract: number or graph id."`
}) (*previewOut, error) {
	caller := web.CallerOf(ctx)
	of, err := web.ParseID("SubscriptionContract", "contractId", in.Contract)
	if err != nil {
		return nil, err
	}
	orders, err := o.Preview.Preview(ctx, caller.Shop, o.Line, contract.ID(of))
	if err != nil {
		return nil, err
	}
	out := &previewOut{ListHeaders: web.Whole(ctx, len(orders)), Body: make([]previewOrder, len(orders))}
	for i, f := range orders {
		order := previewOrder{BillingCycle: int32(f.Cycle), OrderDate: web.At(f.Date), Variants: []previewLine{}, Rules: []previewRule{}}
		for _, l := range f.Lines {
			v := record.NewAttemptVariant(l.LineItem)
			name := v.ProductTitle
			if v.Title != "" && v.Title != name {
				name += " - " + v.Title
			}
			order.Variants = append(order.Variants, previewLine{ID: l.VariantID, Name: name, Image: l.Image, Quantity: int32(l.Quantity), Price: l.Price.Float()})
		}
		for _, r := range f.Applied {
			order.Rules = append(order.Rules, previewRule{int64(r.ID), r.Name})
		}
		out.Body[i] = order
	}
	return out, nil
}
