package admin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/web"
)

func newBundleSettings(domain string, s bundle.Settings) bundleSettings {
	out := bundleSettings{
		ID: int64(s.ID), Shop: domain, BundleTexts: BundleTexts(s.Texts), BundleLook: BundleLook(s.Look), BundlePage: BundlePage(s.Page),
		ShopCustomizationData: objectList{},
		Enabled:               s.Rules.Enabled, MinProducts: float64(s.Rules.MinProducts), MaxProducts: float64(s.Rules.MaxProducts),
		MinBundleValue: s.Rules.MinValue.Float(), MaxBundleValue: s.Rules.MaxValue.Float(),
		PricingModel: string(s.Pricing.Model), FixedBundlePrice: s.Pricing.Fixed.Float(),
		AllowModifications: s.Rules.AllowModifications, LockAfterFirstOrder: s.Rules.LockAfterFirstOrder,
		EnableProductRotation: s.Pricing.Rotates, RequireCategoryDiversity: s.Rules.NeedsSeveralCategory,
		ModificationCutoffDays: int32(s.Rules.CutoffDays), MaxSwapsPerCycle: int32(s.Rules.MaxSwaps), CategoryLimits: categoryLimits{},
		DisplaySettings: displaySettings(s.Display), Notifications: bundleMails(s.Notify), Substitution: substitution(s.Swaps),
		Recommendations: recommendations(s.Advice),
		Discounts:       bundleDiscounts{EnableVolumeDiscounts: s.Pricing.Volume, VolumeDiscountTiers: tierList{}},
		SellingPlanIDs:  append(planNumbers{}, s.Plans...), CreatedAt: web.At(s.CreatedAt), UpdatedAt: web.At(s.UpdatedAt),
	}
	for _, object := range s.Custom {
		out.ShopCustomizationData = append(out.ShopCustomizationData, json.RawMessage(object))
	}
	for name, l := range s.Rules.CategoryLimits {
		out.CategoryLimits[name] = categoryLimit{float64(l.Min), float64(l.Max)}
	}
	for _, t := range s.Pricing.Tiers {
		out.Discounts.VolumeDiscountTiers = append(out.Discounts.VolumeDiscountTiers, volumeTier{float64(t.MinProducts), t.Percent})
	}
	return out
}

// readable says what is wrong with the body itself. Fields that the service owns
// are not compared: what they are is not known yet.
func (in *bundleIn) readable(caller web.Caller, over bundle.Settings) error {
	body, err := in.overlay(caller, over)
	if err != nil {
		return err
	}
	said, err := body.settings(caller.Shop.Currency)
	if err != nil {
		return err
	}
	return said.CheckBounds()
}

// over lays the body over settings.
func (in *bundleIn) over(caller web.Caller, s bundle.Settings) (bundle.Settings, error) {
	is := newBundleSettings(caller.Shop.Domain, s)
	body, err := in.overlay(caller, s)
	if err != nil {
		return bundle.Settings{}, err
	}
	for field, same := range map[string]bool{
		"id": body.ID == is.ID, "createdAt": sameInstant(body.CreatedAt, is.CreatedAt), "updatedAt": sameInstant(body.UpdatedAt, is.UpdatedAt),
	} {
		if !same {
			return bundle.Settings{}, fault.New(fault.Invalid, "field '%s' belongs to the service and cannot be changed", field).
				Entity("subscriptionBundleSettings").Code("fieldReadOnly").Field(field)
		}
	}
	wanted, err := body.settings(caller.Shop.Currency)
	if err != nil {
		return bundle.Settings{}, err
	}
	wanted.ID, wanted.CreatedAt, wanted.UpdatedAt, wanted.Version = s.ID, s.CreatedAt, s.UpdatedAt, s.Version
	return wanted, wanted.Check()
}

func sameInstant(a, b *web.Instant) bool {
	if a == nil || b == nil {
		return a == b
	}
	return time.Time(*a).Equal(time.Time(*b))
}

// overlay returns settings with the fields that the body names. A field that is
// null has its default.
func (in *bundleIn) overlay(caller web.Caller, s bundle.Settings) (bundleSettings, error) {
	body := newBundleSettings(caller.Shop.Domain, s)
	if err := in.Into(&body); err != nil {
		return body, err
	}
	var given map[string]json.RawMessage
	if err := in.Into(&given); err != nil {
		return body, err
	}
	blank := bundle.New()
	blank.ID, blank.CreatedAt, blank.UpdatedAt = s.ID, s.CreatedAt, s.UpdatedAt
	defaults, err := json.Marshal(newBundleSettings(caller.Shop.Domain, blank))
	if err != nil {
		return body, fmt.Errorf("write the default settings: %w", err)
	}
	var of map[string]json.RawMessage
	if err := json.Unmarshal(defaults, &of); err != nil {
		return body, fmt.Errorf("read the default settings: %w", err)
	}
	cleared, err := json.Marshal(nulls(given, of))
	if err != nil {
		return body, fmt.Errorf("write what is cleared: %w", err)
	}
	if err := json.Unmarshal(cleared, &body); err != nil {
		return body, fmt.Errorf("read what is cleared: %w", err)
	}
	if err := ownShop(body.Shop, caller, "shop"); err != nil {
		return body, err
	}
	return body, nil
}

// nulls returns the defaults of the fields that are given as null, also inside
// objects.
func nulls(given, defaults map[string]json.RawMessage) map[string]json.RawMessage {
	cleared := map[string]json.RawMessage{}
	for name, is := range defaults {
		value, ok := given[name]
		if !ok {
			continue
		}
		if string(value) == "null" {
			cleared[name] = is
			continue
		}
		var inner, innerDefaults map[string]json.RawMessage
		if json.Unmarshal(value, &inner) != nil || json.Unmarshal(is, &innerDefaults) != nil {
			continue // no object
		}
		if below := nulls(inner, innerDefaults); len(below) > 0 {
			text, err := json.Marshal(below)
			if err == nil {
				cleared[name] = text
			}
		}
	}
	return cleared
}

// settings checks the fields one by one and returns what they say.
func (b *bundleSettings) settings(currency money.Currency) (bundle.Settings, error) {
	if err := checkTags("", reflect.ValueOf(*b)); err != nil {
		return bundle.Settings{}, err
	}
	s := bundle.Settings{
		ID: bundle.ID(b.ID), Texts: bundle.Texts(b.BundleTexts), Look: bundle.Look(b.BundleLook), Page: bundle.Page(b.BundlePage), Plans: b.SellingPlanIDs,
		Rules: bundle.Rules{
			Enabled: b.Enabled, MinProducts: int(b.MinProducts), MaxProducts: int(b.MaxProducts), AllowModifications: b.AllowModifications,
			LockAfterFirstOrder: b.LockAfterFirstOrder, CutoffDays: int(b.ModificationCutoffDays), MaxSwaps: int(b.MaxSwapsPerCycle),
			NeedsSeveralCategory: b.RequireCategoryDiversity,
		},
		Pricing: bundle.Pricing{Volume: b.Discounts.EnableVolumeDiscounts, Rotates: b.EnableProductRotation},
		Display: bundle.Display(b.DisplaySettings), Notify: bundle.Notify(b.Notifications), Swaps: bundle.Substitution(b.Substitution), Advice: bundle.Recommendations(b.Recommendations),
	}
	for path, at := range map[string]struct {
		number float64
		into   *money.Amount
	}{
		"minBundleValue": {b.MinBundleValue, &s.Rules.MinValue}, "maxBundleValue": {b.MaxBundleValue, &s.Rules.MaxValue},
		"fixedBundlePrice": {b.FixedBundlePrice, &s.Pricing.Fixed},
	} {
		var err error
		if *at.into, err = exactNumber(plain(at.number)).amount(path, currency); err != nil {
			return s, err
		}
	}
	for _, object := range b.ShopCustomizationData {
		s.Custom = append(s.Custom, string(object))
	}
	for name, l := range b.CategoryLimits {
		if s.Rules.CategoryLimits == nil {
			s.Rules.CategoryLimits = map[string]bundle.Limit{}
		}
		s.Rules.CategoryLimits[name] = bundle.Limit{Min: int(l.Min), Max: int(l.Max)}
	}
	for _, t := range b.Discounts.VolumeDiscountTiers {
		s.Pricing.Tiers = append(s.Pricing.Tiers, bundle.Tier{MinProducts: int(t.MinProducts), Percent: t.DiscountPercent})
	}
	if err := b.words(&s); err != nil {
		return s, err
	}
	return s, nil
}

// words reads the words of lists, in any letter case.
func (b *bundleSettings) words(s *bundle.Settings) error {
	return cmp.Or(
		word("bundleRedirect", string(b.BundleRedirect), bundle.Redirects, &s.Page.BundleRedirect),
		word("openingSidebarType", string(b.OpeningSidebarType), bundle.Sidebars, &s.Page.OpeningSidebarType),
		word("pricingModel", b.PricingModel, bundle.PricingModels, &s.Pricing.Model),
		word("displaySettings.layoutType", string(b.DisplaySettings.LayoutType), bundle.Layouts, &s.Display.LayoutType),
		word("substitution.substitutionMethod", string(b.Substitution.SubstitutionMethod), bundle.Methods, &s.Swaps.SubstitutionMethod),
		word("recommendations.recommendationStrategy", string(b.Recommendations.RecommendationStrategy), bundle.Strategies, &s.Advice.RecommendationStrategy),
	)
}

func word[T ~string](path, given string, known []T, into *T) error {
	var err error
	*into, err = web.ParseEnum(path, given, known)
	return err
}

type bundleIn struct {
	web.JSONBody
}
