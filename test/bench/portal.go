package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
)

// What the portal is measured with.
const (
	goalScreen      = 100 * time.Millisecond
	goalScreenBytes = 30 << 10
)

// subscriber is a customer who is signed in at the portal, on the service's address.
type subscriber struct {
	contract contract.Contract
	cookie   string
}

// screens measures what the server takes to answer with screens of the portal of a large store. Each
// request is another customer's.
func (s settings) screens(ctx context.Context, a *app.App, of shop.ID, kind string, now *clock.Manual) error {
	var signedIn []subscriber
	for n := range pageRuns + 5 {
		c := storedContract(1, (n*7919)%s.dashboard)
		cookie, err := enterPortal(ctx, a, of, c.Customer.ID)
		if err != nil {
			return err
		}
		signedIn = append(signedIn, subscriber{c, cookie})
	}
	base := portal.Path + "stored-1"
	for _, p := range []struct {
		name string
		path func(contract.Contract) string
	}{
		{"home", func(contract.Contract) string { return "" }},
		{"subscription", func(c contract.Contract) string { return fmt.Sprintf("/s/%d", c.ID) }},
	} {
		v := visitor{handler: a.Subscriptions}
		p50, p99, bytes, err := v.ask(pageRuns, func(n int) *http.Request {
			who := signedIn[n]
			req := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:1"+base+p.path(who.contract), http.NoBody)
			req.Header.Set("Cookie", who.cookie)
			return req
		})
		if err != nil {
			return fmt.Errorf("%s of the portal: %w", p.name, err)
		}
		s.print("portal db=%s contracts=%d screen=%s p50_ms=%.2f p99_ms=%.2f goal=%.0f bytes=%d bytes_goal=%d",
			kind, s.dashboard, p.name, ms(p50), ms(p99), ms(goalScreen), bytes, goalScreenBytes)
		now.Set(now.Now().Add(2 * time.Minute))
	}
	return nil
}

// enterPortal signs a customer in with a link and returns their cookie.
func enterPortal(ctx context.Context, a *app.App, of shop.ID, customer int64) (string, error) {
	link, err := a.Login.NewLink(ctx, of, login.CustomerRef{Customer: customer})
	if err != nil {
		return "", err
	}
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:1"+strings.TrimPrefix(link.Value, strings.TrimSuffix(a.Login.PublicURL, "/")), http.NoBody)
	w := httptest.NewRecorder()
	a.Subscriptions.ServeHTTP(w, req)
	cookie := ""
	for _, c := range w.Result().Cookies() { //nolint:bodyclose // of a recorder
		cookie += c.Name + "=" + c.Value + "; "
	}
	if cookie == "" {
		return "", fmt.Errorf("signing in at the portal is answered with HTTP status %d: %.300s", w.Code, w.Body)
	}
	return cookie, nil
}
