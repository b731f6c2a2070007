package sandbox

import (
	"context"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
)

// shopIn is a store to be installed.
type shopIn struct {
	Domain   string         `json:"domain"`
	TimeZone string         `json:"ianaTimeZone"`
	Currency money.Currency `json:"currencyCode"`
	Hour     int            `json:"localOrderHour"`
	Minute   int            `json:"localOrderMinute"`
}

// shopView opens a store.
type shopView struct {
	Shop   string `json:"shop"`
	APIKey string `json:"apiKey"`
}

// connectTries is how often a connection is tried while faults are on.
const connectTries = 20

// install makes another store that uses the service. It sells what the demo
// store sells, priced in its own currency.
func (s *Sandbox) install(r *http.Request) (shopView, error) {
	var in shopIn
	if err := body(r, &in); err != nil {
		return shopView{}, err
	}
	if in.Domain == "" {
		return shopView{}, fault.New(fault.Invalid, "domain is required, such as third.myshopify.com").Code("fieldMissing").Field("domain")
	}
	var err error
	if in.Currency, err = inCapitals(in.Currency); err != nil {
		return shopView{}, err
	}
	if in.Hour < 0 || in.Hour > 23 || in.Minute < 0 || in.Minute > 59 {
		return shopView{}, fault.New(fault.Invalid, "%d:%02d is not a time of day", in.Hour, in.Minute).Field("localOrderHour")
	}
	ctx := r.Context()
	made := shopView{Shop: in.Domain}
	err = s.steps.alone(ctx, func() error {
		err := s.installAlone(ctx, in)
		made.APIKey = s.own.Keys[in.Domain]
		return err
	})
	return made, err
}

// changeShop changes what a store says of itself at the platform, and answers with what
// it says then.
func (s *Sandbox) changeShop(r *http.Request) (simulator.Shop, error) {
	var to simulator.Shop
	err := body(r, &to)
	if err != nil {
		return to, err
	}
	to.Domain = r.PathValue("domain")
	if to.Currency, err = inCapitals(to.Currency); err != nil {
		return to, err
	}
	is, err := s.sim.ChangeShop(to)
	if err != nil {
		return to, err
	}
	return is, s.steps.Settle(r.Context())
}

// uninstalled names a store that has removed the app.
type uninstalled struct {
	Shop string `json:"shop"`
}

// uninstall removes the app of an instance from a store: the platform refuses its token from now on.
func (s *Sandbox) uninstall(r *http.Request) (uninstalled, error) {
	shop := uninstalled{r.PathValue("domain")}
	i, err := s.asked(r)
	if err != nil {
		return uninstalled{}, err
	}
	if err := s.sim.UninstallApp(shop.Shop, i.client); err != nil {
		return uninstalled{}, err
	}
	return shop, s.steps.Settle(r.Context())
}

// inCapitals returns a currency's code as it is written elsewhere. What is not three
// letters is Invalid; none at all stays.
func inCapitals(code money.Currency) (money.Currency, error) {
	upper := strings.ToUpper(string(code))
	if code != "" && (len(upper) != 3 || strings.Trim(upper, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		return "", fault.New(fault.Invalid, "%q is not a currency code", code).Field("currencyCode")
	}
	return money.Currency(upper), nil
}

func (s *Sandbox) installAlone(ctx context.Context, in shopIn) error {
	_, err := s.front.running().Store.Shops().ShopByDomain(ctx, in.Domain)
	if err == nil {
		return fault.New(fault.FailedPrecondition, "%s is installed already", in.Domain).Code("shopExists").Field("domain")
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	token := s.own.token(in.Domain)
	if err := s.keepSecrets(); err != nil {
		return err
	}
	// A store that only the platform knows is one whose installation was
	// interrupted.
	if _, err := s.sim.Variants(in.Domain); fault.Is(err, fault.NotFound) {
		if err := s.sim.AddShop(simulator.ShopSpec{Domain: in.Domain, Token: string(token), TimeZone: in.TimeZone, Currency: in.Currency}); err != nil {
			return err
		}
	}
	if on, err := s.sim.Variants(in.Domain); err != nil || len(on) == 0 {
		if err := demo.Stock(s.sim, in.Domain, in.Currency); err != nil {
			return err
		}
	}
	for try := 1; ; try++ {
		err := s.connect(ctx, in.Domain, in.Hour, in.Minute)
		if err == nil || try == connectTries || fault.Is(err, fault.Invalid) {
			return settled(err, func() error { return s.steps.settle(ctx) })
		}
	}
}

// settled waits for rest after a change that succeeded.
func settled(err error, rest func() error) error {
	if err != nil {
		return err
	}
	return rest()
}
