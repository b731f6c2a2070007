package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/web"
)

// settingsIn names a store; beside it stand settings under their own names.
type settingsIn struct {
	Shop string `json:"shop"`
}

// setSettings changes settings of a store. Those that the body does not name stay.
func (s *Sandbox) setSettings(r *http.Request) (shop.Settings, error) {
	var text json.RawMessage
	if err := body(r, &text); err != nil {
		return shop.Settings{}, err
	}
	in := settingsIn{Shop: demo.Main}
	if err := web.DecodeJSON(text, &in); err != nil {
		return shop.Settings{}, err
	}
	i, err := s.asked(r)
	if err != nil {
		return shop.Settings{}, err
	}
	changed, err := i.front.running().ChangeSettings(r.Context(), in.Shop, activity.Operator, func(settings *shop.Settings) error {
		settings.Dunning = settings.Dunning.Effective()
		return web.DecodeJSON(text, settings)
	})
	changed.Dunning = changed.Dunning.Effective()
	return changed, err
}

// portalIn is settings of a portal. The secret is write-only.
type portalIn struct {
	*portal.Settings

	AccountSecret *string `json:"accountClientSecret"`
}

// setPortal changes settings of a store's portal. Those that the body does not name stay.
func (s *Sandbox) setPortal(r *http.Request) (portal.Settings, error) {
	var text json.RawMessage
	if err := body(r, &text); err != nil {
		return portal.Settings{}, err
	}
	in := settingsIn{Shop: demo.Main}
	if err := web.DecodeJSON(text, &in); err != nil {
		return portal.Settings{}, err
	}
	a := s.front.running()
	id, err := a.Store.Shops().IDOf(r.Context(), in.Shop)
	if err != nil {
		return portal.Settings{}, err
	}
	return a.Portal.ChangeSettings(r.Context(), id, activity.Operator, func(settings *portal.Settings) error {
		in := portalIn{Settings: settings}
		err := web.DecodeJSON(text, &in)
		if in.AccountSecret != nil {
			settings.AccountSecret = platform.Token(*in.AccountSecret)
		}
		return err
	})
}

// solvedView is how many orders are charged again.
type solvedView struct {
	Orders int `json:"orders"`
}

// solved says that a store can take payments again, as its staff would.
func (s *Sandbox) solved(r *http.Request) (solvedView, error) {
	n, err := s.front.running().ReleaseHeld(r.Context(), cmp.Or(r.URL.Query().Get("shop"), demo.Main), activity.Operator)
	return solvedView{n}, err
}

// partnerIn is an application to be registered.
type partnerIn struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	BaseURL string   `json:"baseUrl"`
	Scopes  []string `json:"scopes"`
}

// partnerView is an application with its secrets.
type partnerView struct {
	ID      access.AppID   `json:"id"`
	Status  partner.Status `json:"status"`
	Secret  string         `json:"secret,omitempty"`
	AppKey  string         `json:"appKey,omitempty"`
	Signing string         `json:"signingSecret,omitempty"`
}

func (s *Sandbox) addPartner(r *http.Request) (partnerView, error) {
	var in partnerIn
	if err := body(r, &in); err != nil {
		return partnerView{}, err
	}
	scopes, err := access.ParseScopes(in.Scopes)
	if err != nil {
		return partnerView{}, err
	}
	made, secrets, err := s.front.running().Partner.Add(r.Context(), partner.App{ID: access.AppID(in.ID), Name: in.Name, BaseURL: in.BaseURL, Scopes: scopes})
	return partnerView{made.ID, made.Status, secrets.Secret, secrets.AppKey, secrets.Signing}, err
}

// partnerStatusIn says whether an application is served.
type partnerStatusIn struct {
	Status partner.Status `json:"status"`
}

func (s *Sandbox) setPartner(r *http.Request) (partnerView, error) {
	var in partnerStatusIn
	if err := body(r, &in); err != nil {
		return partnerView{}, err
	}
	to, err := web.ParseEnum("status", string(in.Status), []partner.Status{partner.Live, partner.Suspended})
	if err != nil {
		return partnerView{}, err
	}
	made, err := s.front.running().Partner.SetStatus(r.Context(), access.AppID(r.PathValue("id")), to)
	return partnerView{ID: made.ID, Status: made.Status}, err
}

// unfreezeIn names the store and the reason.
type unfreezeIn struct {
	Shop   string `json:"shop"`
	Reason string `json:"reason"`
}

// unfreezeView says whether a store is frozen now.
type unfreezeView struct {
	Frozen bool `json:"frozen"`
}

func (s *Sandbox) unfreeze(r *http.Request) (unfreezeView, error) {
	in := unfreezeIn{Shop: demo.Main}
	if err := body(r, &in); err != nil {
		return unfreezeView{}, err
	}
	a := s.front.running()
	id, err := a.Store.Shops().IDOf(r.Context(), in.Shop)
	if err != nil {
		return unfreezeView{}, err
	}
	return unfreezeView{}, a.Repair.Unfreeze(r.Context(), id, in.Reason, activity.Operator)
}

// stuck lists what a person has to look at.
func (s *Sandbox) stuck(r *http.Request) (repair.Stuck, error) {
	a, id, err := s.shopAsked(r)
	if err != nil {
		return repair.Stuck{}, err
	}
	return a.Repair.Stuck(r.Context(), id)
}

// retryIn names a charge without an end.
type retryIn struct {
	Shop    string            `json:"shop"`
	Attempt billing.AttemptID `json:"attemptId"`
}

func (s *Sandbox) retry(r *http.Request) (retryIn, error) {
	in := retryIn{Shop: demo.Main}
	if err := body(r, &in); err != nil {
		return in, err
	}
	a := s.front.running()
	id, err := a.Store.Shops().IDOf(r.Context(), in.Shop)
	if err != nil {
		return in, err
	}
	return in, a.Repair.Retry(r.Context(), id, in.Attempt, activity.Operator)
}
