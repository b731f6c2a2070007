package admin

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web"
)

// groupEdit is what callers say of a group.
type groupEdit struct {
	ID                  web.AnyID            `json:"id,omitempty" doc:"In a change: the service's number of the group, or the platform's number or graph id of the selling plan group. Ignored when a group is made."`
	Shop                string               `json:"shop,omitempty" doc:"Must be the key's store." example:"demo.myshopify.com"`
	GroupName           *string              `json:"groupName,omitempty" maxLength:"255" doc:"Required when a group is made." example:"Subscribe and save"`
	ProductIDs          itemList[ofProducts] `json:"productIds,omitzero"`
	VariantIDs          itemList[ofVariants] `json:"variantIds,omitzero"`
	UpdateProducts      *groupItems          `json:"updateProducts,omitempty" doc:"Products and variants to be added to those that the group has."`
	DeleteProducts      *groupItems          `json:"deleteProducts,omitempty" doc:"Products and variants to be removed from those that the group has."`
	ProductID           *string              `json:"productId,omitempty" nullable:"true" maxLength:"65535" doc:"A product that the storefront shows with the group. Kept for the merchant's storefront; the service does not read it. null or an empty text clears it." example:"3001"`
	AccessoryProductIDs *string              `json:"accessoryProductIds,omitempty" nullable:"true" maxLength:"65535" doc:"Products that the storefront offers beside the group. Kept for the merchant's storefront; the service does not read it. null or an empty text clears it." example:"3002,3003"`
	Translations        *string              `json:"translations,omitempty" nullable:"true" maxLength:"65535" doc:"Texts of the group in other languages. Kept for the merchant's storefront; the service does not read it. null or an empty text clears it." example:"{\"fr\":\"Abonnement\"}"`
	RulesJSON           *string              `json:"rulesJson,omitempty" nullable:"true" maxLength:"65535" doc:"Rules in JSON. Not supported: anything but an empty list, object or text is 400 notSupported, unless the group has it already. Use the discounts and the fields about members. null or an empty text clears it." example:"[]"`
	FormFieldsJSON      *string              `json:"formFieldsJson,omitempty" nullable:"true" maxLength:"65535" doc:"Fields of a form that the storefront shows. Kept for the merchant's storefront; the service does not read it. null or an empty text clears it." example:"[]"`
	CustomerTag         *string              `json:"customerTag,omitempty" nullable:"true" maxLength:"1000" doc:"Tags for customers, separated by commas: they have them while a contract of theirs on a plan of the group is ACTIVE. null or an empty text clears them." example:"subscriber"`
	OrderTag            *string              `json:"orderTag,omitempty" nullable:"true" maxLength:"1000" doc:"Tags for first orders, separated by commas. null or an empty text clears them." example:"first-subscription"`
	MemberOrderTag      *string              `json:"memberOrderTag,omitempty" nullable:"true" maxLength:"1000" doc:"Tags for renewals, separated by commas. null or an empty text clears them." example:"renewal"`
	SubscriptionPlans   *[]planOption        `json:"subscriptionPlans,omitempty" minItems:"1" maxItems:"31" doc:"Required when a group is made."`
	plans               []json.RawMessage    // SubscriptionPlans as they were sent
}

// GroupIn is a body that describes a group.
type GroupIn struct {
	web.JSONBody
}

// over lays the body over a group's terms.
func (in *GroupIn) over(terms plan.Terms) (groupEdit, error) {
	e := groupEdit{
		GroupName: &terms.Name, ProductID: &terms.ProductID, AccessoryProductIDs: &terms.AccessoryProductIDs, Translations: &terms.Translations,
		RulesJSON: &terms.RulesJSON, FormFieldsJSON: &terms.FormFieldsJSON, CustomerTag: &terms.CustomerTag, OrderTag: &terms.OrderTag, MemberOrderTag: &terms.MemberOrderTag,
	}
	if err := in.Into(&e); err != nil {
		return groupEdit{}, err
	}
	if err := in.known(); err != nil {
		return groupEdit{}, err
	}
	var sent struct {
		SubscriptionPlans json.RawMessage `json:"subscriptionPlans"`
	}
	if err := in.Into(&sent); err != nil || sent.SubscriptionPlans == nil {
		return e, err
	}
	err := json.Unmarshal(sent.SubscriptionPlans, &e.plans)
	if e.plans == nil {
		e.plans = []json.RawMessage{} // null asks for none, as an empty list does
	}
	return e, err
}

// known refuses a field that a group or a plan does not have. What is not stored must not
// look as if it were.
func (in *GroupIn) known() error {
	var body struct {
		Plans  []json.RawMessage `json:"subscriptionPlans"`
		Update json.RawMessage   `json:"updateProducts"`
		Delete json.RawMessage   `json:"deleteProducts"`
	}
	var all json.RawMessage
	if err := in.Into(&all); err != nil {
		return err
	}
	if err := in.Into(&body); err != nil {
		return err
	}
	if err := onlyFields(all, "", groupEdit{}, subscriptionGroup{}); err != nil {
		return err
	}
	for i, p := range body.Plans {
		if err := onlyFields(p, fmt.Sprintf("subscriptionPlans[%d].", i), planOption{}); err != nil {
			return err
		}
	}
	if err := onlyFields(body.Update, "updateProducts.", groupItems{}); err != nil {
		return err
	}
	return onlyFields(body.Delete, "deleteProducts.", groupItems{})
}

// onlyFields refuses a JSON object that has a field which none of the shapes has. What is
// not an object is left to the operation, which reads it.
func onlyFields(text json.RawMessage, at string, shapes ...any) error {
	var object map[string]json.RawMessage
	_ = json.Unmarshal(text, &object) // what is not an object has no fields
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.ContainsFunc(shapes, func(shape any) bool { return hasField(shape, name) }) {
			return fault.New(fault.Invalid, "field '%s%.80s' is not known: leave it out", at, name).Entity("subscriptionGroup").Code("unknownField").Field(at + name)
		}
	}
	return nil
}

// hasField reports whether a shape has a field of that name, in any letter case, as it is
// read from JSON.
func hasField(shape any, name string) bool {
	of := reflect.TypeOf(shape)
	for i := range of.NumField() {
		if is, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); is != "" && strings.EqualFold(is, name) {
			return true
		}
	}
	return false
}

func (e groupEdit) terms() plan.Terms {
	return plan.Terms{
		Name: text(e.GroupName), ProductID: text(e.ProductID), AccessoryProductIDs: text(e.AccessoryProductIDs), Translations: text(e.Translations),
		RulesJSON: text(e.RulesJSON), FormFieldsJSON: text(e.FormFieldsJSON), CustomerTag: text(e.CustomerTag), OrderTag: text(e.OrderTag), MemberOrderTag: text(e.MemberOrderTag),
	}
}

// alone says what is wrong with a change whatever the group is.
func (e groupEdit) alone() error {
	plans, err := optionsOver(e.plans, plan.Group{})
	if err != nil {
		return err
	}
	if e.plans != nil {
		if err := plan.CheckOptions(len(plans)); err != nil {
			return err
		}
	}
	return plan.Draft{Terms: e.terms(), Options: plans}.ValidateAlone()
}

// countsOf refuses a record in which something differs that the service counts. A count
// may be that of the list that the record has instead of the group's.
func (in *GroupIn) countsOf(e groupEdit, g plan.Group) error {
	is := newSubscriptionGroup(g)
	become := struct {
		ProductCount        *int64  `json:"productCount"`
		ProductVariantCount *int64  `json:"productVariantCount"`
		SellingPlanGroupID  *string `json:"sellingPlanGroupId"`
	}{}
	if err := in.Into(&become); err != nil {
		return err
	}
	for field, differs := range map[string]bool{
		"productCount":        become.ProductCount != nil && *become.ProductCount != is.ProductCount && !e.ProductIDs.counts(*become.ProductCount),
		"productVariantCount": become.ProductVariantCount != nil && *become.ProductVariantCount != is.ProductVariantCount && !e.VariantIDs.counts(*become.ProductVariantCount),
		"sellingPlanGroupId":  become.SellingPlanGroupID != nil && *become.SellingPlanGroupID != is.SellingPlanGroupID,
	} {
		if differs {
			return fault.New(fault.Invalid, "field '%s' belongs to the service and cannot be changed", field).Entity("subscriptionGroup").Code("fieldReadOnly").Field(field)
		}
	}
	return nil
}
