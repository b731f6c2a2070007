package admin

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/web"
)

// bundleSettings is a bundle as it is shown: the fields of both shapes that the
// interface gives for it.
type bundleSettings struct {
	ID   int64  `json:"id" doc:"The service's number of the bundle." example:"1001"`
	Shop string `json:"shop" example:"demo.myshopify.com" doc:"The store's domain; must be the key's."`
	BundleTexts
	BundleLook
	BundlePage
	ShopCustomizationData objectList `json:"shopCustomizationData" maxItems:"100" nullable:"false" doc:"The storefront's own data: at most 100 objects of any fields, 100000 bytes together. Kept for the merchant's storefront; the service does not read it."`

	Enabled                  bool           `json:"enabled" doc:"Whether the rules count."`
	MinProducts              float64        `json:"minProducts" minimum:"0" maximum:"1000" doc:"Whole: pieces that a box holds at least." example:"3"`
	MaxProducts              float64        `json:"maxProducts" minimum:"0" maximum:"1000" doc:"Whole: pieces that a box holds at most; 0 is no limit." example:"12"`
	MinBundleValue           float64        `json:"minBundleValue" minimum:"0" maximum:"1000000" doc:"In the store's currency, before discounts. Contracts in other currencies are not held to it." example:"20"`
	MaxBundleValue           float64        `json:"maxBundleValue" minimum:"0" maximum:"1000000" doc:"In the store's currency; 0 is no limit." example:"200"`
	PricingModel             string         `json:"pricingModel" enum:"DYNAMIC,FIXED" doc:"What an order asks for a box. DYNAMIC: the sum of the products. FIXED: fixedBundlePrice, or the sum of the products where that is less. See the discount Box price of the contract."`
	FixedBundlePrice         float64        `json:"fixedBundlePrice" minimum:"0" maximum:"1000000" doc:"Of a box, for one delivery, in the store's currency. Required with FIXED. Contracts in other currencies cost the sum of their products." example:"49"`
	AllowModifications       bool           `json:"allowModifications" doc:"Whether the products of a running subscription may be changed."`
	LockAfterFirstOrder      bool           `json:"lockAfterFirstOrder" doc:"No changes once the first renewal was ordered."`
	EnableProductRotation    bool           `json:"enableProductRotation" doc:"Whether products are exchanged from time to time. Not supported: anything but the default is 400 notSupported, unless the bundle has it already. Use product swap rules."`
	RequireCategoryDiversity bool           `json:"requireCategoryDiversity" doc:"A box of several pieces holds products of at least two categories."`
	ModificationCutoffDays   int32          `json:"modificationCutoffDays" minimum:"0" maximum:"365" doc:"Days before the next order in which nothing may be changed." example:"2"`
	MaxSwapsPerCycle         int32          `json:"maxSwapsPerCycle" minimum:"0" maximum:"1000" doc:"Products that may be exchanged between two orders; 0 is no limit." example:"2"`
	CategoryLimits           categoryLimits `json:"categoryLimits" nullable:"false" doc:"Pieces of a box by category, which is the product's type; at most 100."`

	DisplaySettings displaySettings `json:"displaySettings" doc:"How the storefront shows the products."`
	Notifications   bundleMails     `json:"notifications" doc:"E-mails about a box. The service does not send them."`
	Substitution    substitution    `json:"substitution" doc:"What takes the place of a product that cannot be had. The service uses product swap rules instead."`
	Recommendations recommendations `json:"recommendations" doc:"What the storefront suggests to buyers."`
	Discounts       bundleDiscounts `json:"discounts" doc:"Discounts for larger boxes, in every order."`

	SellingPlanIDs planNumbers  `json:"sellingPlanIds" maxItems:"500" nullable:"false" doc:"Selling plans whose contracts are boxes of this bundle; numbers, or on input graph ids. A plan belongs to one bundle at most, and is not one of the other host's contracts."`
	CreatedAt      *web.Instant `json:"createdAt" format:"date-time" doc:"When the bundle was made, in UTC." example:"2026-01-31T08:00:00Z"`
	UpdatedAt      *web.Instant `json:"updatedAt" format:"date-time" doc:"When it was changed last, in UTC." example:"2026-01-31T08:00:00Z"`
}

// displaySettings say how the products are shown.
type displaySettings struct {
	LayoutType              bundle.Layout `json:"layoutType" required:"false" enum:"GRID,LIST,CAROUSEL" doc:"How the storefront arranges the products. Kept for the merchant's storefront; the service does not read it."`
	ProductsPerRow          int32         `json:"productsPerRow" required:"false" minimum:"1" maximum:"12" doc:"Products in a row of a GRID. Kept for the merchant's storefront; the service does not read it." example:"3"`
	ShowProductImages       bool          `json:"showProductImages" required:"false" doc:"Whether the storefront shows pictures. Kept for the merchant's storefront; the service does not read it."`
	ShowProductDescriptions bool          `json:"showProductDescriptions" required:"false" doc:"Whether the storefront shows descriptions. Kept for the merchant's storefront; the service does not read it."`
	ShowPricing             bool          `json:"showPricing" required:"false" doc:"Whether the storefront shows prices. Kept for the merchant's storefront; the service does not read it."`
	EnableFiltering         bool          `json:"enableFiltering" required:"false" doc:"Whether buyers can filter the products. Kept for the merchant's storefront; the service does not read it."`
	EnableSearch            bool          `json:"enableSearch" required:"false" doc:"Whether buyers can search the products. Kept for the merchant's storefront; the service does not read it."`
	ShowBundlePreview       bool          `json:"showBundlePreview" required:"false" doc:"Whether the storefront shows the box as it fills. Kept for the merchant's storefront; the service does not read it."`
}

// bundleMails say which mails are sent.
type bundleMails struct {
	SendBundleCreatedEmail         bool  `json:"sendBundleCreatedEmail" required:"false" doc:"Whether buyers are written to about a new box. Not supported: anything but the default is 400 notSupported, unless the bundle has it already. The e-mail about a new subscription is a setting of the store."`
	SendModificationReminderEmail  bool  `json:"sendModificationReminderEmail" required:"false" doc:"Whether buyers are reminded that they can change the box. Not supported: anything but the default is 400 notSupported, unless the bundle has it already. The e-mail about the upcoming order is a setting of the store."`
	ReminderDaysBeforeOrder        int32 `json:"reminderDaysBeforeOrder" required:"false" minimum:"0" maximum:"365" doc:"Days before the next order on which that reminder is due. Not supported: anything but the default is 400 notSupported, unless the bundle has it already." example:"3"`
	SendBundleModifiedConfirmation bool  `json:"sendBundleModifiedConfirmation" required:"false" doc:"Whether changes of a box are confirmed. Not supported: anything but the default is 400 notSupported, unless the bundle has it already. The e-mails about changed products are settings of the store."`
}

// substitution says what happens when a product cannot be had.
type substitution struct {
	AllowSubstitutions                bool          `json:"allowSubstitutions" required:"false" doc:"Whether another product may be sent instead. Not supported: anything but the default is 400 notSupported, unless the bundle has it already. Use product swap rules."`
	SubstitutionMethod                bundle.Method `json:"substitutionMethod" required:"false" enum:"SIMILAR_PRICE,SAME_CATEGORY,MERCHANT_CHOICE" doc:"How another product is chosen. Not supported: anything but the default is 400 notSupported, unless the bundle has it already."`
	NotifyCustomerOfSubstitutions     bool          `json:"notifyCustomerOfSubstitutions" required:"false" doc:"Whether buyers are notified of another product. Not supported: anything but the default is 400 notSupported, unless the bundle has it already."`
	AllowCustomerToApproveSubstitutes bool          `json:"allowCustomerToApproveSubstitutions" required:"false" doc:"Whether buyers are asked before. Not supported: anything but the default is 400 notSupported, unless the bundle has it already."`
}

// recommendations say what is suggested to buyers.
type recommendations struct {
	EnableRecommendations  bool            `json:"enableRecommendations" required:"false" doc:"Whether the storefront suggests products. Kept for the merchant's storefront; the service does not read it."`
	RecommendationStrategy bundle.Strategy `json:"recommendationStrategy" required:"false" enum:"BEST_SELLERS,BOUGHT_TOGETHER,PAST_ORDERS,CURATED" doc:"How the storefront chooses them. Kept for the merchant's storefront; the service does not read it."`
	ShowBestSellers        bool            `json:"showBestSellers" required:"false" doc:"Whether the storefront shows what sells best. Kept for the merchant's storefront; the service does not read it."`
	ShowCuratedBundles     bool            `json:"showCuratedBundles" required:"false" doc:"Whether the storefront shows boxes that the merchant put together. Kept for the merchant's storefront; the service does not read it."`
}

// bundleDiscounts are discounts for larger boxes.
type bundleDiscounts struct {
	EnableVolumeDiscounts bool     `json:"enableVolumeDiscounts" required:"false" doc:"Whether the highest tier that the pieces of a box reach is taken off its price. Needs at least one tier."`
	VolumeDiscountTiers   tierList `json:"volumeDiscountTiers" required:"false" maxItems:"20" nullable:"false" doc:"By rising minProducts."`
}

// volumeTier is a discount from a number of products on.
type volumeTier struct {
	MinProducts     float64 `json:"minProducts" minimum:"1" maximum:"1000" doc:"Whole: pieces from which the discount is given." example:"3"`
	DiscountPercent float64 `json:"discountPercent" minimum:"0" maximum:"100" doc:"What is taken off the price of the box, in percent, rounded to the currency's minor unit." example:"10"`
}

// categoryLimit is how many pieces of a category a box holds.
type categoryLimit struct {
	Min float64 `json:"min" required:"false" minimum:"0" maximum:"1000" doc:"Whole: pieces at least." example:"1"`
	Max float64 `json:"max" required:"false" minimum:"0" maximum:"1000" doc:"Whole: pieces at most; 0 is no limit." example:"4"`
}

// Lists and maps that a body names replace what was there as a whole: left to
// itself the decoder would lay their elements over the old ones.
type (
	tierList       []volumeTier
	categoryLimits map[string]categoryLimit
	objectList     []json.RawMessage
	planNumbers    []int64
)

// UnmarshalJSON reads a new list.
func (l *tierList) UnmarshalJSON(text []byte) (err error) {
	*l, err = fresh[[]volumeTier](text)
	return err
}

// UnmarshalJSON reads a new map.
func (l *categoryLimits) UnmarshalJSON(text []byte) (err error) {
	*l, err = fresh[map[string]categoryLimit](text)
	return err
}

// UnmarshalJSON reads a list of objects.
func (l *objectList) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for i, one := range list {
		if len(one) == 0 || one[0] != '{' {
			return required(fmt.Sprintf("shopCustomizationData[%d]", i), "an object")
		}
	}
	*l = list
	return nil
}

// UnmarshalJSON reads a list of numbers and graph ids.
func (l *planNumbers) UnmarshalJSON(text []byte) error {
	var ids []web.AnyID
	if err := json.Unmarshal(text, &ids); err != nil {
		return err
	}
	list := make(planNumbers, len(ids))
	for i, id := range ids {
		path := fmt.Sprintf("sellingPlanIds[%d]", i)
		var err error
		if list[i], err = id.Parse("SellingPlan", path); err != nil {
			return err
		}
		if list[i] == 0 {
			return required(path, "the number of a selling plan")
		}
	}
	*l = list
	return nil
}

// Schema describes objects of any fields.
func (objectList) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}
}

// fresh reads a value into a zero value instead of the current one.
func fresh[T any](text []byte) (T, error) {
	var read T
	err := json.Unmarshal(text, &read)
	return read, err
}

// bundleChange is bundleSettings with every field optional.
type bundleChange struct{}

// Schema describes it.
func (bundleChange) Schema(r huma.Registry) *huma.Schema { return partly(r, nil) }

// bundleUpdate is bundleSettings with every field but the id optional.
type bundleUpdate struct{}

// Schema describes it.
func (bundleUpdate) Schema(r huma.Registry) *huma.Schema { return partly(r, []string{"id"}) }

// partly describes bundleSettings with only some fields required.
func partly(r huma.Registry, requiredFields []string) *huma.Schema {
	whole := r.Schema(reflect.TypeFor[bundleSettings](), true, "BundleSettings")
	if whole.Ref != "" {
		whole = r.SchemaFromRef(whole.Ref)
	}
	part := *whole
	part.Required = requiredFields
	return &part
}
