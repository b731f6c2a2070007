package peer

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// bundleShape is the settings of a bundle. What they do not have has its default.
type bundleShape struct {
	bundle.Settings

	number             id
	minValue, maxValue word
	fixed              word
}

// lenient reads JSON and leaves out what has another type.
func lenient(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
		return nil
	}
	return err
}

// UnmarshalJSON reads it. The interface spells texts, looks and switches as the settings do, but for
// the case of their letters.
func (b *bundleShape) UnmarshalJSON(text []byte) error {
	b.Settings = bundle.New()
	rules, pricing := &b.Rules, &b.Pricing
	var is struct {
		ID            id                `json:"id"`
		Custom        []json.RawMessage `json:"shopCustomizationData"`
		Enabled       *flag             `json:"enabled"`
		MinProducts   *decimal          `json:"minProducts"`
		MaxProducts   decimal           `json:"maxProducts"`
		MinValue      word              `json:"minBundleValue"`
		MaxValue      word              `json:"maxBundleValue"`
		Model         word              `json:"pricingModel"`
		Fixed         word              `json:"fixedBundlePrice"`
		Modifications *flag             `json:"allowModifications"`
		Lock          flag              `json:"lockAfterFirstOrder"`
		Rotates       flag              `json:"enableProductRotation"`
		Diversity     flag              `json:"requireCategoryDiversity"`
		Cutoff        id                `json:"modificationCutoffDays"`
		Swaps         id                `json:"maxSwapsPerCycle"`
		Limits        map[string]struct {
			Min decimal `json:"min"`
			Max decimal `json:"max"`
		} `json:"categoryLimits"`
		Display   json.RawMessage `json:"displaySettings"`
		Notify    json.RawMessage `json:"notifications"`
		Other     json.RawMessage `json:"substitution"`
		Advice    json.RawMessage `json:"recommendations"`
		Discounts struct {
			Volume flag `json:"enableVolumeDiscounts"`
			Tiers  []struct {
				Min     decimal `json:"minProducts"`
				Percent decimal `json:"discountPercent"`
			} `json:"volumeDiscountTiers"`
		} `json:"discounts"`
		Plans []id `json:"sellingPlanIds"`
	}
	var asked struct {
		Approve bool `json:"allowCustomerToApproveSubstitutions"`
	}
	for _, part := range []struct {
		text []byte
		into any
	}{{text, &b.Texts}, {text, &b.Look}, {text, &b.Page}, {text, &is}} {
		if err := lenient(part.text, part.into); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		text []byte
		into any
	}{{is.Display, &b.Display}, {is.Notify, &b.Notify}, {is.Other, &b.Swaps}, {is.Other, &asked}, {is.Advice, &b.Advice}} {
		if len(part.text) == 0 {
			continue
		}
		if err := lenient(part.text, part.into); err != nil {
			return err
		}
	}
	b.Swaps.AllowCustomerToApproveSubstitutes = asked.Approve
	rules.Enabled, rules.AllowModifications = orElse(is.Enabled, rules.Enabled), orElse(is.Modifications, rules.AllowModifications)
	if is.MinProducts != nil {
		rules.MinProducts = int(*is.MinProducts)
	}
	rules.MaxProducts, rules.LockAfterFirstOrder, rules.NeedsSeveralCategory, rules.CutoffDays, rules.MaxSwaps = int(is.MaxProducts), bool(is.Lock), bool(is.Diversity), int(is.Cutoff), int(is.Swaps)
	for name, l := range is.Limits {
		if rules.CategoryLimits == nil {
			rules.CategoryLimits = map[string]bundle.Limit{}
		}
		rules.CategoryLimits[name] = bundle.Limit{Min: int(l.Min), Max: int(l.Max)}
	}
	if is.Model != "" {
		pricing.Model = bundle.PricingModel(is.Model)
	}
	pricing.Volume, pricing.Rotates = bool(is.Discounts.Volume), bool(is.Rotates)
	for _, t := range is.Discounts.Tiers {
		pricing.Tiers = append(pricing.Tiers, bundle.Tier{MinProducts: int(t.Min), Percent: float64(t.Percent)})
	}
	for _, object := range is.Custom {
		b.Custom = append(b.Custom, string(object))
	}
	for _, p := range is.Plans {
		b.Plans = append(b.Plans, int64(p))
	}
	slices.Sort(b.Plans)
	b.number, b.minValue, b.maxValue, b.fixed = is.ID, is.MinValue, is.MaxValue, is.Fixed
	return nil
}

func (b bundleShape) part(of shop.Shop) moving.Part {
	s := b.Settings
	for _, a := range []struct {
		text word
		into *money.Amount
	}{{b.minValue, &s.Rules.MinValue}, {b.maxValue, &s.Rules.MaxValue}, {b.fixed, &s.Pricing.Fixed}} {
		if *a.into = amountOf(a.text, of.Currency, of.Currency); a.into.Minor == 0 {
			*a.into = money.Amount{Currency: of.Currency}
		}
	}
	return moving.Part{PartKey: moving.PartKey{There: keyOf(b.number)}, Name: s.Texts.Title, Data: moving.PartData{Bundle: &s}}
}
