package roomtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/partners"
)

// willingApp is an application that confirms all it is asked.
type willingApp struct{}

func (willingApp) Post(_ context.Context, _ partner.App, _ string, m partner.Message) ([]byte, error) {
	var ask struct {
		Nonce string `json:"nonce"`
	}
	if err := json.Unmarshal(m.Body, &ask); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"nonce": ask.Nonce, "ok": true})
}

type partnersSite struct {
	*dashboardtest.Site
	partners *partner.Service
	app      partner.App
}

const partnersPath = dashboardtest.At + "/partners"

func openPartners(t *testing.T, name string) partnersSite {
	t.Helper()
	var service *partner.Service
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		service = &partner.Service{Store: s.DB.Partners(), Caller: willingApp{}, Clock: s.Clock, Log: slog.New(slog.DiscardHandler)}
		o.Rooms = append(o.Rooms, partners.New(partners.Options{Partners: service, Clock: s.Clock}))
	})
	s.SignIn(dashboardtest.Owner)
	app, _, err := service.Add(t.Context(), partner.App{
		ID: "reports", Name: name, BaseURL: "https://reports.example", Scopes: []access.Scope{access.ContractsRead, access.BillingWrite, access.PortalLink},
	})
	if err != nil {
		t.Fatal(err)
	}
	return partnersSite{s, service, app}
}

// asks has the application ask a store for permissions.
func (s partnersSite) asks(of shop.Shop, scopes ...access.Scope) partner.Connection {
	s.Helper()
	c, err := s.partners.Connect(s.Context(), s.app, partner.ConnectCommand{Domain: of.Domain, Nonce: "12345678", Scopes: scopes, ReturnURL: "https://reports.example/done"})
	if err != nil {
		s.Fatal(err)
	}
	return c
}

func TestRequestIsApprovedReducedAndDisconnected(t *testing.T) {
	t.Parallel()
	s := openPartners(t, "Reports")
	s.Want(s.Get(partnersPath), http.StatusOK, "No application asks for access", "Available", "Needs: Read contracts, change orders, make portal links.")
	c := s.asks(s.First, access.ContractsRead, access.PortalLink)
	s.Want(s.Get(partnersPath), http.StatusOK, "Asks to: Read contracts, make portal links.", "expires 2 Dec 2026, 12:00 UTC")
	one := fmt.Sprintf("%s/%d", partnersPath, c.ID)
	s.Want(s.Get(one+"/approve"), http.StatusOK, "Approve “Reports”", "Read contracts, make portal links", "you can decide until 2 Dec 2026, 12:00 UTC")
	s.Want(s.Post(one+"/approve"), http.StatusOK, "The application was approved", "https://reports.example/done", "ana@staff.example", "Take away what is not ticked")

	s.Want(s.Post(one+"/permissions"), http.StatusUnprocessableEntity, "to take all away, disconnect")
	s.Want(s.Post(one+"/permissions", "scope", "billing:write"), http.StatusUnprocessableEntity, "can only be taken away")
	s.Want(s.Post(one+"/permissions", "scope", "contracts:read"), http.StatusOK, "The permissions were taken away")

	s.asks(s.First, access.ContractsRead, access.BillingWrite)
	s.Want(s.Get(partnersPath), http.StatusOK, "Asks to: Change orders.")
	s.Want(s.Get(one+"/reject"), http.StatusOK, "keeps what it has")
	s.Want(s.Post(one+"/reject"), http.StatusOK, "The request was rejected", "Connected")

	s.Want(s.Get(one+"/disconnect"), http.StatusOK, "Its token opens nothing from now on")
	s.Want(s.Post(one+"/disconnect"), http.StatusOK, "The application was disconnected", "by the merchant")
	s.Want(s.Get(partnersPath), http.StatusOK, "No application is connected", "Available", "Disconnected")
	s.Want(s.Get(one+"/approve"), http.StatusOK, "Disconnected")
	s.Want(s.Post(one+"/approve"), http.StatusUnprocessableEntity, "The connection is DISCONNECTED")
}

func TestApplicationIsConnectedByTheMerchant(t *testing.T) {
	t.Parallel()
	s := openPartners(t, "Reports")
	s.Want(s.Get(partnersPath+"/apps/reports/connect"), http.StatusOK, "The application may: Read contracts, change orders, make portal links.")
	s.Want(s.Post(partnersPath+"/apps/reports/connect"), http.StatusOK, "The application is connected")
	s.Want(s.Get(partnersPath+"/apps/nothing/connect"), http.StatusNotFound)
	if _, err := s.partners.SetStatus(t.Context(), "reports", partner.Suspended); err != nil {
		t.Fatal(err)
	}
	s.Want(s.Get(partnersPath), http.StatusOK, "Suspended")
	s.Want(s.Post(partnersPath+"/apps/reports/connect"), http.StatusNotFound)
}

func TestRequestThatExpiredIsNotOffered(t *testing.T) {
	t.Parallel()
	s := openPartners(t, "Reports")
	c := s.asks(s.First, access.ContractsRead)
	s.Clock.Set(s.Clock.Now().Add(partner.DecideWithin + time.Second))
	s.SignIn(dashboardtest.Owner)
	s.Want(s.Get(partnersPath), http.StatusOK, "No application asks for access", "Expired")
	s.Want(s.Post(fmt.Sprintf("%s/%d/approve", partnersPath, c.ID)), http.StatusUnprocessableEntity, "The connection is EXPIRED")
}

func TestConnectionsOfAnotherStoreAndRoleAreRefused(t *testing.T) {
	t.Parallel()
	s := openPartners(t, "Reports")
	c := s.asks(s.Second, access.ContractsRead, access.PortalLink)
	one := fmt.Sprintf("%s/%d", partnersPath, c.ID)
	for _, path := range []string{one, one + "/approve", one + "/reject", one + "/disconnect", partnersPath + "/x"} {
		s.Want(s.Get(path), http.StatusNotFound)
	}
	for _, action := range []string{"approve", "reject", "disconnect", "permissions"} {
		s.Want(s.Post(one+"/"+action, "scope", "contracts:read"), http.StatusNotFound)
	}
	s.Add("sam@staff.example", staff.Support)
	s.SignIn("sam@staff.example")
	s.Want(s.Get(partnersPath), http.StatusForbidden)
	s.Want(s.Post(one+"/approve"), http.StatusForbidden)
}

func TestNameOfApplicationIsShownAsText(t *testing.T) {
	t.Parallel()
	s := openPartners(t, "<script>alert(1)</script>{{7*7}}")
	c := s.asks(s.First, access.ContractsRead)
	for _, path := range []string{partnersPath, fmt.Sprintf("%s/%d", partnersPath, c.ID), fmt.Sprintf("%s/%d/approve", partnersPath, c.ID)} {
		p := s.Get(path)
		s.Want(p, http.StatusOK, html.EscapeString("<script>alert(1)</script>")+"{{7*7}}")
		if strings.Contains(p.Text, "<script>alert") {
			t.Errorf("%s has the name as a script", path)
		}
	}
}
