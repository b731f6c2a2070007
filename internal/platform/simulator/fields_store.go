package simulator

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform/schema"
)

func (r registry) storeFields() {
	r["Shop"] = fields{
		"id":                           get(func(s *store) any { return s.gid() }),
		"name":                         get(func(s *store) any { return s.Name }),
		"email":                        get(func(s *store) any { return s.Email }),
		"contactEmail":                 get(func(s *store) any { return s.Email }),
		"myshopifyDomain":              get(func(s *store) any { return s.Domain }),
		"url":                          get(func(s *store) any { return "https://" + s.Domain }),
		"ianaTimezone":                 get(func(s *store) any { return s.TimeZone }),
		"currencyCode":                 get(func(s *store) any { return string(s.Currency) }),
		"enabledPresentmentCurrencies": get(func(s *store) any { return []string{string(s.Currency)} }),
		"createdAt":                    get(func(s *store) any { return s.CreatedAt }),
		"updatedAt":                    get(func(s *store) any { return s.CreatedAt }),
		"shopOwnerName":                get(func(s *store) any { return s.Name }),
		"taxesIncluded":                always(false),
		"taxShipping":                  always(false),
		"orderNumberFormatPrefix":      always("#"),
		"orderNumberFormatSuffix":      always(""),
		"primaryDomain":                get(func(s *store) any { return object{"Domain", s} }),
		"shopAddress":                  get(func(s *store) any { return object{"ShopAddress", s} }),
		"plan":                         get(func(s *store) any { return object{"ShopPlan", s} }),
		"timezoneOffsetMinutes": on(func(x *exec, s *store, _ args) any {
			_, seconds := x.s.now().In(s.zone).Zone()
			return seconds / 60
		}),
		"metafield": on(func(x *exec, s *store, a args) any {
			if i := x.metafield(namespaceOf(a), a.text("key")); i >= 0 {
				return object{"Metafield", s.Metafields[i]}
			}
			return object{kind: "Metafield"}
		}),
		"metafields": on(func(x *exec, s *store, a args) any {
			var entries []entry
			for _, m := range s.Metafields {
				if m.App == x.fieldOwner(m.Namespace) && (!a.has("namespace") || m.Namespace == a.text("namespace")) {
					entries = append(entries, entry{0, m.ID, object{"Metafield", m}})
				}
			}
			return x.paginate("Metafield", entries, a)
		}),
	}
	r["Domain"] = fields{
		"id":         get(func(s *store) any { return gid.Of("Domain", s.ID) }),
		"host":       get(func(s *store) any { return s.Domain }),
		"url":        get(func(s *store) any { return "https://" + s.Domain }),
		"sslEnabled": always(true),
	}
	r["ShopAddress"] = fields{
		"id":            get(func(s *store) any { return gid.Of("ShopAddress", s.ID) }),
		"countryCodeV2": get(func(s *store) any { return s.Country }),
		"countryCode":   get(func(s *store) any { return s.Country }),
	}
	r["ShopPlan"] = fields{
		"displayName": always("Developer Preview"), "publicDisplayName": always("Developer Preview"),
		"partnerDevelopment": always(true), "shopifyPlus": always(false),
	}
	r["App"] = fields{}
	r["Metafield"] = fields{
		"id":            get(func(m metafield) any { return gid.Of("Metafield", m.ID) }),
		"namespace":     get(func(m metafield) any { return m.Namespace }),
		"key":           get(func(m metafield) any { return m.Key }),
		"type":          get(func(m metafield) any { return m.Type }),
		"value":         get(func(m metafield) any { return m.Value }),
		"ownerType":     always("SHOP"),
		"createdAt":     get(func(m metafield) any { return m.CreatedAt }),
		"updatedAt":     get(func(m metafield) any { return m.UpdatedAt }),
		"compareDigest": get(func(m metafield) any { return m.digest() }),
	}
}

// appNamespace is where an app's own metafields are when it names no namespace.
const appNamespace = "$app"

func namespaceOf(a args) string { return or(a.text("namespace"), appNamespace) }

// fieldOwner returns the owner of the metafields in a namespace; those of other namespaces than an
// app's own have none.
func (x *exec) fieldOwner(namespace string) string {
	if strings.HasPrefix(namespace, appNamespace) {
		return x.app
	}
	return ""
}

// metafield returns where a metafield of the store stands, or -1.
func (x *exec) metafield(namespace, key string) int {
	return slices.IndexFunc(x.shop.Metafields, func(m metafield) bool {
		return m.Namespace == namespace && m.Key == key && m.App == x.fieldOwner(namespace)
	})
}

// digest changes whenever the value does.
func (m metafield) digest() string {
	sum := sha256.Sum256([]byte(m.Value))
	return hex.EncodeToString(sum[:])
}

func (r registry) catalog() {
	r["Product"] = fields{
		"id":                  get(func(p *product) any { return p.gid() }),
		"legacyResourceId":    get(func(p *product) any { return itoa(p.ID) }),
		"title":               get(func(p *product) any { return p.Title }),
		"handle":              get(func(p *product) any { return p.Handle }),
		"vendor":              get(func(p *product) any { return p.Vendor }),
		"productType":         get(func(p *product) any { return p.Type }),
		"status":              get(func(p *product) any { return p.Status }),
		"tags":                get(func(p *product) any { return p.Tags }),
		"description":         always(""),
		"descriptionHtml":     always(""),
		"isGiftCard":          always(false),
		"requiresSellingPlan": get(func(p *product) any { return p.OnlyOnPlans }),
		"createdAt":           get(func(p *product) any { return p.CreatedAt }),
		"publishedAt":         get(func(p *product) any { return p.CreatedAt }),
		"updatedAt":           get(func(p *product) any { return p.UpdatedAt }),
		"variantsCount":       get(func(p *product) any { return object{"Count", len(p.variants)} }),
		"featuredMedia": get(func(p *product) any {
			if p.Image == "" {
				return nil
			}
			return object{"MediaImage", p.Image}
		}),
		"variants": on(func(x *exec, p *product, a args) any { return x.variants(p.variants, a) }),
		"collections": on(func(x *exec, p *product, a args) any {
			entries := make([]entry, len(p.Collections))
			for i, c := range p.Collections {
				entries[i] = entry{0, c.ID, object{"Collection", c}}
			}
			return x.paginate("Collection", entries, a)
		}),
		"inCollection": on(func(_ *exec, p *product, a args) any {
			for _, c := range p.Collections {
				if c.ID == a.number("id") {
					return true
				}
			}
			return false
		}),
	}
	r["Collection"] = fields{
		"id":               get(func(c collection) any { return gid.Of("Collection", c.ID) }),
		"legacyResourceId": get(func(c collection) any { return itoa(c.ID) }),
		"title":            get(func(c collection) any { return c.Title }),
		"handle":           get(func(c collection) any { return strings.ReplaceAll(strings.ToLower(c.Title), " ", "-") }),
	}
	r["MediaImage"] = fields{
		"id":      always(gid.Of("MediaImage", 1)),
		"alt":     always(nil),
		"image":   get(func(url string) any { return imageObject(url) }),
		"preview": get(func(url string) any { return object{"MediaPreviewImage", url} }),
	}
	r["MediaPreviewImage"] = fields{"image": get(func(url string) any { return imageObject(url) })}
	text := get(func(url string) any { return url })
	r["Image"] = fields{"url": text, "src": text, "originalSrc": text, "altText": always(nil), "id": always(nil), "width": always(nil), "height": always(nil)}
	r["ProductVariant"] = fields{
		"id":                get(func(v *variant) any { return v.gid() }),
		"legacyResourceId":  get(func(v *variant) any { return itoa(v.ID) }),
		"title":             get(func(v *variant) any { return v.Title }),
		"displayName":       get(func(v *variant) any { return v.product.Title + " - " + v.Title }),
		"sku":               get(func(v *variant) any { return textOrNull(v.SKU) }),
		"barcode":           always(nil),
		"price":             get(func(v *variant) any { return v.Price.String() }),
		"compareAtPrice":    always(nil),
		"taxable":           get(func(v *variant) any { return v.Taxable }),
		"position":          get(func(v *variant) any { return v.Position }),
		"availableForSale":  get(func(v *variant) any { return !v.Tracked || !v.Deny || v.Quantity > 0 }),
		"inventoryQuantity": get(func(v *variant) any { return v.Quantity }),
		"inventoryPolicy": get(func(v *variant) any {
			if v.Deny {
				return "DENY"
			}
			return "CONTINUE"
		}),
		"inventoryItem":   get(func(v *variant) any { return object{"InventoryItem", v} }),
		"image":           get(func(v *variant) any { return imageObject(v.product.Image) }),
		"product":         get(func(v *variant) any { return typed("Product", v.product) }),
		"selectedOptions": get(func(v *variant) any { return []object{{"SelectedOption", v}} }),
		"createdAt":       get(func(v *variant) any { return v.CreatedAt }),
		"updatedAt":       get(func(v *variant) any { return v.CreatedAt }),
	}
	r["SelectedOption"] = fields{"name": always("Title"), "value": get(func(v *variant) any { return v.Title })}
	r["InventoryItem"] = fields{
		"id":               get(func(v *variant) any { return gid.Of("InventoryItem", v.ID) }),
		"sku":              get(func(v *variant) any { return textOrNull(v.SKU) }),
		"tracked":          get(func(v *variant) any { return v.Tracked }),
		"requiresShipping": get(func(v *variant) any { return v.RequiresShipping }),
	}
}

func imageObject(url string) object {
	if url == "" {
		return object{kind: "Image"}
	}
	return object{"Image", url}
}

func (x *exec) variants(list []*variant, a args) *page {
	entries := make([]entry, len(list))
	for i, v := range list {
		entries[i] = entry{int64(v.Position), v.ID, typed("ProductVariant", v)}
		if a.text("sortKey") != "POSITION" {
			entries[i].sort = 0
		}
	}
	return x.paginate("ProductVariant", entries, a)
}

func (r registry) webhooks() {
	r["WebhookSubscription"] = fields{
		"id":                  get(func(w *subscription) any { return w.gid() }),
		"legacyResourceId":    get(func(w *subscription) any { return itoa(w.ID) }),
		"topic":               get(func(w *subscription) any { return w.Topic }),
		"uri":                 get(func(w *subscription) any { return w.URI }),
		"callbackUrl":         get(func(w *subscription) any { return w.URI }),
		"name":                get(func(w *subscription) any { return textOrNull(w.Name) }),
		"format":              always("JSON"),
		"filter":              always(nil),
		"includeFields":       always([]string{}),
		"metafieldNamespaces": always([]string{}),
		"createdAt":           get(func(w *subscription) any { return w.CreatedAt }),
		"updatedAt":           get(func(w *subscription) any { return w.UpdatedAt }),
		"apiVersion":          get(func(w *subscription) any { return object{"ApiVersion", schema.Version} }),
		"endpoint":            get(func(w *subscription) any { return object{"WebhookHttpEndpoint", w} }),
	}
	r["WebhookHttpEndpoint"] = fields{"callbackUrl": get(func(w *subscription) any { return w.URI })}
	r["ApiVersion"] = fields{
		"handle": get(func(v string) any { return v }), "displayName": get(func(v string) any { return v }), "supported": always(true),
	}
}
