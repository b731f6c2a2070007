package admin

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/web"
)

// partnerConnection is a connection as a merchant sees it.
type partnerConnection struct {
	ID            int64          `json:"id" doc:"Number of the connection." example:"1301"`
	Partner       partnerApp     `json:"partner" doc:"The application."`
	Status        partner.State  `json:"status" enum:"PENDING,CONNECTED,REJECTED,EXPIRED,DISCONNECTED,UNINSTALLED" doc:"How far the connection has come."`
	Direction     string         `json:"direction" enum:"PARTNER,MERCHANT" doc:"Who began it."`
	Scopes        []access.Scope `json:"scopes" doc:"What the application may do; while PENDING, what it asks for." example:"[\"contracts:read\"]"`
	Requested     []access.Scope `json:"requestedScopes" doc:"Further scopes that a connected application asks for." example:"[\"billing:write\"]"`
	AwaitsYou     bool           `json:"awaitsApproval" doc:"Whether there is something to approve or to reject."`
	TokenIssued   bool           `json:"tokenIssued" doc:"Whether the application has fetched its token."`
	TokenIssuedAt *web.Instant   `json:"tokenIssuedAt" doc:"When it did, in UTC; null while it has not." format:"date-time" example:"2026-01-31T08:00:00Z"`
	RequestedBy   *string        `json:"requestedBy" doc:"Who asked for the connection; null when not known." example:"partner app Reports"`
	RequestedAt   *web.Instant   `json:"requestedAt" doc:"When it was asked for, in UTC." format:"date-time" example:"2026-01-31T08:00:00Z"`
	ExpiresAt     *web.Instant   `json:"expiresAt" doc:"Until when it can be decided, in UTC; null when no decision is pending." format:"date-time" example:"2026-01-31T08:00:00Z"`
	DecidedBy     *string        `json:"decidedBy" doc:"Who approved or rejected it; null while it is pending." example:"API key Warehouse"`
	DecidedAt     *web.Instant   `json:"decidedAt" doc:"When that was, in UTC; null while it is pending." format:"date-time" example:"2026-01-31T08:00:00Z"`
	EndedAt       *web.Instant   `json:"endedAt" doc:"When it ended, in UTC; null while it has not." format:"date-time" example:"2026-01-31T08:00:00Z"`
	EndReason     *string        `json:"endReason" doc:"Why it ended; null while it has not." example:"uninstalled"`
	CallbackError *string        `json:"callbackError" doc:"Why the last attempt to notify the application of the decision failed; null when the application was notified." example:"the application answered 500"`
	LastUsedAt    *web.Instant   `json:"lastUsedAt" doc:"When the application last called; only in a review." format:"date-time" example:"2026-01-31T08:00:00Z"`
	Calls         []partnerCalls `json:"calls" doc:"Its calls by day, the newest day first; only in a review."`
}

// partnerApp is an application as a merchant sees it.
type partnerApp struct {
	ID          string  `json:"id" doc:"Id of the application." example:"reports"`
	Name        string  `json:"name" doc:"Name of the application." example:"Reports"`
	Address     string  `json:"address" format:"uri" doc:"Where the application lives." example:"https://reports.example.com"`
	Description *string `json:"description" doc:"What it says of itself." example:"Reports on renewals"`
	Status      string  `json:"status" enum:"LIVE,SUSPENDED" doc:"A suspended application is not served."`
}

// partnerCalls are the calls of a day.
type partnerCalls struct {
	Day    string `json:"day" format:"date" doc:"The day, in UTC." example:"2026-11-21"`
	Calls  int    `json:"calls" doc:"Calls that the application made." example:"120"`
	Errors int    `json:"errors" doc:"Those that were answered with an error." example:"2"`
}

func newPartnerConnection(v partner.View, now time.Time) partnerConnection {
	c := partnerConnection{
		ID: int64(v.ID), Status: v.State, Direction: string(v.Direction), Scopes: v.Scopes, Requested: v.Wanted, AwaitsYou: v.Awaits(now),
		Partner:     partnerApp{string(v.App.ID), v.App.Name, v.App.BaseURL, web.Some(v.App.About), string(v.App.Status)},
		TokenIssued: v.Token != 0, TokenIssuedAt: web.At(v.TokenAt), RequestedBy: web.Some(v.RequestedBy), RequestedAt: web.At(v.RequestedAt), ExpiresAt: web.At(v.ExpiresAt),
		DecidedBy: web.Some(v.DecidedBy), DecidedAt: web.At(v.DecidedAt), EndedAt: web.At(v.EndedAt), EndReason: web.Some(v.EndReason),
		CallbackError: web.Some(v.Failure), Calls: make([]partnerCalls, len(v.Calls)),
	}
	if c.Requested == nil {
		c.Requested = []access.Scope{}
	}
	for i, day := range v.Calls {
		c.Calls[i] = partnerCalls{day.Day.Format("2006-01-02"), day.Count, day.Errors}
	}
	if len(v.Calls) > 0 {
		c.LastUsedAt = web.At(v.Calls[0].LastAt)
	}
	return c
}
