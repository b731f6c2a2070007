package admin

import (
	"net/http"

	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/web"
)

// base is the path under which the operations live.
const base = "/api/external/v2"

// laterToday says what becomes of a date that is today.
const laterToday = "An instant of today that is later than the order time stays as it is: nothing is charged before it. A day alone is its order time, so that today is 400 billingDatePast once that is more than 10 minutes ago."

// Tags of the operations that change contracts.
const (
	contractLines     = "Contract lines"
	contractDiscounts = "Contract discounts"
	contractDelivery  = "Contract delivery and payment"
	contractTerms     = "Contract terms"
	contractLifecycle = "Contract lifecycle"
)

// amendment describes an operation that changes a contract.
func amendment(tag, id, path, summary, description string) web.Operation {
	return web.Operation{
		ID: id, Method: http.MethodPut, Path: base + path, Summary: summary, Description: description, Tag: tag,
		Scope: access.ContractsWrite, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}
}

// once is an operation that does more when it is done again.
func once(op web.Operation) web.Operation {
	op.Once = true
	return op
}

// withBody is an amendment with a JSON body.
func withBody(body any, op web.Operation) web.Operation {
	op.Body = body
	return op
}
