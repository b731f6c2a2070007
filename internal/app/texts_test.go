package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/web"
)

func TestCustomersReadTextOfMerchantInTheirLanguage(t *testing.T) {
	t.Parallel()
	l := live(t)
	other := shop.Shop{Domain: "other.myshopify.com", Token: "shpat_other", TimeZone: "UTC", Currency: "EUR", Connected: true, CreatedAt: l.clock.Now()}
	l.must(l.app.Store.Shops().AddShop(t.Context(), &other))
	pages, err := l.app.portal(web.Frame{Log: slog.New(slog.DiscardHandler)})
	l.must(err)
	shows := func(store, query, accepts, want string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "/p/"+store+"/signin"+query, http.NoBody)
		r.Header.Set("Accept-Language", accepts)
		w := httptest.NewRecorder()
		pages.Own.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), ">"+want+"</h1>") {
			t.Errorf("%s%s for %q answers %d without %q:\n%s", store, query, accepts, w.Code, want, w.Body)
		}
	}
	save := func(was, now string) {
		l.must(l.app.Wording.Save(t.Context(), l.of.ID, wording.Draft{Language: "de", Key: "signin.title", Was: wording.Forms{"": was}, Now: wording.Forms{"": now}}, activity.Operator))
	}
	shows("demo", "", "", "See your subscriptions")
	shows("demo", "", "de-CH,de;q=0.9,en;q=0.8", "Ihre Abonnements ansehen")
	shows("demo", "?locale=fr", "de", "Voir vos abonnements")

	save("", "Ihr <b>Tee</b>")
	shows("demo", "", "de-CH", "Ihre Abonnements ansehen") // for half a minute
	l.clock.Set(l.clock.Now().Add(31 * time.Second))
	shows("demo", "", "de-CH", "Ihr &lt;b&gt;Tee&lt;/b&gt;")
	shows("demo", "?locale=de", "", "Ihr &lt;b&gt;Tee&lt;/b&gt;")
	shows("demo", "?locale=nl", "", "Je abonnementen bekijken")
	shows("other", "", "de", "Ihre Abonnements ansehen")

	save("Ihr <b>Tee</b>", "")
	l.clock.Set(l.clock.Now().Add(31 * time.Second))
	shows("demo", "", "de", "Ihre Abonnements ansehen")
}
