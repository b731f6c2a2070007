package store

import (
	"math"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/delivery"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/archive"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/savedview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/platform"
)

const mappedShop = 7

func TestMappingKeepsEveryField(t *testing.T) {
	t.Parallel()
	key, err := newSealer([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	mapsBack[attemptRow](t, key, func(*billing.Attempt) {})
	mapsBack[annotationRow](t, key, func(*billing.Annotation) {})
	mapsBack[bulkItemRow](t, key, func(*bulk.Item) {})
	mapsBack[bulkJobRow](t, key, func(j *bulk.Job) {
		j.By = activity.Actor{Source: activity.MerchantPortalBulkAutomation, By: j.By.By, ClientIP: j.By.ClientIP}
	})
	mapsBack[moveRow](t, key, func(m *moving.Move) {
		m.By = activity.Actor{Source: activity.MerchantPortal, By: m.By.By, ClientIP: m.By.ClientIP}
		m.Peer.Rate = math.Round(m.Peer.Rate*1000) / 1000
	})
	mapsBack[moveItemRow](t, key, func(*moving.Item) {})
	mapsBack[movePartRow](t, key, func(*moving.Part) {})
	mapsBack[comparedRow](t, key, func(c *moving.Compared) { c.Charged.Currency = c.Planned.Currency })
	mapsBack[commentRow](t, key, func(*support.Comment) {})
	mapsBack[savedViewRow](t, key, func(*savedview.View) {})
	mapsBack[bundleRow](t, key, func(*bundle.Settings) {})
	mapsBack[callsRow](t, key, func(*partner.Calls) {})
	mapsBack[connectionRow](t, key, func(c *partner.Connection) { c.Shop = mappedShop })
	mapsBack[appRow](t, key, func(*partner.App) {})
	mapsBack[contractRow](t, key, func(c *contract.Contract) {
		for _, pricing := range []map[string]contract.Pricing{c.Pricing, c.PlanPricing} {
			for line := range pricing {
				for i := range pricing[line].Cycles {
					pricing[line].Cycles[i].Kind = platform.AmountOff // others have no amount
				}
			}
		}
	})
	mapsBack[accountSignInRow](t, key, func(*login.AccountSignIn) {})
	mapsBack[creditRow](t, key, func(*loyalty.Credit) {})
	mapsBack[deliveryRow](t, key, func(*delivery.Profile) {})
	mapsBack[endpointRow](t, key, func(e *webhook.Endpoint) { e.Shop = mappedShop })
	mapsBack[entryRow](t, key, func(e *activity.Entry) { e.Actor.Customer, e.Actor.Job, e.Actor.CancelSession = 0, 0, 0 })
	mapsBack[findingRow](t, key, func(*repair.Finding) {})
	mapsBack[keyRow](t, key, func(k *access.Key) { k.Shop, k.AppSuspended = mappedShop, false })
	mapsBack[linkRow](t, key, func(*login.Link) {})
	mapsBack[importRow](t, key, func(*archive.Step) {})
	mapsBack[lotRow](t, key, func(*loyalty.Lot) {})
	mapsBack[memberRow](t, key, func(*loyalty.Account) {})
	mapsBack[mailTemplateRow](t, key, func(*mailtemplate.Template) {})
	mapsBack[suppressionRow](t, key, func(*notify.Suppression) {})
	mapsBack[messageRow](t, key, func(m *notify.Message) {
		m.Actor.Customer, m.Actor.Job, m.Actor.CancelSession, m.Actor.Request = 0, 0, 0, ""
	})
	mapsBack[oneOffRow](t, key, func(o *billing.OneOff) { // the rest is of use only before it is stored
		o.Variant.Vendor, o.Variant.ProductType, o.Variant.Available, o.Variant.RequiresShipping, o.Variant.OnlyOnPlans = "", "", false, false, false
	})
	mapsBack[planGroupRow](t, key, func(g *plan.Group) { g.Options, g.Products, g.Variants = nil, nil, nil }) // they have tables of their own
	mapsBack[planOptionRow](t, key, func(*plan.Option) {})
	mapsBack[pointRow](t, key, func(*loyalty.Entry) {})
	mapsBack[programRow](t, key, func(*loyalty.Program) {})
	mapsBack[requestRow](t, key, func(*requestlog.Entry) {})
	mapsBack[rewardRow](t, key, func(*loyalty.Reward) {})
	mapsBack[sessionRow](t, key, func(s *login.Session) { s.Language = "" })
	mapsBack[invitationRow](t, key, func(*staff.Invitation) {})
	mapsBack[platformConnectionRow](t, key, func(*connection.Connection) {})
	mapsBack[privacyRow](t, key, func(*privacy.Request) {})
	mapsBack[resetRow](t, key, func(*staff.Reset) {})
	mapsBack[staffRow](t, key, func(*staff.Member) {})
	mapsBack[syncRow](t, key, func(*intake.Sync) {})
	mapsBack[unreadRow](t, key, func(*contract.Unread) {})
	mapsBack[userRow](t, key, func(*staff.User) {})
	mapsBack[userSessionRow](t, key, func(*staff.Session) {})
	mapsBack[shopRow](t, key, func(s *shop.Shop) { s.ID, s.Catalogue, s.SMS = mappedShop, 0, false }) // a trigger counts changes of the catalogue
	mapsBack[swapRow](t, key, func(*swap.Rule) {})
	mapsBack[portalLogoRow](t, key, func(p *design.Picture) { p.Width, p.Height = 0, 0 })
	mapsBack[smsConsentRow](t, key, func(*optin.Consent) {})
	mapsBack[useRow](t, key, func(*loyalty.Use) {})
	mapsBack[feedRow](t, key, func(*webhook.Feed) {})
	mapsBack[webhookRow](t, key, func(m *webhook.Message) { m.Shop = mappedShop })
	mapsBack[webhookDeliveryRow](t, key, func(d *webhook.Delivery) { d.Shop = mappedShop })
}

// mapsBack checks that a value with a number, text or instant in each field comes back from
// its row as it was. Adjust sets the fields that a row does not choose.
func mapsBack[R, V any, P mapped[R, V]](t *testing.T, key sealer, adjust func(*V)) {
	t.Helper()
	var v V
	fill(reflect.ValueOf(&v).Elem(), new(int))
	adjust(&v)
	of := shop.ID(mappedShop)
	switch any(v).(type) {
	case partner.App, staff.User: // they belong to no shop
		of = 0
	}
	row, err := sealedRowOf[R, V, P](key, of, v)
	if err != nil {
		t.Errorf("%T: %v", row, err)
		return
	}
	back, err := readSealedRow[V, R, P](key, row)
	if err != nil {
		t.Errorf("%T: %v", row, err)
		return
	}
	if diff := cmp.Diff(v, back, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("%T: (-written +read)\n%s", row, diff)
	}
}

// fill gives every exported field below v a value that is not zero, and differs from its neighbours'.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMilli(int64(*n) * 1_000_000).UTC()))
		return
	case time.Duration:
		v.Set(reflect.ValueOf(time.Duration(*n) * time.Millisecond))
		return
	case money.Currency:
		v.SetString("EUR")
		return
	case cadence.Interval:
		v.Set(reflect.ValueOf(cadence.Month))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n % 100))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(*n % 100))
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.String:
		v.SetString("v" + strconv.Itoa(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(k, n)
		fill(e, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(k, e)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	}
}
