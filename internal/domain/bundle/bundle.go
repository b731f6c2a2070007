// Package bundle keeps boxes that buyers put together: how the page looks, what
// a box may hold, and when it may still be changed.
package bundle

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const entity = "subscriptionBundleSettings"

// ID identifies a bundle within a shop.
type ID int64

// Settings are the merchant's settings of a bundle.
type Settings struct {
	ID      ID
	Line    shop.Line // of the contracts that can be boxes; it never changes
	Texts   Texts
	Look    Look
	Page    Page
	Custom  []string // the storefront's own data: JSON objects
	Rules   Rules
	Pricing Pricing
	Display Display
	Notify  Notify
	Swaps   Substitution
	Advice  Recommendations

	// Plans are the selling plans whose contracts are boxes of this bundle. A
	// plan belongs to one bundle at most.
	Plans []int64

	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64
}

// PricingModel is how a box's price is computed.
type PricingModel string

// The pricing models.
const (
	Dynamic PricingModel = "DYNAMIC" // the sum of its products
	Fixed   PricingModel = "FIXED"   // one price, whatever is in it
)

// PricingModels lists every pricing model.
var PricingModels = []PricingModel{Dynamic, Fixed}

// Pricing says what a box costs.
type Pricing struct {
	Model   PricingModel
	Fixed   money.Amount // of the FIXED model
	Volume  bool         // Tiers apply
	Tiers   []Tier       // by MinProducts
	Rotates bool         // the merchant exchanges products from time to time
}

// Tier is a discount from a number of products on.
type Tier struct {
	MinProducts int
	Percent     float64
}

// Display says how the products are shown.
type Display struct {
	LayoutType              Layout
	ProductsPerRow          int32
	ShowProductImages       bool
	ShowProductDescriptions bool
	ShowPricing             bool
	EnableFiltering         bool
	EnableSearch            bool
	ShowBundlePreview       bool
}

// Layout is an arrangement of products.
type Layout string

// The layouts.
const (
	Grid     Layout = "GRID"
	List     Layout = "LIST"
	Carousel Layout = "CAROUSEL"
)

// Layouts lists every layout.
var Layouts = []Layout{Grid, List, Carousel}

// Notify says which mails are sent.
type Notify struct {
	SendBundleCreatedEmail         bool
	SendModificationReminderEmail  bool
	ReminderDaysBeforeOrder        int32
	SendBundleModifiedConfirmation bool
}

// Substitution is what happens when a product is not available.
type Substitution struct {
	AllowSubstitutions                bool
	SubstitutionMethod                Method
	NotifyCustomerOfSubstitutions     bool
	AllowCustomerToApproveSubstitutes bool
}

// Method is how a substitute is chosen.
type Method string

// The methods.
const (
	SimilarPrice   Method = "SIMILAR_PRICE"
	SameCategory   Method = "SAME_CATEGORY"
	MerchantChoice Method = "MERCHANT_CHOICE"
)

// Methods lists every method.
var Methods = []Method{SimilarPrice, SameCategory, MerchantChoice}

// Recommendations says what is suggested to buyers.
type Recommendations struct {
	EnableRecommendations  bool
	RecommendationStrategy Strategy
	ShowBestSellers        bool
	ShowCuratedBundles     bool
}

// Strategy is how suggestions are chosen.
type Strategy string

// The strategies.
const (
	BestSellers    Strategy = "BEST_SELLERS"
	BoughtTogether Strategy = "BOUGHT_TOGETHER"
	PastOrders     Strategy = "PAST_ORDERS"
	Curated        Strategy = "CURATED"
)

// Strategies lists every strategy.
var Strategies = []Strategy{BestSellers, BoughtTogether, PastOrders, Curated}

// New returns the default settings of a bundle.
func New() Settings {
	return Settings{
		Texts: defaultTexts(),
		Page:  Page{BundleRedirect: ToCart, OpeningSidebarType: SidebarDefault},
		Rules: Rules{Enabled: true, MinProducts: 1, AllowModifications: true}, Pricing: Pricing{Model: Dynamic},
		Display: Display{LayoutType: Grid, ProductsPerRow: 3, ShowProductImages: true, ShowPricing: true},
		Swaps:   Substitution{SubstitutionMethod: SimilarPrice}, Advice: Recommendations{RecommendationStrategy: BestSellers},
	}
}

// Of returns the bundle that the contract is a box of: one that names the
// selling plan of a line.
func Of(list []Settings, c contract.Contract) (Settings, bool) {
	for _, s := range list {
		if s.Line != c.Line {
			continue
		}
		for _, plan := range s.Plans {
			for _, l := range c.Lines {
				if l.SellingPlanID == plan {
					return s, true
				}
			}
		}
	}
	return Settings{}, false
}

// Inside returns the lines that are in the box: those on its selling plans.
func (s Settings) Inside(lines []contract.LineItem) []contract.LineItem {
	var list []contract.LineItem
	for _, l := range lines {
		if slices.Contains(s.Plans, l.SellingPlanID) {
			list = append(list, l)
		}
	}
	return list
}

// Shelf reads bundles without a transaction.
type Shelf interface {
	// Bundle returns a bundle of a line, or NotFound.
	Bundle(ctx context.Context, of shop.ID, line shop.Line, id ID) (Settings, error)
	// Bundles returns a page of a line's bundles, oldest first, and how many
	// there are.
	Bundles(ctx context.Context, of shop.ID, line shop.Line, p page.Request) ([]Settings, int, error)
}

// Tx is one transaction on one shop's data. Rows that it reads are locked until
// it ends.
type Tx interface {
	// LockBundles blocks other changes of the shop's bundles until this
	// transaction ends.
	LockBundles(ctx context.Context) error
	// AllBundles returns every bundle of both lines, oldest first.
	AllBundles(ctx context.Context) ([]Settings, error)
	// PlanLines returns the lines of the selling plans that the service knows.
	PlanLines(ctx context.Context, plans []int64) (map[int64]shop.Line, error)
	// PutBundle inserts a bundle whose ID is 0, giving it one, and writes any
	// other if its Version is still what was read; otherwise it fails with a
	// Conflict. It raises the version.
	PutBundle(ctx context.Context, s *Settings) error
	// DeleteBundle removes a bundle under the same rule.
	DeleteBundle(ctx context.Context, s Settings) error
	activity.Recorder
}

// Store runs transactions. Update commits when fn returns nil and runs fn again
// when the database asks for it.
type Store interface {
	Update(ctx context.Context, of shop.ID, fn func(Tx) error) error
}

// Type is the interface's name of a kind of bundle.
type Type string

// The types. A contract that is no box is a regular subscription.
const (
	Regular       Type = "REGULAR_SUBSCRIPTION"
	ClassicBox    Type = "BUILD_A_BOX_CLASSIC"
	SingleBox     Type = "BUILD_A_BOX_SINGLE_PRODUCT"
	ClassicBundle Type = "BUNDLING_CLASSIC"
	MixAndMatch   Type = "BUNDLING_MIX_AND_MATCH"
	Sectioned     Type = "SECTIONED_BUNDLE"
	Volume        Type = "VOLUME_DISCOUNT"
)

// Type returns the bundle's kind, by its rules and its price: one with a
// section for each category; one that is sold as a single product, at one price,
// with chosen or fixed contents; one with volume discounts; a box with a
// size limit; or any mix.
func (s Settings) Type() Type {
	r := s.Rules
	sized := r.Enabled && (r.MinProducts > 0 || r.MaxProducts > 0 || r.MinValue.Minor > 0 || r.MaxValue.Minor > 0)
	switch {
	case s.Rules.NeedsCategories():
		return Sectioned
	case s.Pricing.Model == Fixed && r.AllowModifications:
		return SingleBox
	case s.Pricing.Model == Fixed:
		return ClassicBundle
	case s.Pricing.Volume && len(s.Pricing.Tiers) > 0 && !sized:
		return Volume
	case sized:
		return ClassicBox
	}
	return MixAndMatch
}
