package sandbox

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/confirm"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// shopAsked returns the service and the id of the store that a request names in its query.
func (s *Sandbox) shopAsked(r *http.Request) (*app.App, shop.ID, error) {
	i, err := s.asked(r)
	if err != nil {
		return nil, 0, err
	}
	a := i.front.running()
	id, err := a.Store.Shops().IDOf(r.Context(), cmp.Or(r.URL.Query().Get("shop"), demo.Main))
	return a, id, err
}

// consentView is what of a store will be charged, and whether that is confirmed.
type consentView struct {
	Confirmed bool         `json:"confirmed"`
	Orders    int          `json:"ordersInNext7Days"`
	Overdue   int          `json:"overdueOrders"`
	Totals    []totalView  `json:"totals"`
	First     []chargeView `json:"firstOrders"`
}

type totalView struct {
	Orders   int    `json:"orders"`
	Amount   string `json:"amount"`
	Currency string `json:"currencyCode"`
}

type chargeView struct {
	Contract int64     `json:"contractId"`
	Date     time.Time `json:"date"`
	Amount   string    `json:"amount"`
	Currency string    `json:"currencyCode"`
}

// consent shows what of a store will be charged.
func (s *Sandbox) consent(r *http.Request) (consentView, error) {
	service, of, err := s.shopAsked(r)
	if err != nil {
		return consentView{}, err
	}
	p, err := service.Confirm.Preview(r.Context(), of)
	if err != nil {
		return consentView{}, err
	}
	return consentViewOf(p), nil
}

func consentViewOf(p confirm.Preview) consentView {
	v := consentView{Confirmed: p.Awaits.IsZero(), Orders: p.Orders(), Overdue: p.Overdue, Totals: []totalView{}, First: []chargeView{}}
	for _, t := range p.Totals {
		v.Totals = append(v.Totals, totalView{t.Orders, t.Amount.String(), string(t.Amount.Currency)})
	}
	for _, o := range p.First {
		v.First = append(v.First, chargeView{int64(o.Contract), o.Date, o.Amount.String(), string(o.Amount.Currency)})
	}
	return v
}

// confirm has the orders of a store charged, as its merchant would.
func (s *Sandbox) confirm(r *http.Request) (consentView, error) {
	service, of, err := s.shopAsked(r)
	if err != nil {
		return consentView{}, err
	}
	if _, err := service.Confirm.ConfirmUnseen(r.Context(), of, activity.Actor{Source: activity.MerchantPortal, By: "merchant"}); err != nil {
		return consentView{}, err
	}
	if err := s.steps.Settle(r.Context()); err != nil {
		return consentView{}, err
	}
	return s.consent(r)
}

// reinstall puts the app back into a store that removed it.
func (s *Sandbox) reinstall(r *http.Request) (uninstalled, error) {
	named := uninstalled{r.PathValue("domain")}
	err := s.steps.alone(r.Context(), func() error {
		err := s.reinstallAlone(r.Context(), named.Shop)
		return settled(err, func() error { return s.steps.settle(r.Context()) })
	})
	return named, err
}

func (s *Sandbox) reinstallAlone(ctx context.Context, domain string) error {
	store, err := s.front.running().Store.Shops().ShopByDomain(ctx, domain)
	if err != nil {
		return err
	}
	token := platform.Token(random("shpat_"))
	if err := s.sim.Install(domain, string(token)); err != nil {
		return err
	}
	s.own.Tokens[domain] = token
	if err := s.keepSecrets(); err != nil {
		return err
	}
	_, err = s.front.running().Intake.Connect(ctx, platform.Shop{Domain: domain, Token: token}, store.OrderHour, store.OrderMinute, store.Settings)
	return err
}

// privacyView is a request for personal data.
type privacyView struct {
	ID         privacy.ID   `json:"id"`
	Kind       privacy.Kind `json:"kind"`
	Customer   int64        `json:"customerId"`
	DueBy      time.Time    `json:"dueBy"`
	Records    int          `json:"records"`
	Available  bool         `json:"available"`
	Open       bool         `json:"open"`
	Reminded   bool         `json:"reminded"`
	Overdue    bool         `json:"overdue"`
	Downloaded bool         `json:"downloaded"`
}

// privacyRequests lists a store's requests for personal data.
func (s *Sandbox) privacyRequests(r *http.Request) ([]privacyView, error) {
	service, of, err := s.shopAsked(r)
	if err != nil {
		return nil, err
	}
	list, err := service.Privacy.List(r.Context(), of)
	views := make([]privacyView, len(list))
	for i, p := range list {
		views[i] = privacyView{
			ID: p.ID, Kind: p.Kind, Customer: p.Customer, DueBy: p.DueBy, Records: p.Records, Available: p.Available(), Open: p.Open(), Overdue: p.Overdue(s.clock.Now()),
			Reminded: !p.RemindedAt.IsZero(), Downloaded: !p.DownloadedAt.IsZero(),
		}
	}
	return views, err
}

// archiveView is an export as a file.
type archiveView struct {
	Name string `json:"name"`
	Zip  []byte `json:"zip"` // base64
}

// downloadExport downloads an export, as the store's merchant would.
func (s *Sandbox) downloadExport(r *http.Request) (archiveView, error) {
	service, of, err := s.shopAsked(r)
	if err != nil {
		return archiveView{}, err
	}
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return archiveView{}, fault.New(fault.NotFound, "there is no request %q", r.PathValue("id"))
	}
	a, err := service.Privacy.Download(r.Context(), of, privacy.ID(id), activity.Actor{Source: activity.MerchantPortal, By: "merchant"})
	return archiveView{a.Name, a.Zip}, err
}

// syncView is how far the first sync of a store has come.
type syncView struct {
	Stage    intake.Stage `json:"stage"`
	Done     int          `json:"done"`
	Total    int          `json:"total"`
	Finished bool         `json:"finished"`
	Failure  string       `json:"failure,omitempty"`
}

// sync shows how far the first sync of a store has come.
func (s *Sandbox) sync(r *http.Request) (syncView, error) {
	service, of, err := s.shopAsked(r)
	if err != nil {
		return syncView{}, err
	}
	y, _, err := service.Intake.Progress(r.Context(), of)
	return syncView{y.Stage, y.Done, y.Total, !y.FinishedAt.IsZero(), y.Failure}, err
}

// departureView is what a merchant is shown of a store that has uninstalled the app.
type departureView struct {
	DisconnectedAt time.Time `json:"disconnectedAt,omitzero"`
	CancelsAt      time.Time `json:"cancelsAt,omitzero"`
	Contracts      int       `json:"contracts"`
}

// departure shows since when a store is disconnected, and what is to come of it.
func (s *Sandbox) departure(r *http.Request) (departureView, error) {
	service, of, err := s.shopAsked(r)
	if err != nil {
		return departureView{}, err
	}
	d, err := service.Intake.Departure(r.Context(), of)
	return departureView{d.DisconnectedAt, d.CancelsAt, d.Contracts}, err
}
