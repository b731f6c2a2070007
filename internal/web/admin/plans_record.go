package admin

import (
	"encoding/json"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/web"
)

// subscriptionGroup is the record of a group.
type subscriptionGroup struct {
	ID                  int64        `json:"id" example:"17" doc:"The service's number of the group."`
	SellingPlanGroupID  string       `json:"sellingPlanGroupId" example:"gid://shopify/SellingPlanGroup/8001" doc:"Graph id of the group at the platform."`
	GroupName           string       `json:"groupName" maxLength:"255" example:"Subscribe and save" doc:"Name of the group, as buyers read it."`
	ProductCount        int64        `json:"productCount" doc:"Products that are sold on the group's plans." example:"3"`
	ProductVariantCount int64        `json:"productVariantCount" doc:"Variants that are sold on them one by one." example:"0"`
	ProductIDs          string       `json:"productIds" example:"[{\"id\":3001,\"title\":\"House Blend Coffee\"}]" doc:"JSON text of a list of id and title."`
	VariantIDs          string       `json:"variantIds" example:"[]" doc:"JSON text of a list of id and title."`
	ProductID           *string      `json:"productId" doc:"A product that the storefront shows with the group. Kept for the merchant's storefront; the service does not read it." example:"3001"`
	AccessoryProductIDs *string      `json:"accessoryProductIds" doc:"Products that the storefront offers beside the group. Kept for the merchant's storefront; the service does not read it." example:"3002,3003"`
	Translations        *string      `json:"translations" doc:"Texts of the group in other languages. Kept for the merchant's storefront; the service does not read it." example:"{\"fr\":\"Abonnement\"}"`
	RulesJSON           *string      `json:"rulesJson" doc:"Rules in JSON. Not supported: anything but an empty list, object or text is 400 notSupported, unless the group has it already. Use the discounts and the fields about members." example:"[]"`
	FormFieldsJSON      *string      `json:"formFieldsJson" doc:"Fields of a form that the storefront shows. Kept for the merchant's storefront; the service does not read it." example:"[]"`
	CustomerTag         *string      `json:"customerTag" example:"subscriber" doc:"Tags that customers have while a contract of theirs on a plan of the group is ACTIVE, separated by commas."`
	OrderTag            *string      `json:"orderTag" doc:"Tags for first orders." example:"first-subscription"`
	MemberOrderTag      *string      `json:"memberOrderTag" doc:"Tags for renewals." example:"renewal"`
	SubscriptionPlans   []planOption `json:"subscriptionPlans" nullable:"false" doc:"In the order in which they are shown."`
	UpdateProducts      *groupItems  `json:"updateProducts" doc:"Always null in answers."`
	DeleteProducts      *groupItems  `json:"deleteProducts" doc:"Always null in answers."`
}

func newSubscriptionGroup(g plan.Group) subscriptionGroup {
	r := subscriptionGroup{
		ID: int64(g.ID), SellingPlanGroupID: gid.Of("SellingPlanGroup", g.PlatformID), GroupName: g.Name,
		ProductCount: int64(len(g.Products)), ProductVariantCount: int64(len(g.Variants)),
		ProductIDs: titledText(g.Products), VariantIDs: titledText(g.Variants),
		ProductID: web.Some(g.ProductID), AccessoryProductIDs: web.Some(g.AccessoryProductIDs), Translations: web.Some(g.Translations),
		RulesJSON: web.Some(g.RulesJSON), FormFieldsJSON: web.Some(g.FormFieldsJSON),
		CustomerTag: web.Some(g.CustomerTag), OrderTag: web.Some(g.OrderTag), MemberOrderTag: web.Some(g.MemberOrderTag),
		SubscriptionPlans: make([]planOption, len(g.Options)),
	}
	for i, o := range g.Options {
		r.SubscriptionPlans[i] = newPlanOption(o, g.ID, g.Name)
	}
	return r
}

// titledItem is an element of productIds and variantIds.
type titledItem struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
}

func titledText(list []plan.Titled) string {
	items := make([]titledItem, len(list))
	for i, t := range list {
		items[i] = titledItem(t)
	}
	text, err := json.Marshal(items)
	if err != nil {
		panic(err) // a number and a text
	}
	return string(text)
}

func newGroups(groups []plan.Group) []subscriptionGroup {
	list := make([]subscriptionGroup, len(groups))
	for i, g := range groups {
		list[i] = newSubscriptionGroup(g)
	}
	return list
}
