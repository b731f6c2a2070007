package internal_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// settingsTable lists every stored setting with what shows that it has an effect. A line has fields, a
// colon, and one of:
//
//	FOLDER TEST, …            tests that see an answer, an order or a message change with the fields
//	storefront SCHEMA         kept for the merchant's storefront, as the schema of api/openapi.yaml says
//	refused SCHEMA, FOLDER TEST
//	                          refused, as the schema says and the test sees
//	service                   no setting: the service keeps it. Covers what lies below it, too
//
// The schema's property has the field's name, in any letter case, or follows the schema: SCHEMA.PROPERTY.
var settingsTable = []struct {
	kind  string
	of    reflect.Type
	lines string
}{
	{"plan group", reflect.TypeFor[plan.Terms](), `
		Name: internal/domain/plan TestCrashLeavesNoPartialGroup
		CustomerTag OrderTag MemberOrderTag: internal/domain/plan TestTagsOfOrders, test TestOrdersAndCustomersGetPlanTags
		ProductID AccessoryProductIDs Translations FormFieldsJSON: storefront SubscriptionGroup
		RulesJSON: refused SubscriptionGroup, internal/domain/plan TestRulesInJSONAreRefused
	`},
	{"plan option", reflect.TypeFor[plan.Option](), `
		ID: service
		Name Description Specific Day Month Cutoff Behavior Reserve MinCycles MaxCycles Sequence: internal/domain/plan TestPlatformPlanHasWhatTheOptionSays
		Billing.Interval Billing.Count Delivery.Interval Delivery.Count: internal/domain/plan TestPlatformPlanHasWhatTheOptionSays
		Kind: internal/domain/plan TestDraftValidateRejects
		First.Enabled First.Offer First.Kind First.After: internal/domain/plan TestPricesByOrder
		Second.Enabled Second.Offer Second.Kind Second.After: internal/domain/plan TestPricesByOrder
		First.Masked: storefront PlanOption.discountEnabledMasked
		Second.Masked: storefront PlanOption.discountEnabled2Masked
		Trial.Enabled: internal/domain/plan TestPricesByOrder
		Trial.Interval Trial.Count: internal/domain/intake TestTrialLastsAsLongAsItsOptionSays
		Trial.KeepDate: test TestFreeTrialSetsFirstChargeDate
		MemberOnly NonMemberOnly InclusiveTags ExclusiveTags: internal/domain/portal TestOptionIsOfferedToItsAudience
		Lifetime: internal/domain/portal TestOptionIsOfferedToItsAudience, test TestLifetimeMembershipIsNeverRenewedOrPaused
		Exchange: test TestPlanChangeSettlesPaidTerm
		RulesJSON: refused PlanOption, internal/domain/plan TestRulesInJSONAreRefused
	`},
	{"bundle", reflect.TypeFor[bundle.Settings](), `
		ID Line CreatedAt UpdatedAt Version: service
		Texts.SelectedFrequencyLabelText Texts.AddButtonText Texts.SelectMinimumProductButtonText Texts.ProductsToProceedText: storefront BundleSettings
		Texts.ProceedToCheckoutButtonText Texts.MyDeliveryText Texts.Title Texts.FailedToAddTitleText Texts.FailedToAddMsgText: storefront BundleSettings
		Texts.OkBtnText Texts.VariantNotAvailable Texts.ViewProduct Texts.ProductDetails Texts.EditQuantity Texts.Cart: storefront BundleSettings
		Texts.TieredDiscount: internal/web/portal/roomtest TestBoxSaysWhatItCosts
		Texts.ShoppingCart Texts.Subtotal Texts.CheckoutMessage Texts.ContinueShopping: storefront BundleSettings
		Texts.SpendAmountGetDiscount Texts.BuyQuantityGetDiscount Texts.RemoveItem Texts.CongratsMessageText Texts.SpentText: storefront BundleSettings
		Texts.QuantityLabel Texts.VariantLabelTextV2 Texts.ItemsText: storefront BundleSettings
		Look.BundleTopHTML Look.BundleBottomHTML Look.LeftSidebarHTML Look.RightSidebarHTML Look.ButtonColor: storefront BundleSettings
		Look.ButtonBackgroundColor Look.BackgroundColor Look.PageBackgroundColor Look.ProductTitleFontColor: storefront BundleSettings
		Look.CurrencySwitcherClassName Look.ProductPriceFormatField Look.ProductFilterConfig: storefront BundleSettings
		Page.BundleRedirect Page.CustomRedirectURL Page.OpeningSidebarType Page.DescriptionLength Page.IsBundleWithoutScroll: storefront BundleSettings
		Page.ShowCompareAtPrice Page.EnableRedirectToProductPage Page.DisableProductDescription: storefront BundleSettings
		Page.EnableDisplayProductVendor Page.EnableDisplayProductType Page.EnableCustomAdvancedFields: storefront BundleSettings
		Page.EnableProductDetailButton Page.EnableShowProductBasePrice Page.EnableClearCartSelectedProducts: storefront BundleSettings
		Page.EnableServiceBABHeader Page.EnableOpeningSidebar Page.IsMergeIntoSingleBABVariantDropdown: storefront BundleSettings
		Page.EnableEditQuantityTextbox Page.DisplayUnavailableProduct Page.AllowAddUnavailableProduct: storefront BundleSettings
		Page.ShowOrderNoteField Page.ShowSubLoyaltyTable Page.RestrictPriceRateCalculation: storefront BundleSettings
		Page.DisableProductCardImageSlider Page.SkipFilterVariantsByAllocationsID Page.MoveOneTimePurchaseToTop: storefront BundleSettings
		Page.SkipFirstPage: storefront BundleSettings
		Custom: storefront BundleSettings.shopCustomizationData
		Rules.Enabled Rules.MinProducts Rules.MaxProducts Rules.MinValue Rules.MaxValue: internal/domain/bundle TestRulesCheck
		Rules.AllowModifications Rules.LockAfterFirstOrder Rules.CutoffDays Rules.MaxSwaps: internal/domain/bundle TestRulesCheck
		Rules.CategoryLimits.Min Rules.CategoryLimits.Max Rules.NeedsSeveralCategory: internal/domain/bundle TestRulesCheck
		Pricing.Model Pricing.Volume Pricing.Fixed Pricing.Tiers.MinProducts Pricing.Tiers.Percent: test TestBoxesCostWhatTheySay
		Pricing.Rotates: refused BundleSettings.enableProductRotation, internal/domain/bundle TestSettingWithoutEffectIsRefused
		Display.LayoutType Display.ProductsPerRow Display.ShowProductImages Display.ShowProductDescriptions: storefront DisplaySettings
		Display.ShowPricing Display.EnableFiltering Display.EnableSearch Display.ShowBundlePreview: storefront DisplaySettings
		Notify.SendBundleCreatedEmail Notify.SendModificationReminderEmail: refused BundleMails, internal/domain/bundle TestSettingWithoutEffectIsRefused
		Notify.ReminderDaysBeforeOrder Notify.SendBundleModifiedConfirmation: refused BundleMails, internal/domain/bundle TestSettingWithoutEffectIsRefused
		Swaps.AllowSubstitutions Swaps.SubstitutionMethod: refused Substitution, internal/domain/bundle TestSettingWithoutEffectIsRefused
		Swaps.NotifyCustomerOfSubstitutions: refused Substitution, internal/domain/bundle TestSettingWithoutEffectIsRefused
		Swaps.AllowCustomerToApproveSubstitutes: refused Substitution.allowCustomerToApproveSubstitutions, internal/domain/bundle TestSettingWithoutEffectIsRefused
		Advice.EnableRecommendations Advice.RecommendationStrategy Advice.ShowBestSellers Advice.ShowCuratedBundles: storefront Recommendations
		Plans: internal/domain/bundle TestOf
	`},
	{"swap rule", reflect.TypeFor[swap.Rule](), `
		ID Line CreatedAt UpdatedAt Version Variants: service
		Name: internal/web/dashboard/roomtest TestRulesAreListedInTheirOrder
		Sources.VariantID Sources.Quantity Destinations.VariantID Destinations.Quantity: internal/domain/swap TestApply
		Sources.Name Destinations.Name: internal/web/dashboard/roomtest TestRulesAreListedInTheirOrder
		Sources.Image: storefront SwapRecord.sourceVariants
		Destinations.Image: storefront SwapRecord.destinationVariants
		FirstOrder EveryOrder Cycle ShiftDays: internal/domain/swap TestApply
		Sequence: internal/domain/swap TestRuleOfLowerSequenceComesFirst
		CarryDiscount Discount: internal/domain/swap TestPrices
		NoEmail: internal/domain/billing/prepare TestSilentRuleSaysSoInItsEntry, internal/domain/notify TestConfirmations
		Off: internal/domain/billing/prepare TestRuleThatIsOffChangesNoOrder
	`},
	{"delivery profile", reflect.TypeFor[delivery.Profile](), `
		ID PlatformID Groups Pending BusyUntil DueAt CreatedAt UpdatedAt Version: service
		Name: test TestDeliveryProfileIsCreatedAndChanged
	`},
	{"place of a delivery profile", reflect.TypeFor[delivery.Place](), `
		Location: test TestDeliveryProfileIsCreatedAndChanged
		Zones.Country Zones.Province Zones.Rates.Name Zones.Rates.Carrier: test TestProfileShipsToProvincesAtCarrierPrice
		Zones.Rates.Price Zones.Rates.Conditions.Operator Zones.Rates.Conditions.Price: internal/platform/platformtest TestClientAgainstSimulatorOverHTTP
		Zones.Rates.Conditions.Weight.Value Zones.Rates.Conditions.Weight.Unit: internal/platform/platformtest TestClientAgainstSimulatorOverHTTP
	`},
	{"portal", reflect.TypeFor[portal.Settings](), `
		Off SwapWhenFrozen CutoffDays: internal/domain/portal TestPermissionsOnContracts
		SkipMax: internal/domain/portal TestPermissionsOnOrders
		PauseMaxDays RescheduleMin RescheduleMax ReasonRequired: test TestPortalKeepsToMerchantsSettings
		Upcoming: internal/web/portal/roomtest TestAsManyOrdersAreShownAsTheStoreSays
		Support.Email Support.Phone Support.URL: internal/app TestHelpIsPageOrElseAddressOrTelephone
		AccountClient: internal/web/portal/roomtest TestAccountIsOfferedWhereItIsSet
		AccountSecret: internal/platform/shopify/accounts TestSimulatedPlatformChecksWhatClientsSend
		Version UpdatedAt: service
	`},
	{"design of the portal", reflect.TypeFor[design.Design](), `
		Colour Corners Font: internal/web/portal/roomtest TestDesignIsOneRuleThatThePolicyLetsThrough
		InTheme: internal/web/portal/roomtest TestAnswerInThemeIsConstant
		Logo.Hash Logo.Width Logo.Height Logo.Alt: internal/web/portal/roomtest TestLogoIsServedAtBothPlacesForGood
		Version UpdatedAt: service
	`},
	{"store, with dunning and notifications", reflect.TypeFor[shop.Settings](), `
		ImmediateOrders: internal/domain/portal TestPermissionsOnOrders, test TestSandboxControlChangesShopSettings
		FreezeUntilMinCycles: internal/domain/portal TestPermissionsOnContracts
		Memberships: test TestMembershipGroupsContractsStayMemberships
		SwapRules: service
		DisabledMails: internal/domain/notify TestDisabledKindIsNotSent
		EnabledMails: internal/domain/loyalty TestEarnedPointsAndBirthdaysAreReportedWhereTheStoreEnablesIt
		EnabledSMS: internal/domain/notify TestSMSWaitForTheMorningAndGoToThoseWhoAgree
		DeliveryRule: test TestDeliveryFollowsAddress
		FailureDigest: internal/domain/notify TestPeriodsOfDigestsFollowEachOther
		RatePerSecond RateBurst: test TestSandboxControlChangesShopSettings
		CatchUpHours: test TestOrderWaitingForCatchUpYieldsToNewerOne
		Dunning.Mode Dunning.Retries Dunning.EveryDays: internal/domain/dunning TestNextRetryByClass
		Dunning.OutOfStock.Retries Dunning.OutOfStock.EveryDays: internal/domain/dunning TestNextRetryByClass
		Dunning.Then Dunning.OutOfStock.Then: internal/domain/dunning TestFinalActionByClass, test TestFinalActionCancelsContract
	`},
	{"e-mail template", reflect.TypeFor[mailtemplate.Template](), `
		Key Version Live Author PublishedAt: service
		Fields.Subject Fields.Preheader Fields.Heading Fields.Body Fields.Button: internal/web/portal/letters TestTemplateReplacesPartsOfALetter
	`},
	{"loyalty", reflect.TypeFor[loyalty.Program](), `
		StartedAt Version: service
		Active: internal/web/portal/roomtest TestStoreWithoutProgrammeHasNoRewards
		Terms.Label Terms.PendingDays Terms.Approval: internal/web/portal/roomtest TestPendingPointsSayWhenTheyCanBeSpent
		Terms.Enrol: internal/web/portal/roomtest TestSubscriberTakesPartAndIsLeftOut
		Terms.Negative: internal/domain/loyalty TestLedgerExamples
		Terms.Expiry.Mode Terms.Expiry.Months Terms.Expiry.Days: internal/domain/loyalty TestLedgerExamples
		Terms.Expiry.Month Terms.Expiry.Day: internal/domain/loyalty TestExpiryIsAtThreeInTheMorningInStoreZone
		Terms.Earn.ID Terms.Redeem.ID Terms.Tiers.ID: service
		Terms.Earn.Name: internal/web/portal/roomtest TestSubscriberRedeemsPoints
		Terms.Earn.For Terms.Earn.Active Terms.Earn.Points Terms.Earn.PerUnit Terms.Earn.Decimals: internal/domain/loyalty TestEarnRuleGivesPoints
		Terms.Earn.Ladder.Cycle Terms.Earn.Ladder.Points Terms.Earn.Min Terms.Earn.Max Terms.Earn.From Terms.Earn.To: internal/domain/loyalty TestEarnRuleGivesPoints
		Terms.Redeem.Type Terms.Redeem.Active Terms.Redeem.Points Terms.Redeem.Value Terms.Redeem.Min Terms.Redeem.Max: internal/domain/loyalty TestRedeemRulePrice
		Terms.Redeem.Name Terms.Redeem.Percent Terms.Redeem.MinPurchase: internal/domain/loyalty TestRewardIsAsItsRuleSays
		Terms.Redeem.Prefix Terms.Redeem.ValidDays Terms.Redeem.WithProducts: internal/domain/loyalty TestRewardIsAsItsRuleSays
		Terms.Tiers.Name: internal/web/portal/roomtest TestSubscriberRedeemsPoints
		Terms.Tiers.Points: internal/domain/loyalty TestTiersByEarnedPoints
	`},
}

// What the reference says of a setting that has no effect here.
const (
	keptForStorefront = "Kept for the merchant's storefront; the service does not read it."
	notSupported      = "Not supported: "
)

// leaves returns the paths of the fields below a type that have no fields themselves.
func leaves(of reflect.Type, at string) []string {
	for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() || of == reflect.TypeFor[money.Amount]() {
		return []string{at}
	}
	var list []string
	for i := range of.NumField() {
		list = append(list, leaves(of.Field(i).Type, strings.TrimPrefix(at+"."+of.Field(i).Name, "."))...)
	}
	return list
}

// settingLine is a parsed line of the table.
type settingLine struct {
	fields []string
	word   string // storefront, refused, service, or empty
	schema string
	tests  []string // folder and name
}

func settingLines(text string) []settingLine {
	var list []settingLine
	for row := range strings.Lines(text) {
		fields, how, ok := strings.Cut(strings.TrimSpace(row), ": ")
		if !ok {
			continue
		}
		l := settingLine{fields: strings.Fields(fields)}
		for _, part := range strings.Split(how, ", ") {
			word, rest, _ := strings.Cut(part, " ")
			switch word {
			case "storefront", "refused", "service":
				l.word, l.schema = word, rest
			default:
				l.tests = append(l.tests, part)
			}
		}
		list = append(list, l)
	}
	return list
}

func TestEverySettingHasAnEffect(t *testing.T) {
	t.Parallel()
	schemas := apiSchemas(t)
	kept := map[string]bool{}
	for _, of := range settingsTable {
		open := leaves(of.of, "")
		for _, l := range settingLines(of.lines) {
			for _, field := range l.fields {
				was := len(open)
				open = slices.DeleteFunc(open, func(leaf string) bool {
					return leaf == field || l.word == "service" && strings.HasPrefix(leaf, field+".")
				})
				if len(open) == was {
					t.Errorf("%s: the table lists %s, which is no setting or is listed twice", of.kind, field)
				}
				if l.word != "storefront" && l.word != "refused" {
					continue
				}
				name, says := propertyOf(schemas, l.schema, field)
				if want := map[string]string{"storefront": keptForStorefront, "refused": notSupported}[l.word]; !strings.Contains(says, want) {
					t.Errorf("%s: the reference says %q of %s.%s, without %q", of.kind, says, l.schema, field, want)
				}
				if l.word == "storefront" {
					kept[name] = true
				}
			}
			if l.word == "" && len(l.tests) == 0 || l.word == "refused" && len(l.tests) == 0 {
				t.Errorf("%s: no test sees %v", of.kind, l.fields)
			}
			for _, test := range l.tests {
				if folder, name, _ := strings.Cut(test, " "); !hasTest(t, folder, name) {
					t.Errorf("%s: there is no test %s in %s", of.kind, name, folder)
				}
			}
		}
		for _, leaf := range open {
			t.Errorf("%s: %s is not in the table of settings: name the test that sees its effect", of.kind, leaf)
		}
	}
	keptIsListed(t, schemas, kept)
}

// keptIsListed holds the list in docs/storefront.md to what the reference says.
func keptIsListed(t *testing.T, schemas map[string]map[string]string, kept map[string]bool) {
	t.Helper()
	_, section, ok := strings.Cut(documents(t)["docs/storefront.md"], "\n## Settings that only the storefront reads\n")
	if !ok {
		t.Fatal("docs/storefront.md has no list of the settings that only the storefront reads")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for row := range strings.Lines(section) {
		for _, found := range codeSpan.FindAllStringSubmatch(row, -1) {
			listed[found[1]] = listed[found[1]] || strings.HasPrefix(row, "|")
		}
	}
	for schema, properties := range schemas {
		for name, says := range properties {
			if strings.Contains(says, keptForStorefront) && !kept[name] {
				t.Errorf("the reference says that %s.%s is kept for the storefront, and the table of settings does not", schema, name)
			}
		}
	}
	for name := range kept {
		if !listed[name] {
			t.Errorf("docs/storefront.md does not list %s among the settings that only the storefront reads", name)
		}
	}
	for name, inTable := range listed {
		if inTable && !kept[name] {
			t.Errorf("docs/storefront.md lists %s, which is not kept for the storefront", name)
		}
	}
}

// apiSchemas returns what the reference says of the properties of each schema.
func apiSchemas(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Description string }
			}
		}
	}
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]map[string]string{}
	for name, schema := range document.Components.Schemas {
		schemas[name] = map[string]string{}
		for property, is := range schema.Properties {
			schemas[name][property] = is.Description
		}
	}
	return schemas
}

// propertyOf returns the property of a setting and what the reference says of it.
func propertyOf(schemas map[string]map[string]string, schema, field string) (name, says string) {
	of, property, named := strings.Cut(schema, ".")
	if !named {
		property = field[strings.LastIndexByte(field, '.')+1:]
	}
	for name, says := range schemas[of] {
		if strings.EqualFold(name, property) {
			return name, says
		}
	}
	return "", ""
}

// hasTest reports whether a folder's tests have one of that name.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return declared.Match(text)
	})
}
