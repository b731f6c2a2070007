package admin

import (
	"context"
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/explain"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// Explainer explains billing attempts. Failures are faults.
type Explainer interface {
	Explain(ctx context.Context, of shop.ID, line shop.Line, id billing.AttemptID) (explain.Explanation, error)
}

// explanationHandlers explain billing attempts.
type explanationHandlers struct {
	line      shop.Line
	explainer Explainer
}

func (h explanationHandlers) register(api *web.API) {
	web.Register(api, web.Operation{
		ID: "explainBillingAttempt", Method: http.MethodGet, Path: attemptsPath + "/{id}/explanation", Tag: "Billing attempts",
		Summary: "Explain a billing attempt",
		Description: "Why an order is due when it is and costs what it does, what has been sent to the platform for it and what came back, what became of it, and what the service does next and why. " +
			"Every part has values, and words: sentences for people. Nothing is changed. What the platform alone knows (price rules and discounts) is asked for while the order can still be charged, and left out when the platform does not answer.",
		Scope: access.ContractsRead, Errors: []int{http.StatusNotFound},
	}, h.explainAttempt)
}

type explainQuery struct {
	ID int64 `path:"id" minimum:"1" maximum:"9007199254740991" doc:"The billing attempt."`
}

type explanationOut struct {
	Body AttemptExplanation
}

func (h explanationHandlers) explainAttempt(ctx context.Context, in *explainQuery) (*explanationOut, error) {
	e, err := h.explainer.Explain(ctx, web.CallerOf(ctx).Shop.ID, h.line, billing.AttemptID(in.ID))
	if err != nil {
		return nil, err
	}
	return &explanationOut{NewAttemptExplanation(e)}, nil
}
